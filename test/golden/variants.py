#!/usr/bin/env python3
"""Cases that the golden set does not hold, made term by term in plain Python, and run as the golden cases are.

Each file variants/NAME.py has a function write(cases) that draws what goes in, computes what comes out, and adds them as cases.

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


class Cases:
    def __init__(self, folder):
        self.folder, self.index, self.random = folder, [], None

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
