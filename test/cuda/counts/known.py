#!/usr/bin/env python3
"""Compares the times that the model predicts of known kernels with published measurements of such kernels.

Every kernel of known.cu is compiled by NVRTC, its PTX is counted by hybrid-ptx-count and its registers are the assembler's, as
for the kernels of a model. A prediction is right within 30 %; what is known to be further off is listed with its reason. To `copy` on the H200 and `products`
on the H100 constants of the table are fitted, and `products` of the A100 is its peak: these three only say that counts are right.

usage: known.py HYBRID-PTX-COUNT ROOT [--table]
"""

import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
WITHIN = 0.30
GIB = 1 << 30
CUDNN = "NVIDIA/cudnn-frontend, benchmark/norms/results/h200 (bf16; cuDNN, and torch.compile)"
FLOPS_OF_PRODUCT = 2 * 16 * 8 * 16
KNOWN = [
    # kernel, device, grid, threads, buffers in bytes, published microseconds, source
    ("copy", "h200", 65536, 256, [GIB, GIB], 2 * GIB / 4.3e6, "4.3 TB/s of a copy on an H200, to which dram_efficiency is fitted"),
    ("copy", "h100", 65536, 256, [GIB, GIB], 2 * GIB / 3.0e6, "3 TB/s: Guo, Zadouri, Dao, Getting Memory-bound Kernels to Speed-of-Light"),
    ("swiglu", "h100", 16384, 256, [8192 * 8192 * 2] * 3, 137, "linkedin/Liger-Kernel, benchmark data of SwiGLU, H100, 8192 x 8192"),
    ("rmsnorm4096", "h200", 16384, 256, [16384 * 4096 * 2, 8192, 16384 * 4096 * 2], 74, CUDNN + ": 72 and 76"),
    ("rmsnorm16384", "h200", 4096, 512, [4096 * 16384 * 2, 32768, 4096 * 16384 * 2], 68.5, CUDNN + ": 70 and 67"),
    ("rmsnorm128", "h200", 131072 // 8, 128, [131072 * 256, 256, 131072 * 256], 19, CUDNN + ": 21 and 17"),
    ("rmsnorm128", "h200", 16384 // 8, 128, [16384 * 256, 256, 16384 * 256], 3.5, CUDNN + ": 4 and 3"),
    ("softmax8192", "h100", 32768, 256, [32768 * 8192 * 2] * 2, 32768 * 8192 * 4 / 3.01e6, "3.01 TB/s: Guo, Zadouri, Dao, as above"),
    ("sgemm", "a100", 27 * 32, 256, [3456 * 4096 * 4, 4096 * 4096 * 4, 3456 * 4096 * 4], 6737,
     "NVIDIA/cutlass, media/docs/profiler.md: cutlass_simt_sgemm_128x128_8x2; the GPU is not named, its rate is 88 % of an A100's peak"),
    ("products", "a100", 108 * 2, 256, [108 * 2 * 1024], 108 * 2 * 8 * 1024 * 8 * FLOPS_OF_PRODUCT / 312e6, "A100 white paper: 312 TFLOP/s"),
    ("products", "h100", 132 * 2, 256, [132 * 2 * 1024], 132 * 2 * 8 * 1024 * 8 * FLOPS_OF_PRODUCT / (0.62 * 989e6),
     "62 % of 989 TFLOP/s by mma.sync: Luo et al., arXiv 2402.13499; mma_fma of the table is this"),
]
FAR = {  # (kernel, device, grid) -> why it may be further off
    ("rmsnorm128", "h200", 16384 // 8): "published in whole microseconds and without a launch, which takes 2.5 in the runs that the table is fitted to",
}


def load(path, name):
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def compiled(root, folder):
    """Architecture -> path of its PTX and registers by kernel."""
    variants = load(HERE.parent / "check-variants.py", "variants")
    library, headers, made = variants.nvrtc(), variants.headers_of(root), {}
    for architecture in ("sm_80", "sm_90a"):
        log, ptx, done = variants.compile_text(library, headers, (HERE / "known.cu").read_text(), architecture)
        if not done:
            sys.exit(log)
        path = folder / f"{architecture}.ptx"
        path.write_text(ptx)
        registers, name = {}, None
        for line in log.splitlines():
            if match := re.search(r"Compiling entry function '(\w+)'", line):
                name = match[1]
            elif (match := re.search(r"Used (\d+) registers", line)) and name:
                registers[name] = int(match[1])
        made[architecture] = path, registers
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("counter")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--table", action="store_true", help="print all numbers")
    options = parser.parse_args()
    sys.path.insert(0, str(options.root / "benchmarks"))
    from suite import prediction
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        made = compiled(options.root.resolve(), pathlib.Path(folder))
        for kernel, name, grid, threads, buffers, published, source in KNOWN:
            gpu = prediction.device(name)
            path, registers = made[gpu["image"]]
            words = [word for size in buffers for word in ("--buffer", str(size))]
            done = subprocess.run([options.counter, path, kernel, "--grid", str(grid), "--threads", str(threads), "--blocks", "4", *words],
                                  capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            step = {**json.loads(done.stdout), "registers": {gpu["image"]: registers[kernel]}}
            cache = prediction.L2(gpu)
            row = [prediction.kernel(step, gpu, cache) for _ in range(2)][1]  # as it comes again and again
            off = row["us"] / published - 1
            if options.table:
                times = " ".join(f"{unit}={us:.1f}" for unit, us in row["times"].items() if us > 0.05)
                print(f"{kernel:12} {name} predicted {row['us']:9.1f} us, published {published:9.1f}: {off:+.0%} ({row['limit']}; {times}; "
                      f"{registers[kernel]} registers, {row['resident']} resident)")
            reason = FAR.get((kernel, name, grid))
            if abs(off) > WITHIN and not reason:
                complaints.append(f"{kernel} on {name}: {row['us']:.1f} us are predicted, {published:.1f} published ({source})")
            if abs(off) <= WITHIN and reason:
                complaints.append(f"{kernel} on {name} is listed as further off, and is not")
    print(*complaints, sep="\n")
    print(f"{len(KNOWN)} known kernels, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
