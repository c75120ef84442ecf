"""Functions of the language: products of any rank, sums along a dimension, choices and parts."""

import math


def write(cases):
    B, L, D, H, K, E = 2, 5, 4, 2, 3, 5
    x, y, q, k = cases.array(B, L, D), cases.array(B, L, D), cases.array(B, L, H, K), cases.array(B, L, H, K)
    p, w, u, table = cases.array(H, K, E), cases.array(D, E), cases.draw(E), cases.array(D, 3)
    y[0][1][2] = x[0][1][2]  # somewhere they are equal, and somewhere a condition is 0
    y[1][0][0] = 0.0
    places = [[[(b + t + j) % D for j in range(2)] for t in range(L)] for b in range(B)]
    rows = [[[(3 * b + j) % L] for j in range(3)] for b in range(B)]
    bs, ls, ds, hs, ks, es = (range(n) for n in (B, L, D, H, K, E))

    def grid(function, *sizes):
        """Nested lists of function(i, j, ...)."""
        if not sizes:
            return function()
        return [grid(lambda *rest, i=i: function(i, *rest), *sizes[1:]) for i in range(sizes[0])]

    def log_sum(values):
        return math.log(math.fsum(math.exp(a) for a in values))

    scores = grid(lambda b, h, l, m: math.fsum(q[b][l][h][c] * k[b][m][h][c] for c in ks), B, H, L, L)

    def chosen(b, l, d):
        if x[b][l][d] > 0.1:
            return math.log(x[b][l][d])
        return x[b][l][d] if y[b][l][d] != 0 else 7.0

    best = [[max(ds, key=lambda d: x[b][l][d]) for l in ls] for b in bs]
    outputs = {
        "scores": scores,
        "mixed": grid(lambda b, l, h, c: math.fsum(scores[b][h][l][m] * q[b][m][h][c] for m in ls), B, L, H, K),
        "outer": grid(lambda e, d: math.fsum(x[b][l][d] * y[b][l][e] for b in bs for l in ls), D, D),
        "inner": grid(lambda b, l: math.fsum(x[b][l][d] * y[b][l][d] for d in ds), B, L),
        "three": grid(lambda l, b: math.fsum(x[b][l][d] * w[d][e] * u[e] for d in ds for e in es), L, B),
        "beside": grid(lambda e, d: w[d][e] * u[e], E, D),
        "heads": grid(lambda b, h, l, e: math.fsum(q[b][l][h][c] * p[h][c][e] for c in ks), B, H, L, E),
        "left": grid(lambda b, e, l: math.fsum(w[d][e] * x[b][l][d] for d in ds), B, E, L),
        "sums": grid(lambda b, l, h, c: math.fsum(q[b][m][h][c] for m in range(l + 1)), B, L, H, K),
        "across": grid(lambda b, l, d: math.fsum(x[b][l][:d + 1]), B, L, D),
        "chosen": grid(chosen, B, L, D),
        "masks": grid(lambda b, l, d: float((x[b][l][d] < y[b][l][d]) + 2 * (x[b][l][d] <= y[b][l][d]) + 4 * (x[b][l][d] > 0) +
                                            8 * (x[b][l][d] <= 0) + 16 + 32 * (x[b][l][d] != y[b][l][d])), B, L, D),
        "largest": grid(lambda b, l, c: table[best[b][l]][c], B, L, 3),
        "taken": grid(lambda b, l, j: x[b][l][places[b][l][j]], B, L, 2),
        "taken_rows": grid(lambda b, j, d: x[b][rows[b][j][0]][d], B, 3, D),
        "log_p": grid(lambda b, l, d: 3 * x[b][l][d] - log_sum([3 * a for a in x[b][l]]), B, L, D),
        "log_p_rows": grid(lambda b, l, d: x[b][l][d] - log_sum([row[d] for row in x[b]]), B, L, D),
        "log_sum": grid(lambda b, l: log_sum(x[b][l]) + 1000, B, L),
        "log_sum_rows": grid(lambda b, l, d: log_sum([row[d] for row in x[b]]), B, 1, D),
        "late": grid(lambda b, l, d: x[b][l - 2][d], B, L, D),
        "early": grid(lambda b, l, d: x[b][(l + 1) % L][d], B, L, D),
        "turned": grid(lambda b, l, d: x[b][l][d - 1], B, L, D),
        "last": [rows_of[-1] for rows_of in x],
        "later": grid(lambda b, l, d: x[b][l + 1][d] - x[b][l][d], B, L - 1, D),
        "middle": grid(lambda b, l, d: x[b][l + 1][d + 2], B, L - 2, D - 2),
        "before": grid(lambda b, l, d: x[b][l - 1][d] if l else 0.0, B, L, D),
        "pair": [rows_of[-3:-1] for rows_of in x],
        "undropped": grid(lambda b, l, d: x[b][l][d] + y[b][l][d], B, L, D),
    }
    inputs = dict(x=x, y=y, q=q, k=k, p=p, w=w, u=u, table=table, places=places, rows=rows)
    cases.add("language_functions", "language_functions", dict(B=B, L=L, D=D, H=H, K=K, E=E),
              [("input", name, value) for name, value in inputs.items()] + [("output", name, value) for name, value in outputs.items()])
