#!/usr/bin/env python3
"""Law: a model of any sizes computes on CUDA's kernels, and on older CPUs', what it computes on this CPU, forward and backward.

Draws a model of the tree, its sizes (test/support/drawn.py), a target and a precision, and compares all outputs and gradients with those in f64 on this
CPU. Where one goes wrong, the line that is printed has what to compile again.

usage: devices.py BIN_DIR MODELS_DIR ROUNDS [SEED]

The tests' driver is in place of NVIDIA's: HYBRID_CUDA_DRIVER and its like name it.
"""

import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import drawn  # noqa: E402
from model import Model, npy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ("cuda:shim",) * 6 + ("cpu:x86-64-v2", "cpu:x86-64-v3")
CHOICES = ((), (), ("--small-products=cublaslt",), ("--transforms=cufft",))
# No draw is as long: on a GPU in two passes over stretches of 16 channels, which take turns in two rooms.
ALWAYS = (("benchmarks/ops/gated_convolution.hyb", 2, 9000, ["channels=48", "taps=9000"], "cuda:shim", ()),)
# Sums in other orders. In f64 a value that went through f32 would be off by 1e-7. f32 is some 1e-6 off, and 2e-3 where what is summed nearly cancels; it
# finds what is read in the wrong place. bf16 has no such law: where it rounds a choice of experts may turn out another.
ALLOWED = {"f64": 1e-10, "f32": 1e-2}


def cases(rng, sources, binaries, rounds):
    """Those of ALWAYS, and as many drawn ones."""
    for source, *rest in ALWAYS:
        yield ROOT / source, *rest, "f64"
    for model in drawn.models(rng, binaries, sources, rounds):
        target = rng.choice(TARGETS)
        yield *model, target, rng.choice(CHOICES) if target.startswith("cuda") else (), rng.choice(tuple(ALLOWED))


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


def rounded(tensors, precision):
    """The same numbers, in f32 if that is the precision."""
    if precision == "f64":
        return tensors
    return {name: npy.Tensor(t.shape, npy.array.array("f", t.data)) if t.data.typecode == "d" else t for name, t in tensors.items()}


def main():
    binaries, models = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    rounds, rng = int(sys.argv[3]), random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    sources = drawn.sources(models)
    if not sources:
        sys.exit(f"no models in {models}")
    failed = 0
    for source, batch, length, settings, target, options, precision in cases(rng, sources, binaries, rounds):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            here = Model(binaries, source, first, batch, length, settings)
            there = Model(binaries, source, second, batch, length, settings, precision=precision, target=target, options=options)
            there.parameters, there.inputs = rounded(here.parameters, precision), rounded(here.inputs, precision)
            cotangents = {name: here.drawn(shape) for name, shape in here.outputs.items()}
            distance, name = furthest(here.run(cotangents), there.run(rounded(cotangents, precision)))
        failed += distance > ALLOWED[precision]
        sizes = " ".join([f"--batch {batch} --length {length}", *(f"--set {setting}" for setting in settings), f"--target {target} --precision {precision}", *options])
        print(f"{'FAIL' if distance > ALLOWED[precision] else 'ok  '} {os.path.relpath(source, models)} {sizes}: {distance:.1e} {name}", flush=True)
    print(f"devices: {len(ALWAYS) + rounds - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
