"""The operators of the variants, term by term over lists: a sequence is a list of rows, a row a list of channels.

Written from the published definitions, slowly and plainly; nothing here is shared with what it tests.
"""

import cmath
import math


def sigmoid(a):
    return 1 / (1 + math.exp(-a))


def softplus(a):
    return max(a, 0) + math.log1p(math.exp(-abs(a)))


def silu(a):
    return a * sigmoid(a)


def gelu(a):
    return 0.5 * a * (1 + math.erf(a / math.sqrt(2)))


def gelu_tanh(a):
    return 0.5 * a * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def linear(rows, weight, bias=None):
    return [[dot(w, row) + (bias[i] if bias else 0) for i, w in enumerate(weight)] for row in rows]


def softmax(row):
    top = max(row)
    e = [math.exp(a - top) for a in row]
    return [a / math.fsum(e) for a in e]


def columns(rows):
    return [list(column) for column in zip(*rows)]


def convolved(u, h):
    """Σ_s h[s] u[t - s] of one channel."""
    return [math.fsum(h[s] * u[t - s] for s in range(min(t + 1, len(h)))) for t in range(len(u))]


def short_conv(rows, weight, bias=None):
    """The last tap is lag 0; weight is a list of taps a channel."""
    mixed = [convolved(u, w[::-1]) for u, w in zip(columns(rows), weight)]
    return [[a + (bias[c] if bias else 0) for c, a in enumerate(row)] for row in columns(mixed)]


def long_conv(rows, filters, skip=None):
    """filters: a list of taps a channel."""
    mixed = [[a + (skip[c] * x if skip else 0) for a, x in zip(convolved(u, h), u)] for c, (u, h) in enumerate(zip(columns(rows), filters))]
    return columns(mixed)


def multiply(a, b):
    return [[x * y for x, y in zip(p, q)] for p, q in zip(a, b)]


def each(function, rows):
    return [[function(a) for a in row] for row in rows]


def rmsnorm(rows, weight=None, eps=1e-5):
    result = []
    for row in rows:
        r = 1 / math.sqrt(dot(row, row) / len(row) + eps)
        result.append([a * r * (weight[i] if weight else 1) for i, a in enumerate(row)])
    return result


def layernorm(rows, weight=None, bias=None, eps=1e-5):
    result = []
    for row in rows:
        mean = math.fsum(row) / len(row)
        r = 1 / math.sqrt(math.fsum((a - mean)**2 for a in row) / len(row) + eps)
        result.append([(a - mean) * r * (weight[i] if weight else 1) + (bias[i] if bias else 0) for i, a in enumerate(row)])
    return result


def blocks(rows, count):
    """Rows cut in `count` blocks of channels: a list of sequences."""
    size = len(rows[0]) // count
    return [[row[i * size:(i + 1) * size] for row in rows] for i in range(count)]


def joined(parts):
    return [sum((list(row) for row in rows), []) for rows in zip(*parts)]


def sine_filter(length, w, inner, modulate=True, deltas=None, shift=0.0, z=None, norm=None):
    """h[t][c]; w: W0, b0, ..., freq, of which all sine layers have one."""
    rows = [row[:] for row in z[:length]]
    for i in range(inner + 1):
        rows = [[math.sin(w["freq"][j] * a) for j, a in enumerate(row)] for row in linear(rows, w[f"W{i}"], w[f"b{i}"])]
    rows = linear(rows, w[f"W{inner + 1}"])
    if modulate:
        last = len(z) - 1
        rows = [[a * (math.exp(-t / last * abs(deltas[c])) + shift) for c, a in enumerate(row)] for t, row in enumerate(rows)]
    return norm(rows) if norm else rows


def l1_norm(rows):
    return [[a / math.fsum(map(abs, row)) for a in row] for row in rows]


def aliased_rational(length, n, a, b, h0):
    """The first taps of the response of b(z)/a(z) + h0 with period n."""
    bins = []
    for j in range(n):
        w = cmath.exp(-2j * math.pi * j / n)
        top = sum(x * w**(i + 1) for i, x in enumerate(b))
        bottom = 1 + sum(x * w**(i + 1) for i, x in enumerate(a))
        bins.append(top / bottom + h0)
    return [sum(x * cmath.exp(2j * math.pi * j * t / n) for j, x in enumerate(bins)).real / n for t in range(length)]


def hyena(rows, w, filters, order=2, tiles=1, activation=None):
    """filters: a list of [channels][taps] an order; w: W_in, b_in, W_short, b_short, W_out, b_out, skip (a list an order, or none)."""
    projected = [row * tiles for row in linear(rows, w["W_in"], w.get("b_in"))]
    *gates, v = blocks(short_conv(projected, w["W_short"], w.get("b_short")), order + 1)
    for o in range(order - 1):
        v = long_conv(multiply(v, gates[order - 1 - o]), filters[o], w["skip"][o] if w.get("skip") else None)
    y = multiply(v, gates[0])
    return linear(each(activation, y) if activation else y, w["W_out"], w.get("b_out"))


def outer_product_scan(q, k, v, decay=None, scale=1.0):
    """Σ_s decayed (q_t·k_s) v_s of one head; decay: a list of key channels a token, of logs."""
    state = [[0.0] * len(v[0]) for _ in k[0]]
    result = []
    for t, row in enumerate(q):
        for i, s in enumerate(state):
            keep = math.exp(decay[t][i]) if decay else 1.0
            state[i] = [keep * a + k[t][i] * b for a, b in zip(s, v[t])]
        result.append([scale * math.fsum(row[i] * state[i][j] for i in range(len(row))) for j in range(len(v[0]))])
    return result


def linear_attention(rows, w, heads, map_q, map_k, normalise=True, eps=1e-12):
    q, k, v = (blocks(linear(rows, w[name]), heads) for name in ("q", "k", "v"))
    outs = []
    for head in range(heads):
        a, b = [map_q(row) for row in q[head]], [map_k(row) for row in k[head]]
        o = outer_product_scan(a, b, v[head])
        if normalise:
            total = outer_product_scan(a, b, [[1.0] for _ in rows])
            o = [[x / (total[t][0] + eps) for x in row] for t, row in enumerate(o)]
        outs.append(o)
    return linear(joined(outs), w["out"])


def gated_linear_attention(rows, w, heads, temperature=16.0, lowest=None, eps=1e-5, activation=silu):
    q, k, v = (blocks(linear(rows, w[name]), heads) for name in ("q", "k", "v"))
    logits = linear(linear(rows, w["decay_in"]), w["decay_out"], w["decay_bias"])
    rates = each(lambda a: -softplus(-a) / temperature, logits)
    if lowest is not None:
        rates = each(lambda a: max(a, lowest), rates)
    size = len(q[0][0])
    outs = [rmsnorm(outer_product_scan(q[h], k[h], v[h], blocks(rates, heads)[h], size**-0.5), w["norm"], eps) for h in range(heads)]
    return linear(multiply(joined(outs), each(activation, linear(rows, w["gate"]))), w["out"])


def attention(rows, w, heads, kv_heads, size, scale=None, causal=True, rotary=0):
    packed = linear(rows, w["qkv"], w.get("qkv_bias"))
    q = [[row[h * size:(h + 1) * size] for row in packed] for h in range(heads)]
    k = [[row[(heads + h) * size:(heads + h + 1) * size] for row in packed] for h in range(kv_heads)]
    v = [[row[(heads + kv_heads + h) * size:(heads + kv_heads + h + 1) * size] for row in packed] for h in range(kv_heads)]

    def turned(sequence):
        result = []
        for t, row in enumerate(sequence):
            new = row[:]
            for i in range(rotary // 2):
                angle = t * 10000.0**(-2 * i / rotary)
                a, b = row[i], row[i + rotary // 2]
                new[i], new[i + rotary // 2] = a * math.cos(angle) - b * math.sin(angle), b * math.cos(angle) + a * math.sin(angle)
            result.append(new)
        return result

    outs = []
    for h in range(heads):
        keys, queries, values = turned(k[h // (heads // kv_heads)]), turned(q[h]), v[h // (heads // kv_heads)]
        rows_out = []
        for t, query in enumerate(queries):
            seen = range(t + 1) if causal else range(len(rows))
            p = softmax([dot(query, keys[s]) * (scale or size**-0.5) for s in seen])
            rows_out.append([math.fsum(p[i] * values[s][j] for i, s in enumerate(seen)) for j in range(size)])
        outs.append(rows_out)
    return linear(joined(outs), w["out"], w.get("out_bias"))


def mamba(rows, w, state, rank):
    x, z = blocks(linear(rows, w["in"], w.get("in_bias")), 2)
    x = each(silu, short_conv(x, w["short"], w.get("short_bias")))
    rates = linear(x, w["x_proj"])
    dt = each(softplus, linear([row[:rank] for row in rates], w["dt"], w["dt_bias"]))
    channels = len(x[0])
    h = [[0.0] * state for _ in range(channels)]
    out = []
    for t in range(len(rows)):
        b, c = rates[t][rank:rank + state], rates[t][rank + state:]
        row = []
        for d in range(channels):
            h[d] = [math.exp(-dt[t][d] * math.exp(w["a_log"][d][n])) * h[d][n] + dt[t][d] * x[t][d] * b[n] for n in range(state)]
            row.append((dot(c, h[d]) + w["skip"][d] * x[t][d]) * silu(z[t][d]))
        out.append(row)
    return linear(out, w["out"], w.get("out_bias"))


def diagonal_kernel(length, c, a, dt, bilinear=False):
    """2 Re Σ C (e^{dt A} - 1)/A e^{dt A t}, or its bilinear form; complex lists."""
    total = [0.0] * length
    for cn, an in zip(c, a):
        if bilinear:
            weight, step = cn * dt / (1 - dt * an / 2), (1 + dt * an / 2) / (1 - dt * an / 2)
        else:
            weight, step = cn * (cmath.exp(dt * an) - 1) / an, cmath.exp(dt * an)
        for t in range(length):
            total[t] += 2 * (weight * step**t).real
    return total
