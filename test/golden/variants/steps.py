"""Products and maxima up to each position, in documents; numbers of both signs and zeros."""


def write(cases):
    B, L, D = 2, 9, 3
    x = cases.array(B, L, D, low=-2, high=2)
    x[0][2][1] = 0.0
    segments = [[0] * 4 + [1] * 5, [0, 1] + [2] * 7]
    product, most = [], []
    for rows, ids in zip(x, segments):
        p, m = [], []
        for t, row in enumerate(rows):
            begins = t == 0 or ids[t] != ids[t - 1]
            p.append([v if begins else v * before for v, before in zip(row, row if begins else p[-1])])
            m.append([v if begins else max(v, before) for v, before in zip(row, row if begins else m[-1])])
        product.append(p), most.append(m)
    cases.add("running", "running", dict(B=B, L=L, D=D), [("input", "x", x), ("input", "segments", segments), ("output", "product", product), ("output", "most", most)])
