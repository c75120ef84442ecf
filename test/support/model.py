"""A model compiled (in f64 unless told otherwise) and run with parameters and inputs of the caller's, for tests written in Python."""

import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import npy  # noqa: E402


class Model:
    """`parameters` and `inputs` map names to npy.Tensor and may be changed between runs."""

    def __init__(self, binaries, source, folder, batch, length, settings=(), name=None, seed=1, precision="f64", target=None, options=()):
        """Compiles `source` (its model `name`, if it has several; for `target`, else this CPU; with further `options` of hybridc) and draws its parameters, and inputs uniform in [-1, 1]; ids are below 4, segments in order."""
        self.binaries, self.folder = pathlib.Path(binaries), pathlib.Path(folder)
        self.executable = self.folder / "model.hyx"
        flags = [flag for setting in settings for flag in ("--set", setting)] + (["--model", name] if name else []) + ([f"--target={target}"] if target else []) + list(options)
        self.dtype, self.typecode = ("f64", "d") if precision == "f64" else ("f32", "f")
        self._tool("hybridc", source, "-o", self.executable, f"--precision={precision}", f"--batch={batch}", f"--length={length}", *flags)
        info = json.loads(self._tool("hybrid-run", "info", "--json", self.executable))
        forward = next(p for p in info["programs"] if p["name"] == "forward")
        self.trained = [p["name"] for p in info["parameters"] if p["trainable"]]
        self.outputs = {o["name"]: o["shape"] for o in forward["outputs"] if o["dtype"] == self.dtype}
        self.random = random.Random(seed)
        self.inputs = {i["name"]: self._input(i) for i in forward["inputs"]}
        self.parameters = {}
        if info["parameters"]:
            start = self.folder / "parameters.safetensors"
            self.run(flags=["--init-seed", str(seed), "--save-params", start])
            self.parameters = npy.read_safetensors(start)

    def _tool(self, tool, *arguments):
        result = subprocess.run([self.binaries / tool, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if result.returncode:
            sys.exit(f"{tool} {' '.join(map(str, arguments))}: exit status {result.returncode}\n{result.stderr}")
        return result.stdout

    def _input(self, info):
        count = 1
        for size in info["shape"]:
            count *= size
        if info["dtype"] == self.dtype:
            return self.drawn(info["shape"])
        length = info["shape"][-1]
        ids = [int(i % length * 2 >= length) if info["name"] in ("segments", "documents") else self.random.randrange(4) for i in range(count)]
        return npy.Tensor(info["shape"], npy.array.array("i", ids))

    def drawn(self, shape, low=-1, high=1):
        count = 1
        for size in shape:
            count *= size
        return npy.Tensor(shape, npy.array.array(self.typecode, (self.random.uniform(low, high) for _ in range(count))))

    def run(self, cotangents=None, flags=None):
        """{name: Tensor} of the outputs; with cotangents also of "grad.NAME", NAME a parameter or an input."""
        if flags is None:
            flags = []
            if self.parameters:
                npy.write_safetensors(self.folder / "given.safetensors", self.parameters)
                flags = ["--params", self.folder / "given.safetensors"]
        for kind, tensors in (("input", self.inputs), ("cotangent", cotangents or {})):
            for name, tensor in tensors.items():
                path = self.folder / f"{kind}.{name}.npy"
                npy.write_npy(path, tensor)
                flags = [*flags, f"--{kind}", f"{name}={path}"]
        out = self.folder / "out"
        self._tool("hybrid-run", "forward", self.executable, "--threads", "1", *flags, "--out", out)
        found = {name: npy.read_npy(out / f"output.{name}.npy") for name in self.outputs}
        if cotangents:
            found |= {path.name[:-len(".npy")]: npy.read_npy(path) for path in out.glob("grad.*.npy")}
        return found
