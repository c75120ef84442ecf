"""Attention-free transformers with and without a window."""

import math


def aft(cases, op, window):
    B, L, D = 2, 7, 4
    x, bias = cases.draw(B * L * D), cases.draw(L * L)
    weights = {name: cases.draw(D * D) for name in "qkvo"}

    def project(name, row):
        return [math.fsum(weights[name][i * D + j] * row[j] for j in range(D)) for i in range(D)]

    y = []
    for batch in range(B):
        rows = [x[(batch * L + t) * D:(batch * L + t + 1) * D] for t in range(L)]
        q, k, v = ([project(name, row) for row in rows] for name in "qkv")
        for t in range(L):
            mixed = []
            for d in range(D):
                e = [math.exp(k[s][d] + (bias[t * L + s] if window and t - s < window else 0)) for s in range(t + 1)]
                mixed.append(math.fsum(p * v[s][d] for s, p in enumerate(e)) / math.fsum(e) / (1 + math.exp(-q[t][d])))
            y += project("o", mixed)
    tensors = [("input", "x", [B, L, D], x)] + [("param", f"W_{name}", [D, D], weights[name]) for name in "qkvo"]
    tensors += [("param", "w", [L, L], bias)] if window else []
    config = dict(B=B, L=L, D=D, heads=1, window=window, causal=True)
    cases.add(f"{op}_{window}", op, config, tensors + [("output", "y", [B, L, D], y)])


def write(cases):
    for op, window in ("aft_full", 3), ("aft_local", 3), ("aft_simple", 0):
        aft(cases, op, window)
