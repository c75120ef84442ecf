#!/usr/bin/env python3
"""Heads and losses against their definitions in plain Python. usage: heads.py BIN_DIR"""

import math
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from model import Model  # noqa: E402


def rows(tensor):
    """The last dimensions, one after the other."""
    width = tensor.shape[-1]
    return [list(tensor.data[i:i + width]) for i in range(0, len(tensor.data), width)]


def project(p, name, xs):
    weight = rows(p[f"{name}.weight"])
    bias = p[f"{name}.bias"].data if f"{name}.bias" in p else [0.0] * len(weight)
    return [math.fsum(w * v for w, v in zip(row, x)) + b for x in xs for row, b in zip(weight, bias)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        model = Model(sys.argv[1], HERE / "Inputs" / "heads.hyb", folder, batch=2, length=5, name="heads")
        p, found = model.parameters, model.run()
        x, y, z = (rows(model.inputs[name]) for name in "xyz")
        weights = model.inputs["weights"].data
        last = [x[4], x[9]]
        mean = [[sum(column) / 5 for column in zip(*x[start:start + 5])] for start in (0, 5)]
        errors = [sum((a - b) ** 2 for a, b in zip(u, v)) / 2 for u, v in zip(y, z)]
        logs = [[a - math.log(sum(math.exp(b) for b in u)) for a in u] for u in y]
        expected = {
            "last": last[0] + last[1],
            "by_last": project(p, "by_last.unembed", last),
            "by_mean": project(p, "by_mean.unembed", mean),
            "numbers": project(p, "regress.readout", x),
            "error": [sum(errors) / 10],
            "weighted": [sum(w * e for w, e in zip(weights, errors)) / sum(weights)],
            "soft": [-sum(q * l for u, v in zip(z, logs) for q, l in zip(u, v)) / 10],
        }
        for name, values in expected.items():
            error = math.dist(values, found[name].data) / math.hypot(*values)
            print(f"{name}: {'agrees' if error < 1e-12 else f'differs by {error:.1e}'}")


main()
