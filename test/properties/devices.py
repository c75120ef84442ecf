#!/usr/bin/env python3
"""Law: a model of any sizes computes on CUDA's kernels, and on older CPUs', what it computes on this CPU, forward and backward.

Draws a model of the tree, sizes of its parameters, a batch and a length, and a target, and compares all outputs and gradients in f64. Kernels are
chosen by sizes, so that no list of cases has all ways through them; where one goes wrong, the line that is printed has what to compile again.

usage: devices.py BIN_DIR MODELS_DIR ROUNDS [SEED]

The tests' driver is in place of NVIDIA's: HYBRID_CUDA_DRIVER and its like name it.
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from model import Model  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Ends of tiles, warps, chunks and segments, one more and one less; primes.
LENGTHS = (1, 2, 3, 5, 16, 17, 31, 32, 33, 40, 63, 64, 65, 97, 128, 130, 200)
BATCHES = (1, 2, 3, 5)
SIZES = {"width": (8, 12, 16, 24, 32, 40, 48, 64), "heads": (1, 2, 3, 4, 8), "inner": (8, 16, 20, 32, 64), "vocab": (7, 16, 33), "head_size": (4, 8, 12, 16, 32),
         "state": (1, 2, 4, 5, 8, 16), "experts": (2, 3, 4, 8), "active": (1, 2), "groups": (1, 2)}
TARGETS = ("cuda:shim",) * 6 + ("cpu:x86-64-v2", "cpu:x86-64-v3")
CHOICES = ((), (), ("--small-products=cublaslt",), ("--transforms=cufft",))
# No draw is as long: on a GPU in two passes over stretches of 16 channels, which take turns in two rooms.
ALWAYS = (("benchmarks/ops/gated_convolution.hyb", 2, 9000, ["channels=48", "taps=9000"], "cuda:shim", ()),)
# Sums in other orders; a value that went through f32 would be off by 1e-7.
ALLOWED = 1e-10


def parameters(source):
    """Names of the whole numbers that its last model has as parameters."""
    found = re.findall(r"^model\s+\w+\((.*?)\)\s*\{", source.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return re.findall(r"(\w+): int\b", found[-1]) if found else []


def draw(rng, sources):
    source, length = rng.choice(sources), rng.choice(LENGTHS)
    settings = [f"{name}={length if name == 'l_max' else rng.choice(SIZES[name])}" for name in parameters(source) if name == "l_max" or name in SIZES]
    target = rng.choice(TARGETS)
    return source, rng.choice(BATCHES), length, settings, target, rng.choice(CHOICES) if target.startswith("cuda") else ()


def is_model(binaries, source, batch, length, settings):
    """Whether such sizes go together. hybridc says what is wrong with them, or it has crashed."""
    command = [binaries / "hybridc", source, f"--batch={batch}", f"--length={length}", "--emit=hybrid", *(f"--set={setting}" for setting in settings)]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if result.returncode not in (0, 1) or (result.returncode == 1 and "error: " not in result.stderr):
        sys.exit(f"{' '.join(map(str, command))}: exit status {result.returncode}\n{result.stderr}")
    return result.returncode == 0


def cases(rng, sources, binaries, rounds):
    """Those of ALWAYS, and as many drawn ones."""
    for source, *rest in ALWAYS:
        yield ROOT / source, *rest
    while rounds:
        drawn = draw(rng, sources)
        if is_model(binaries, *drawn[:4]):
            yield drawn
            rounds -= 1


def furthest(expected, got):
    """The largest difference of a tensor, relative to the largest number in it; which tensor's."""
    assert expected.keys() == got.keys(), expected.keys() ^ got.keys()
    worst = (0.0, "")
    for name, tensor in expected.items():
        differences = [abs(a - b) for a, b in zip(tensor.data, got[name].data, strict=True)]
        scale = max((abs(a) for a in tensor.data), default=0.0)
        # not (a <= b) where one is not a number
        distance = max(differences, default=0.0) / (scale or 1.0) if all(d <= float("inf") for d in differences) else float("inf")
        worst = max(worst, (distance, name))
    return worst


def main():
    binaries, models = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    rounds, rng = int(sys.argv[3]), random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    sources = sorted(path for path in models.rglob("*.hyb") if "std" not in path.parts and "model " in path.read_text(encoding="utf-8"))
    if not sources:
        sys.exit(f"no models in {models}")
    failed = 0
    for source, batch, length, settings, target, options in cases(rng, sources, binaries, rounds):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            here = Model(binaries, source, first, batch, length, settings)
            there = Model(binaries, source, second, batch, length, settings, target=target, options=options)
            there.parameters, there.inputs = here.parameters, here.inputs
            cotangents = {name: here.drawn(shape) for name, shape in here.outputs.items()}
            distance, name = furthest(here.run(cotangents), there.run(cotangents))
        failed += distance > ALLOWED
        sizes = " ".join([f"--batch {batch} --length {length}", *(f"--set {setting}" for setting in settings), f"--target {target}", *options])
        print(f"{'FAIL' if distance > ALLOWED else 'ok  '} {os.path.relpath(source, models)} {sizes}: {distance:.1e} {name}", flush=True)
    print(f"devices: {len(ALWAYS) + rounds - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
