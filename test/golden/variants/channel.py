"""Channel mixers with and without biases and other activations, routing rules, norms of other shapes, short and long convolutions' options."""

import math

import formulas as f


def mlp(cases):
    B, L, D, inner = 2, 3, 4, 5
    x, w1, w2 = cases.array(B, L, D), cases.array(inner, D), cases.array(D, inner)
    y = [f.linear(f.each(f.gelu, f.linear(rows, w1)), w2) for rows in x]
    cases.add("mlp_erf_no_bias", "mlp_gelu", dict(B=B, L=L, D=D, inner=inner, bias=False, gelu="erf"),
              [("input", "x", x), ("param", "fc.weight", w1), ("param", "proj.weight", w2), ("output", "y", y)])


def mad_lab_mixture(cases):
    B, L, D, I, E, k = 2, 4, 3, 2, 3, 2
    x = cases.array(B, L, D)
    w = {"up1.weight": cases.array(I * E, D), "up1.bias": cases.draw(I * E), "up2.weight": cases.array(I * E, D), "up2.bias": cases.draw(I * E),
         "down1.weight": cases.array(D * E, I * E), "down1.bias": cases.draw(D * E), "router.weight": cases.array(E, D), "router.bias": cases.draw(E)}
    y = []
    for rows in x:
        hidden = f.multiply(f.linear(rows, w["up1.weight"], w["up1.bias"]), f.each(f.gelu_tanh, f.linear(rows, w["up2.weight"], w["up2.bias"])))
        z = f.linear(hidden, w["down1.weight"], w["down1.bias"])
        out = []
        for t, logits in enumerate(f.linear(rows, w["router.weight"], w["router.bias"])):
            least = sorted(logits)[-k]
            p = f.softmax([a if a >= least else 0.0 for a in logits])
            out.append([math.fsum(p[e] * z[t][d * E + e] for e in range(E)) for d in range(D)])
        y.append(out)
    cases.add("moe_madlab_bias", "moe_madlab_dense", dict(B=B, L=L, D=D, expert_inner=I, experts=E, active=k, bias=True),
              [("input", "x", x), ("param", "gates", cases.array(E, I))] + [("param", name, value) for name, value in w.items()] + [("output", "y", y)])


def mixture(cases, name, active, rule, activation):
    T, D, I, E = 6, 4, 3, 4
    x, router = cases.array(T, D), cases.array(E, D)
    w1, w2, w3 = cases.array(E, I, D), cases.array(E, D, I), cases.array(E, I, D)
    function = {"silu": f.silu, "gelu": f.gelu}[activation]
    y, selected = [], []
    for row, logits in zip(x, f.linear(x, router)):
        chosen = sorted(range(E), key=lambda e: -logits[e])[:active]
        p = f.softmax(logits)
        weights = [p[e] for e in chosen] if "NOT" in rule else f.softmax([logits[e] for e in chosen])
        out = [0.0] * D
        for s, e in zip(weights, chosen):
            hidden = f.multiply(f.each(function, f.linear([row], w1[e])), f.linear([row], w3[e]))
            out = [a + s * b for a, b in zip(out, f.linear(hidden, w2[e])[0])]
        y.append(out)
        selected.append(chosen)
    cases.add(name, "moe_sparse_argmax", dict(tokens=T, D=D, expert_inner=I, experts=E, active=active, weights=rule, activation=activation),
              [("input", "x", x), ("param", "W_router", router), ("param", "W1", w1), ("param", "W2", w2), ("param", "W3", w3), ("output", "y", y),
               ("output", "selected", selected)])


def norms(cases):
    x, w = cases.array(3, 2, 2, 5), cases.draw(5)
    rows = [row for a in x for b in a for row in b]
    cases.add("rmsnorm_of_heads", "rmsnorm", dict(eps=0.1, eps_place="inside sqrt of mean square"),
              [("input", "x", x), ("param", "w", w), ("output", "y", [3, 2, 2, 5], sum(f.rmsnorm(rows, w, 0.1), []))])
    cases.add("layernorm_without_weights", "layernorm", dict(eps=1e-3), [("input", "x", rows), ("output", "y", f.layernorm(rows, eps=1e-3))])


def convolutions(cases):
    B, L, C = 2, 5, 3
    x, w = cases.array(B, L, C), cases.array(C, 7)
    cases.add("short_conv_longer_than_x", "short_conv", dict(B=B, C=C, L=L, taps=7, silu=True),
              [("input", "x", x), ("param", "W", w), ("output", "y", [f.each(f.silu, f.short_conv(rows, w)) for rows in x])])
    for name, taps, gates in (("fftconv_long_filter_gated_in", 8, ["pre"]), ("fftconv_one_step", 1, [])):
        L = 5 if taps > 1 else 1
        u, h = cases.array(B, C, L), cases.array(C, taps)
        extra = {gate: cases.array(B, C, L) for gate in gates}
        y = [[f.convolved([a * b for a, b in zip(u[i][c], extra["pre"][i][c])] if extra else u[i][c], h[c]) for c in range(C)] for i in range(B)]
        cases.add(name, "fftconv", dict(B=B, D=C, L=L, filter_len=taps, gated=bool(gates), layout="(B,D,L)"),
                  [("input", "u", u), ("param", "h", h)] + [("input", key, value) for key, value in extra.items()] + [("output", "y", y)])


def tables(cases):
    width, half = 7, 3
    table = [[g(t * 10000.0**(-i / (half - 1))) for g in (math.sin, math.cos) for i in range(half)] + [0.0] for t in range(5)]
    cases.add("sincos_odd", "sincos_position_table", dict(length=5, D=width), [("output", "table", table)])


def losses(cases):
    T, V = 6, 5
    logits, target = cases.array(T, V), [1, -1, 4, 0, -1, 2]
    scored = [(row, t) for row, t in zip(logits, target) if t >= 0]
    loss = -math.fsum(0.9 * math.log(p[t]) + 0.1 / V * math.fsum(map(math.log, p)) for p, t in ((f.softmax(row), t) for row, t in scored))
    cases.add("cross_entropy_sum", "cross_entropy", dict(T=T, V=V, ignore_index=-1, label_smoothing=0.1, reduction="sum", ignored=2),
              [("input", "logits", logits), ("input", "target", target), ("output", "loss", [loss])])


def attention(cases, name, heads, kv_heads, size, **options):
    B, L, D = 2, 6, 4
    x = cases.array(B, L, D)
    w = {"qkv": cases.array((heads + 2 * kv_heads) * size, D), "out": cases.array(D, heads * size)}
    if "out_bias" in options:
        w["out_bias"] = cases.draw(D)
    y = [f.attention(rows, w, heads, kv_heads, size, options.get("softmax_scale"), options.get("causal", True), options.get("rotary_dim", 0)) for rows in x]
    names = {"qkv": "Wqkv.weight", "out": "out_proj.weight", "out_bias": "out_proj.bias"}
    config = dict(B=B, L=L, D=D, heads=heads, heads_kv=kv_heads, rotary_style="half (NeoX)", rotary_base=10000.0, xpos_scale_base=None, window=[-1, -1], bias=False,
                  causal=options.get("causal", True), rotary_dim=options.get("rotary_dim", 0), head_dim=size, softmax_scale=options.get("softmax_scale", "1/sqrt(head_dim)"))
    cases.add(name, "attention", config, [("input", "x", x)] + [("param", names[key], value) for key, value in w.items()] + [("output", "y", y)])


def mamba(cases):
    B, L, D, inner, state, rank, taps = 2, 6, 4, 12, 3, 2, 3
    x = cases.array(B, L, D)
    w = {"in": cases.array(2 * inner, D), "in_bias": cases.draw(2 * inner), "short": cases.array(inner, taps), "x_proj": cases.array(rank + 2 * state, inner),
         "dt": cases.array(inner, rank), "dt_bias": cases.draw(inner), "a_log": cases.array(inner, state), "skip": cases.draw(inner),
         "out": cases.array(D, inner), "out_bias": cases.draw(D)}
    names = {"in": "in_proj.weight", "in_bias": "in_proj.bias", "short": "conv1d.weight", "x_proj": "x_proj.weight", "dt": "dt_proj.weight",
             "dt_bias": "dt_proj.bias", "a_log": "A_log", "skip": "D", "out": "out_proj.weight", "out_bias": "out_proj.bias"}
    y = [f.mamba(rows, w, state, rank) for rows in x]
    cases.add("mamba_biased", "mamba", dict(B=B, L=L, D=D, d_state=state, d_conv=taps, expand=3, dt_rank=rank, bias=True, conv_bias=False),
              [("input", "x", x)] + [("param", names[key], [[taps] for taps in value] if key == "short" else value) for key, value in w.items()] + [("output", "y", y)])


def write(cases):
    mlp(cases)
    mad_lab_mixture(cases)
    mixture(cases, "moe_argmax_top2_gelu", 2, "full softmax probability of the selected experts, NOT renormalised", "gelu")
    mixture(cases, "moe_argmax_renormalised", 3, "full softmax probability of the selected experts, renormalised", "silu")
    norms(cases)
    convolutions(cases)
    tables(cases)
    losses(cases)
    attention(cases, "attention_wide_heads", 3, 1, 4, out_bias=True, softmax_scale=0.25)
    attention(cases, "attention_noncausal_partial_rotary", 2, 2, 6, causal=False, rotary_dim=4)
    mamba(cases)
