"""S4 with a second column of P, tied systems and two filters a channel; S4D with two filters, both directions and a gated unit; GSS without its frame."""

import cmath
import math

import formulas as f


def pairs(values):
    return [[[z.real, z.imag] for z in row] for row in values]


def complex_rows(cases, *shape):
    real, imag = cases.array(*shape), cases.array(*shape)
    return [[complex(a, b) for a, b in zip(p, q)] for p, q in zip(real, imag)]


def solve(matrix, right):
    """Gauss with pivots, complex."""
    n = len(matrix)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def s4(cases, name, channels, count, systems, rank):
    """The kernel by its definition, from the matrices of all states, conjugates included: C~ = C (I - A^L), so C A^l B summed over periods."""
    half, L, l_max = 2, 6, 8
    log_dt = [[f32] for f32 in cases.draw(channels, -2.5, -1.0)]
    log_real, imag = cases.array(systems, half, low=-1, high=0), cases.array(systems, half, low=0.5, high=6)
    b, p = complex_rows(cases, systems, half), [complex_rows(cases, systems, half) for _ in range(rank)]
    c = [complex_rows(cases, channels, half) for _ in range(count)]
    kernels = []
    for s in range(count):
        for h in range(channels):
            i, dt = h % systems, math.exp(log_dt[h][0])
            whole = lambda v: list(v) + [z.conjugate() for z in v]
            diagonal = whole([complex(-math.exp(r), -w) for r, w in zip(log_real[i], imag[i])])
            columns = [whole(p[r][i]) for r in range(rank)]
            right, left = whole(b[i]), whole(c[s][h])
            n = 2 * half
            A = [[(diagonal[j] if j == k else 0) - sum(q[j] * q[k].conjugate() for q in columns) for k in range(n)] for j in range(n)]
            # At a root of unity w the sum of C A^l B w^l over all l is C~'s over a period: 2/(1+w) C~ (2(1-w)/(1+w) - dt A)^-1 dt B.
            spectrum = []
            for j in range(l_max):
                w = cmath.exp(-2j * math.pi * j / l_max)
                M = [[(1 - w) * (a == k) - (1 + w) * dt * A[a][k] / 2 for k in range(n)] for a in range(n)]
                spectrum.append(sum(x * y for x, y in zip(left, solve(M, [dt * z for z in right]))))
            kernels.append([sum(x * cmath.exp(2j * math.pi * j * t / l_max) for j, x in enumerate(spectrum)).real / l_max for t in range(L)])
    config = dict(D=channels, d_state=2 * half, L=L, init="legs", rank=rank, disc="bilinear", l_kernel=l_max)
    k = [kernels[s * channels:(s + 1) * channels] for s in range(count)]
    cases.add(name, "s4_dplr_kernel", config, [
        ("param", "inv_dt", log_dt), ("param", "A_real", log_real), ("param", "A_imag", imag), ("param", "B", [pairs(b)]),
        ("param", "P", [pairs(q) for q in p]), ("param", "C", [pairs(q) for q in c]), ("output", "k", k if count > 1 else k[0])])


def s4d(cases, name, channels, two_sided, glu, systems, bilinear):
    B, L, D, half = 2, 7, 4, 2
    count = channels * (2 if two_sided else 1)
    x, skip = cases.array(B, L, D), cases.array(channels, D)
    log_dt, log_real, imag = cases.draw(D, -2.5, -1.0), cases.array(systems, half, low=-1, high=0), cases.array(systems, half, low=0.5, high=6)
    c = [complex_rows(cases, D, half) for _ in range(count)]
    wide = 2 * D if glu else D
    out, bias = cases.array(wide, channels * D), cases.draw(wide)
    a = [[complex(-math.exp(r), w) for r, w in zip(log_real[i], imag[i])] for i in range(systems)]
    kernel = [[f.diagonal_kernel(L, c[s][h], a[h % systems], math.exp(log_dt[h]), bilinear) for h in range(D)] for s in range(count)]
    y = []
    for rows in x:
        parts = []
        for s in range(channels):
            mixed = f.columns(f.long_conv(rows, kernel[s], skip[s]))
            if two_sided:
                for h in range(D):
                    ahead = kernel[channels + s][h]
                    for t in range(L):
                        mixed[h][t] += math.fsum(ahead[lag - 1] * rows[t + lag][h] for lag in range(1, L - t))
            parts.append(f.columns(mixed))
        z = f.linear(f.each(f.gelu, f.joined(parts)), out, bias)
        y.append([[row[i] * f.sigmoid(row[D + i]) for i in range(D)] for row in z] if glu else z)
    layer = "output_linear.0" if glu else "output_linear"
    config = dict(B=B, L=L, D=D, d_state=2 * half, init="inverse", n_ssm=systems, bidirectional=two_sided, channels=channels,
                  disc="bilinear, B folded into C" if bilinear else "zoh, B folded into C", activation="gelu", postact="glu" if glu else None)
    cases.add(name, "s4d", config, [
        ("input", "x", x), ("param", "D", skip), ("param", "kernel.kernel.C", [pairs(q) for q in c]), ("param", "kernel.kernel.log_dt", log_dt),
        ("param", "kernel.kernel.log_w_real", log_real), ("param", "kernel.kernel.w_imag", imag),
        ("param", layer + ".weight", [[[w] for w in row] for row in out]), ("param", layer + ".bias", bias),
        ("output", "y", y), ("output", "kernel", kernel)])


def gss(cases, name, **options):
    B, L, D, narrow, states, expansion = 2, 6, 4, 3, 4, 2
    x = cases.array(B, L, D)
    shapes = {"to_u.0.weight": (expansion * D, D), "to_v.0.weight": (narrow, D), "dss.C_real": (narrow, states), "dss.C_imag": (narrow, states),
              "to_gate.weight": (expansion * D, narrow), "to_out.weight": (D, expansion * D)}
    w = {key: cases.array(*shape) for key, shape in shapes.items()}
    w |= {key: cases.draw(size) for key, size in (("dss.Lambda_real", states), ("dss.Lambda_imag", states), ("dss.param_D", narrow),
                                                   ("dss.norm.weight", narrow), ("dss.norm.bias", narrow), ("to_out.bias", D))}
    if options["pre_norm"]:
        w |= {"norm.weight": cases.draw(D), "norm.bias": cases.draw(D)}
    poles = [complex(-math.exp(r), math.exp(i) if options["lambda_imag_exp"] else i) for r, i in zip(w["dss.Lambda_real"], w["dss.Lambda_imag"])]
    kernel = [[sum((complex(r, i) * (cmath.exp(p) - 1) / p * cmath.exp(p * t)).real for r, i, p in zip(cr, ci, poles)) for t in range(L)]
              for cr, ci in zip(w["dss.C_real"], w["dss.C_imag"])]
    y = []
    for rows in x:
        normed = f.layernorm(rows, w["norm.weight"], w["norm.bias"]) if options["pre_norm"] else rows
        u = f.each(f.gelu, f.linear(normed, w["to_u.0.weight"]))
        v = f.layernorm(f.each(f.gelu, f.linear(normed, w["to_v.0.weight"])), w["dss.norm.weight"], w["dss.norm.bias"])
        s = f.linear(f.long_conv(v, kernel, w["dss.param_D"]), w["to_gate.weight"])
        z = f.linear(f.multiply(s, u), w["to_out.weight"], w["to_out.bias"])
        y.append([[a + b for a, b in zip(p, q)] for p, q in zip(z, rows)] if options["residual"] else z)
    config = dict(B=B, L=L, D=D, expansion=expansion, state_N=states, ssm_width_H=narrow, gelu="exact erf", **options)
    cases.add(name, "gss", config, [("input", "x", x)] + [("param", key, value) for key, value in w.items()] + [("output", "y", y)])


def write(cases):
    s4(cases, "s4_rank2_tied", 3, 1, 1, 2)
    s4(cases, "s4_two_filters", 4, 2, 2, 1)
    s4d(cases, "s4d_two_filters_glu", 2, False, True, 4, False)
    s4d(cases, "s4d_two_sided_bilinear", 1, True, False, 2, True)
    gss(cases, "gss_bare", lambda_imag_exp=False, pre_norm=False, residual=False)
    gss(cases, "gss_no_residual", lambda_imag_exp=True, pre_norm=True, residual=False)
