"""What S4 starts as: HiPPO-LegS in its eigenbasis, computed from the matrix by Jacobi's rotations."""

import math


def jacobi(matrix):
    """Eigenvalues of a symmetric matrix, and the vectors as columns."""
    n = len(matrix)
    a, v = [row[:] for row in matrix], [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(30):
        for p in range(n):
            for q in range(p + 1, n):
                if abs(a[p][q]) < 1e-300:
                    continue
                theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
                t = math.copysign(1, theta) / (abs(theta) + math.hypot(theta, 1))
                c = 1 / math.hypot(t, 1)
                s = t * c
                for rows in (a, v):
                    for row in rows:
                        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
                a[p], a[q] = [c * x - s * y for x, y in zip(a[p], a[q])], [s * x + c * y for x, y in zip(a[p], a[q])]
    return [a[i][i] for i in range(n)], v


def legs(states):
    """[w, |component of P|] of half of the conjugate pairs of A + P Pᵀ = -1/2 + S, S skew: the largest w first."""
    p = [math.sqrt(n + 0.5) for n in range(states)]
    A = [[-math.sqrt((2 * n + 1) * (2 * k + 1)) if n > k else -(n + 1.0) if n == k else 0.0 for k in range(states)] for n in range(states)]
    S = [[A[n][k] + p[n] * p[k] + 0.5 * (n == k) for k in range(states)] for n in range(states)]
    assert all(abs(S[n][k] + S[k][n]) < 1e-12 for n in range(states) for k in range(states))
    # S S' has every w² twice; its two vectors span the plane of a pair of conjugate ones, which share P's component in it.
    squares, vectors = jacobi([[math.fsum(x * y for x, y in zip(r, q)) for q in S] for r in S])
    order = sorted(range(states), key=lambda i: -squares[i])
    component = [math.fsum(vectors[n][i] * p[n] for n in range(states)) for i in order]
    return [[math.sqrt(squares[order[i]]), math.hypot(component[i], component[i + 1]) / math.sqrt(2)] for i in range(0, states, 2)]


def write(cases):
    for states in 2, 8, 16:
        D = 3
        basis = legs(states)
        cases.add(f"s4_initial_{states}", "s4_initial", dict(D=D, d_state=states), [
            ("output", "A_log", [[math.log(0.5) for _ in basis]] * D), ("output", "A_imag", [[w for w, _ in basis]] * D),
            ("output", "P", [[[p, 0.0] for _, p in basis]] * D), ("output", "B", [[[math.sqrt(2) * p, 0.0] for _, p in basis]] * D)])
