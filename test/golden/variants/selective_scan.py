"""Groups of maps, and constant maps."""

import math


def selective_scan(cases, groups, constant):
    B, D, L, N, G = 2, 4, 5, 3, groups or 1
    u, delta, a = cases.draw(B * D * L), cases.draw(B * D * L, 0.1, 0.9), cases.draw(D * N, -2, -0.2)
    shape = [D, N] if constant else [B, G, N, L]
    b, c = cases.draw(math.prod(shape)), cases.draw(math.prod(shape))
    y, last = [], []
    for batch in range(B):
        for d in range(D):
            h = [0.0] * N
            for t in range(L):
                at = [d * N + n if constant else ((batch * G + d // (D // G)) * N + n) * L + t for n in range(N)]
                step, x = delta[(batch * D + d) * L + t], u[(batch * D + d) * L + t]
                h = [math.exp(step * a[d * N + n]) * h[n] + step * x * b[at[n]] for n in range(N)]
                y.append(math.fsum(c[at[n]] * h[n] for n in range(N)))
            last += h
    role = "param" if constant else "input"
    config = dict(B=B, D=D, L=L, N=N, z_gate=False, delta_bias=False, softplus=False, skip=False, groups=groups, constant_BC=constant, layout="(B,D,L)")
    cases.add(f"selective_scan_{'constant' if constant else groups}", "selective_scan", config,
              [("input", "u", [B, D, L], u), ("input", "delta", [B, D, L], delta), ("param", "A", [D, N], a), (role, "B", shape, b),
               (role, "C", shape, c), ("output", "y", [B, D, L], y), ("output", "last_state", [B, D, N], last)])


def write(cases):
    for groups, constant in (1, False), (2, False), (4, False), (None, True):
        selective_scan(cases, groups, constant)
