#!/usr/bin/env python3
"""Cases that the golden set does not hold, made term by term in plain Python, and run as the golden cases are.

Each file variants/NAME.py has a function write(cases) that draws what goes in, computes what comes out (formulas.py), and adds them as cases.

usage: variants.py [FLAGS OF run]
"""

import array
import json
import pathlib
import random
import runpy
import struct
import subprocess
import sys
import tempfile

import npy

HERE = pathlib.Path(__file__).resolve().parent


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def flat(value):
    """The numbers of nested lists in order."""
    return [a for part in value for a in flat(part)] if isinstance(value, list) else [value]


def shape_of(value):
    return [len(value)] + shape_of(value[0]) if isinstance(value, list) else []


class Cases:
    def __init__(self, folder):
        self.folder, self.index, self.random = folder, [], None

    def draw(self, count, low=-1.0, high=1.0):
        return [single(self.random.uniform(low, high)) for _ in range(count)]

    def array(self, *shape, low=-1.0, high=1.0):
        """Nested lists of drawn numbers."""
        if len(shape) == 1:
            return self.draw(shape[0], low, high)
        return [self.array(*shape[1:], low=low, high=high) for _ in range(shape[0])]

    @staticmethod
    def write(path, shape, data, code):
        npy.write_npy(path, npy.Tensor(shape, array.array(code, data)))

    def add(self, name, op, config, tensors):
        """tensors: (role, name, shape, numbers), or (role, name, nested lists)."""
        folder = self.folder / name
        folder.mkdir()
        entries = []
        for role, tensor, *rest in tensors:
            shape, data = (rest[0], rest[1]) if len(rest) == 2 else (shape_of(rest[0]), flat(rest[0]))
            integer = all(isinstance(a, int) for a in data)
            entry = {"name": tensor, "role": role, "file": f"{role}.{tensor}.npy", "shape": shape, "dtype": "int32" if integer else "float32"}
            self.write(folder / entry["file"], shape, data, "i" if integer else "f")
            if role == "output" and not integer:
                entry["file_f64"], entry["differentiable"] = f"{role}.{tensor}.f64.npy", False
                self.write(folder / entry["file_f64"], shape, data, "d")
            entries.append(entry)
        self.index.append({"case": name, "op": op, "config": config})
        (folder / "meta.json").write_text(json.dumps({**self.index[-1], "tensors": entries, "f32_rel_err": {}}))


def main():
    with tempfile.TemporaryDirectory() as name:
        cases = Cases(pathlib.Path(name))
        for path in sorted((HERE / "variants").glob("*.py")):
            cases.random = random.Random(path.stem)
            runpy.run_path(str(path))["write"](cases)
        (cases.folder / "index.json").write_text(json.dumps({"cases": cases.index}))
        result = subprocess.run([HERE / "run", "-v", "--strict", "--cases", name, *sys.argv[1:]], capture_output=True, text=True)
    print(result.stdout + result.stderr, end="")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
