#!/usr/bin/env python3
"""Compares what is predicted of models on an H100 with budgets: microseconds, launches, and megabytes of memory traffic.

Registers alone (check-budgets.py) do not say that a change reads a tensor twice or adds a launch; this does. The numbers are
predictions (docs/book/gpu.md), so what counts is their change: more than 2 % over the budget is a complaint, and so is more than
10 % under it, which makes the budget worthless. `--update` writes the table anew.

usage: check-predictions.py BIN ROOT BUDGETS.json [--update]
"""

import argparse
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
DEVICE, OVER, UNDER = "h100", 1.02, 0.90
QUICK = ["hyena-swiglu-bf16", "mamba-bf16", "gated-deltanet-swiglu-bf16",
         "gated_convolution-channels768-batch64-length1024-bf16-vjp",
         "gated_convolution-channels768-batch64-length8192-bf16-forward",
         "attention-heads128-width1024-batch8-length2048-bf16-vjp"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("budgets", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="write the table anew")
    options = parser.parse_args()
    options.limit, options.devices = 900, None
    sys.path.insert(0, str(options.root.resolve() / "benchmarks"))
    from suite import gpu_predict
    cases = {case["name"]: case for case in gpu_predict.goals()}
    budgets = json.loads(options.budgets.read_text()) if options.budgets.exists() else {}
    complaints = []
    for name in QUICK:
        with tempfile.TemporaryDirectory() as folder:
            at = gpu_predict.predict_case(options, cases[name], [DEVICE], folder)["predicted"][DEVICE]
        found = {"us": round(at["ms"] * 1e3, 1), "launches": at["launches"], "dram_mb": round(at["dram_mb"], 1)}
        if options.update:
            budgets[name] = found
            continue
        allowed = budgets.get(name)
        if not allowed:
            complaints.append(f"{name} has no budget")
            continue
        for field, value in found.items():
            if value > allowed[field] * OVER:
                complaints.append(f"{name} takes {value} {field} on an {DEVICE} by the model, its budget is {allowed[field]}")
            elif value < allowed[field] * UNDER:
                complaints.append(f"{name} takes {value} {field} only, its budget is {allowed[field]}: write it anew")
    complaints += [f"{name} has a budget, and is no case here" for name in budgets.keys() - set(QUICK)]
    if options.update:
        options.budgets.write_text("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(budgets[name])}" for name in sorted(budgets)) + "\n}\n")
    for complaint in complaints:
        print(complaint)
    if complaints:
        print("If the change is meant, write the table anew: test/cuda/check-predictions.py BIN ROOT BUDGETS.json --update")
    print(f"{len(QUICK)} predictions, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
