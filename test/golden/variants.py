#!/usr/bin/env python3
"""Cases of settings that the golden set does not hold, made here term by term in plain Python, and run as the golden cases are.

usage: variants.py [FLAGS OF run]
"""

import array
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import npy

HERE = pathlib.Path(__file__).resolve().parent


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


class Cases:
    def __init__(self, folder):
        self.folder, self.index, self.random = folder, [], random.Random(3)

    def draw(self, count, low=-1.0, high=1.0):
        return [single(self.random.uniform(low, high)) for _ in range(count)]

    @staticmethod
    def write(path, shape, data, code):
        npy.write_npy(path, npy.Tensor(shape, array.array(code, data)))

    def add(self, name, op, config, tensors):
        folder = self.folder / name
        folder.mkdir()
        entries = []
        for role, tensor, shape, data in tensors:
            entry = {"name": tensor, "role": role, "file": f"{role}.{tensor}.npy", "shape": shape, "dtype": "float32"}
            self.write(folder / entry["file"], shape, data, "f")
            if role == "output":
                entry["file_f64"], entry["differentiable"] = f"{role}.{tensor}.f64.npy", False
                self.write(folder / entry["file_f64"], shape, data, "d")
            entries.append(entry)
        self.index.append({"case": name, "op": op, "config": config})
        (folder / "meta.json").write_text(json.dumps({**self.index[-1], "tensors": entries, "f32_rel_err": {}}))


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


def main():
    with tempfile.TemporaryDirectory() as name:
        cases = Cases(pathlib.Path(name))
        for groups, constant in (1, False), (2, False), (4, False), (None, True):
            selective_scan(cases, groups, constant)
        for op, window in ("aft_full", 3), ("aft_local", 3), ("aft_simple", 0):
            aft(cases, op, window)
        (cases.folder / "index.json").write_text(json.dumps({"cases": cases.index}))
        result = subprocess.run([HERE / "run", "-v", *sys.argv[1:]], env={**os.environ, "HYBRID_GOLDEN_DIR": name}, capture_output=True, text=True)
    print(result.stdout + result.stderr, end="")
    return 0 if f"golden: {len(cases.index)} passed, 0 failed, 0 not supported" in result.stdout else 1


if __name__ == "__main__":
    sys.exit(main())
