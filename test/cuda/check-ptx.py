#!/usr/bin/env python3
"""Runs a training step of models on the PTX machine (test/cuda/ptx), which finds what a GPU would do wrong.

The numbers of these kernels are compared in the golden and gradient cases; here every kernel that a model of the
library launches is run with its checks: a model of each mixer and channel mixer, and with --long all of MAD's and those
for long sequences, wide heads and many states, of which only some blocks of each launch are run. Also models and operators
with drawn sizes (test/support/drawn.py), more with --long. Needs NVRTC, and the environment in which the tests' driver stands for a GPU (test/CudaShim.cmake).

usage: check-ptx.py BINARIES ROOT [--long]
"""

import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import drawn  # noqa: E402

TARGET = os.environ.get("HYBRID_TEST_TARGET", "cuda:compute_90a")
SMALL = "--batch 2 --length 64"
# A model of each mixer and channel mixer: in f32 other kernels multiply than in bf16.
OF_EACH_KIND = ["attention-moe", "gated-deltanet-swiglu", "gated-linear-attention-swiglu", "hyena-experts-swiglu", "hyena-swiglu", "mamba",
                "multihead-hyena-swiglu", "rwkv", "rwkv6", "sliding-attention-swiglu"]
IN_F32 = ["attention-moe", "hyena-swiglu", "mamba", "rwkv6", "gated-linear-attention-swiglu", "multihead-hyena-swiglu"]
# Convolutions in two passes of memory, and as products whose panels are no power of two; heads whose keys fill tiles, but no half of a warp;
# gradients of layer norms where products store their rows.
FURTHER = [("test/models/Inputs/rounded-mixers.hyb", "--model convolution_alone --batch 1 --length 4100 --precision bf16 --program vjp"),
           ("benchmarks/ops/gated_convolution.hyb", "--batch 8 --length 96 --set taps=96 --set channels=16 --precision bf16 --program vjp"),
           ("models/mad/gated-deltanet-swiglu.hyb", "--batch 2 --length 33 --set vocab=16 --set width=48 --set heads=2 --precision bf16 --program train"),
           ("models/hyena/recall.hyb", "--batch 2 --length 64 --precision bf16 --program train")]
DRAWN = {"benchmarks/ops": (4, 120), "models/mad": (2, 60)}  # how many, and with --long
LONG = [
    ("models/mad/mamba.hyb", "--batch 1 --length 4096"),
    ("models/mad/rwkv.hyb", "--batch 1 --length 4096"),
    ("models/mad/gated-linear-attention-swiglu.hyb", "--batch 1 --length 4096"),
    ("models/mad/sliding-attention-swiglu.hyb", "--batch 2 --length 1024"),
    ("benchmarks/ops/long_convolution.hyb", "--batch 2 --length 1024 --set taps=1024 --set channels=768"),
    ("benchmarks/ops/long_convolution.hyb", "--batch 2 --length 65536 --set taps=65536 --set channels=64"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 4 --length 256 --set taps=256 --precision bf16"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 4 --length 4096 --set taps=4096 --set channels=64"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 4 --length 16384 --set taps=16384 --set channels=64"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 4 --length 16384 --set taps=16384 --set channels=64 --precision bf16"),
    ("benchmarks/ops/attention.hyb", "--batch 1 --length 512 --set heads=1 --set width=128"),
    ("benchmarks/ops/attention.hyb", "--batch 1 --length 512 --set heads=1 --set width=256 --precision bf16"),
    ("benchmarks/ops/selective_scan.hyb", "--batch 1 --length 2048 --set channels=256 --set states=16"),
    ("benchmarks/ops/selective_scan.hyb", "--batch 1 --length 2048 --set channels=256 --set states=64"),
]
BLOCKS = "4"  # of a row of the grid, in the long set


def uses(binaries, root, is_long):
    for model in sorted((root / "models/mad").glob("*.hyb")):
        for precision in ("bf16", "f32"):
            if is_long or model.stem in (OF_EACH_KIND if precision == "bf16" else IN_F32):
                yield model, f"{SMALL} --precision {precision}", {}
    for model, arguments in FURTHER:
        yield root / model, arguments, {}
    for model, arguments in LONG if is_long else []:
        program = "vjp" if "benchmarks/ops" in model else "train"
        yield root / model, f"{arguments} --program {program}", {"HYBRID_PTX_BLOCKS": BLOCKS}
    rng = random.Random(1)
    for folder, rounds in DRAWN.items():
        for model, batch, length, settings in drawn.models(rng, binaries, drawn.sources(root / folder), rounds[is_long]):
            program = "vjp" if folder == "benchmarks/ops" else "train"
            words = [f"--batch {batch} --length {length}", *(f"--set {setting}" for setting in settings), f"--precision {rng.choice(('bf16', 'f32'))}"]
            yield model, f"{' '.join(words)} --program {program}", {}


def run(binaries, model, arguments, environment):
    """A complaint, or nothing."""
    command = [binaries / "hybrid-run", "bench", model, "--target", TARGET, *arguments.split(), "--steps", "1", "--warmup", "0"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=os.environ | environment)
    return f"{model.stem} {arguments}: {done.stderr.strip()}" if done.returncode else ""


def main():
    binaries, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    all_uses = list(uses(binaries, root, "--long" in sys.argv))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        complaints = list(filter(None, pool.map(lambda use: run(binaries, *use), all_uses)))
    print(*complaints, sep="\n")
    print(f"{len(all_uses)} models, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
