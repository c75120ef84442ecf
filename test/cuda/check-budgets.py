#!/usr/bin/env python3
"""Compiles models for GPUs and compares what their kernels take of a multiprocessor with budgets.

Registers, shared memory and spills decide how many blocks run at a time, and nothing but this table
would say when a change doubles one of them. A kernel is what its template is called; the number is
the largest over all its uses in the models below. `--update` writes the table anew.

usage: check-budgets.py HYBRIDC ROOT BUDGETS.json [--update]
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

ARCHITECTURES = ["sm_80", "sm_90a"]
MODELS = [  # model under ROOT, arguments: every kernel of the library, at the sizes people train
    ("models/mad/attention-moe.hyb", "--batch 128 --length 128 --precision bf16"),
    ("models/mad/hyena-swiglu.hyb", "--batch 128 --length 128 --precision bf16"),
    ("models/mad/striped-multihead-hyena-swiglu.hyb", "--batch 128 --length 128"),
    ("models/mad/mamba.hyb", "--batch 128 --length 128"),
    ("models/mad/striped-mamba-swiglu.hyb", "--batch 8 --length 2048 --precision bf16"),
    ("models/mad/gated-linear-attention-swiglu.hyb", "--batch 128 --length 128"),
    ("models/mad/rwkv6.hyb", "--batch 128 --length 128"),
    ("models/mad/rwkv.hyb", "--batch 128 --length 128"),
    ("models/mad/rwkv.hyb", "--batch 1 --length 4096"),
    ("models/mad/mamba.hyb", "--batch 1 --length 4096"),
    ("models/mad/gated-linear-attention-swiglu.hyb", "--batch 1 --length 4096"),
    ("models/mad/sliding-attention-swiglu.hyb", "--batch 16 --length 1024"),
    ("test/models/Inputs/cudnn-attention.hyb", "--batch 8 --length 2048 --precision bf16 --set heads=16 --set kv_heads=4 --set rotary=64 --set keys=2048"),
    ("benchmarks/ops/long_convolution.hyb", "--batch 64 --length 1024 --set taps=1024 --set channels=768"),
    ("benchmarks/ops/long_convolution.hyb", "--batch 64 --length 8192 --set taps=8192 --set channels=768"),
    ("benchmarks/ops/long_convolution.hyb", "--batch 8 --length 65536 --set taps=65536 --set channels=768"),
]
FIELDS = ["registers", "shared_bytes", "spill_bytes", "stack_bytes"]
GENERATED = re.compile(r"^(fused|copy|fill|reduce|row_sums|merged)_\d+$")


def compile_model(hybridc, root, model, arguments):
    command = [hybridc, str(root / model), *arguments.split(), "--target=cuda:" + ",".join(ARCHITECTURES), "--emit=resources"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def measure(hybridc, root):
    table = {architecture: {} for architecture in ARCHITECTURES}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda entry: compile_model(hybridc, root, *entry), MODELS)
        for result in results:
            for architecture, kernels in result.items():
                for kernel in kernels:
                    name = kernel["kernel"].split("<")[0]
                    match = GENERATED.match(name)
                    entry = table[architecture].setdefault("generated " + match[1] if match else name, dict.fromkeys(FIELDS, 0))
                    for field in FIELDS:
                        entry[field] = max(entry[field], kernel[field])
    return {architecture: dict(sorted(kernels.items())) for architecture, kernels in table.items()}


def compare(measured, budgets):
    complaints = []
    for architecture in ARCHITECTURES:
        have, allowed = measured[architecture], budgets.get(architecture, {})
        for kernel in sorted(have.keys() | allowed.keys()):
            if kernel not in allowed:
                complaints.append(f"{architecture}: {kernel} has no budget")
            elif kernel not in have:
                complaints.append(f"{architecture}: {kernel} has a budget, but no model launches it")
            else:
                complaints += [f"{architecture}: {kernel} takes {have[kernel][field]} {field}, its budget is {allowed[kernel][field]}"
                               for field in FIELDS if have[kernel][field] > allowed[kernel][field]]
    return complaints


def main():
    hybridc, root, path = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    measured = measure(hybridc, root)
    if "--update" in sys.argv:
        path.write_text(json.dumps(measured, indent=1) + "\n")
        return
    complaints = compare(measured, json.loads(path.read_text()))
    for complaint in complaints:
        print(complaint)
    print(f"{sum(map(len, measured.values()))} kernels, {len(complaints)} complaints")
    if complaints:
        sys.exit("If the change is meant, write the table anew: test/cuda/check-budgets.py HYBRIDC ROOT BUDGETS.json --update")


if __name__ == "__main__":
    main()
