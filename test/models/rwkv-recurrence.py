#!/usr/bin/env python3
"""RWKV-5 and RWKV-6 against their recurrences (Peng et al. 2024, sections 4.1 and 4.2), written as loops over tokens and heads in plain Python.

usage: rwkv-recurrence.py BIN_DIR
"""

import math
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from model import Model  # noqa: E402

BATCH, LENGTH = 2, 9


def rows(tensor, *index):
    """The last dimension of `tensor` at an index of the others."""
    flat = 0
    for i, size in zip(index, tensor.shape):
        flat = flat * size + i
    width = tensor.shape[-1]
    return list(tensor.data[flat * width:(flat + 1) * width])


def product(weight, x):
    """weight [outputs, inputs] times x."""
    return [math.fsum(w * y for w, y in zip(rows(weight, i), x)) for i in range(weight.shape[0])]


def silu(x):
    return x / (1 + math.exp(-x))


def head_norm(x, weight, bias, size):
    y = []
    for start in range(0, len(x), size):
        head = [value / 8 for value in x[start:start + size]]
        mean = sum(head) / size
        deviation = math.sqrt(sum((value - mean) ** 2 for value in head) / size + 1e-5)
        y += [(value - mean) / deviation for value in head]
    return [w * value + b for w, value, b in zip(weight, y, bias)]


def mixes(version, p, x, before):
    """What the projections see: decay (None with RWKV-5), key, value, receptance, gate."""
    change = [b - a for a, b in zip(x, before)]
    if version == 5:
        return [None] + [[m * a + (1 - m) * b for m, a, b in zip(rows(p[f"mix.mix_{n}.share"]), x, before)] for n in "kvrg"]
    low = product(p["mix.mix_in"], [a + c * m for a, c, m in zip(x, change, rows(p["mix.mix_x"]))])
    rank = len(low) // 5
    mixed = []
    for i, n in enumerate("wkvrg"):
        more = [0.0] * len(x)
        for j in range(rank):
            step = math.tanh(low[i * rank + j])
            more = [m + step * w for m, w in zip(more, rows(p["mix.mix_out"], i, j))]
        mixed.append([a + c * (s + m) for a, c, s, m in zip(x, change, rows(p[f"mix.mix_{n}"]), more)])
    return mixed


def recurrence(version, model):
    p, width, size = model.parameters, model.inputs["x"].shape[-1], model.inputs["start"].shape[-1]
    heads = width // size
    found = {"y": [], "token": [], "state": []}
    for b in range(BATCH):
        state = [[rows(model.inputs["start"], b, h, i) for i in range(size)] for h in range(heads)]
        before = rows(model.inputs["last"], b, 0)
        for t in range(LENGTH):
            x = rows(model.inputs["x"], b, t)
            xw, *others = mixes(version, p, x, before)
            k, v, r, g = (product(p[f"mix.{name}.weight"], z) for name, z in zip(("key", "value", "receptance", "gate"), others))
            rate = rows(p["mix.decay.weight"])
            if version == 6:
                low = [math.tanh(z) for z in product(p["mix.decay_in"], xw)]
                rate = [a + c for a, c in zip(rate, product(p["mix.decay_out"], low))]
            bonus = rows(p["mix.bonus.weight"])
            read = [0.0] * width
            for h in range(heads):
                for i in range(size):
                    at = h * size + i
                    for j in range(size):
                        new = k[at] * v[h * size + j]
                        read[h * size + j] += r[at] * (bonus[at] * new + state[h][i][j])
                        state[h][i][j] = math.exp(-math.exp(rate[at])) * state[h][i][j] + new
            normed = head_norm(read, rows(p["mix.norm.weight"]), rows(p["mix.norm.bias"]), size)
            found["y"] += product(p["mix.output.weight"], [n * silu(z) for n, z in zip(normed, g)])
            before = x
        found["token"] += before
        found["state"] += [value for head in state for row in head for value in row]
    return found


def main():
    for version in (5, 6):
        with tempfile.TemporaryDirectory() as folder:
            model = Model(sys.argv[1], HERE / "Inputs" / "rwkv.hyb", folder, BATCH, LENGTH, [f"version={version}"], "rwkv")
            for tensor in model.parameters.values():
                for i in range(len(tensor.data)):
                    tensor.data[i] += model.random.uniform(-0.3, 0.3)
            outputs, expected = model.run(), recurrence(version, model)
            for name, values in expected.items():
                norm = math.sqrt(sum(value * value for value in values))
                error = math.dist(values, outputs[name].data) / norm
                print(f"rwkv{version} {name}: {'agrees' if error < 1e-12 else f'differs by {error:.1e}'}")


main()
