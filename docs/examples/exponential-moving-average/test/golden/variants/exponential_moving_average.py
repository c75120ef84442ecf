"""y_t = a y_{t-1} + (1 - a) x_t, as the sum over all tokens before that it is."""

import math


def write(cases):
    for B, L, D in (2, 7, 5), (1, 600, 3):
        x, initial, decay = cases.draw(B * L * D), cases.draw(B * D), cases.draw(D, 0.2, 0.98)
        y = [math.fsum([decay[d] ** (t + 1) * initial[b * D + d]] +
                       [(1 - decay[d]) * decay[d] ** (t - s) * x[(b * L + s) * D + d] for s in range(t + 1)])
             for b in range(B) for t in range(L) for d in range(D)]
        last = [y[((b + 1) * L - 1) * D + d] for b in range(B) for d in range(D)]
        cases.add(f"exponential_moving_average_{L}", "exponential_moving_average", dict(B=B, L=L, D=D),
                  [("input", "x", [B, L, D], x), ("input", "initial", [B, D], initial), ("param", "decay", [D], decay),
                   ("output", "y", [B, L, D], y), ("output", "last", [B, D], last)])
