#!/usr/bin/env python3
"""Compiles models for GPUs and compares what their kernels take of a multiprocessor with budgets.

Registers, shared memory and spills decide how many blocks run at a time, and nothing but this table
would say when a change doubles one of them. A kernel is what its template is called, apart in f64;
the number is the largest over all its uses in the models below. `--update` writes the table anew.

Nothing spills, and no kernel reads or writes by generic addresses, of which a GPU finds out at each access which
memory they are in (LD and ST of SASS, instead of LDG and STG), but what `spills` and `generic` of the table list, by
hand: the kernel, how many bytes, or accesses, in any of its uses, and the reason. An entry that no kernel needs is a
complaint too (of check-variants.py, where it is `of` the "variants" there, which no model here launches), and so is a row of
codegen/cuda/ResidentBlocks.inc.

With --architecture only that one is compiled for, and with --quick only the models at the sizes people train; entries
that no kernel needs are no complaint then: the other architecture, or sizes, may need them.

usage: check-budgets.py HYBRIDC ROOT BUDGETS.json [[--architecture A] [--quick] | --update]
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from allowance import exceeds

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
    ("benchmarks/ops/long_convolution.hyb", "--batch 8 --length 131072 --set taps=131072 --set channels=768"),
]
# Shapes that take the most registers: wide heads, many states, long convolutions.
WIDE = [
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 256 --set taps=256 --precision bf16"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 1024 --set taps=1024"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 2048 --set taps=2048"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 4096 --set taps=4096"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 16384 --set taps=16384"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 8 --length 131072 --set taps=131072"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 2048 --set taps=2048 --precision bf16"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 4096 --set taps=4096 --precision bf16"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 8192 --set taps=8192 --precision bf16"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 64 --length 16384 --set taps=16384 --precision bf16"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 8 --length 131072 --set taps=131072 --precision bf16"),
    ("benchmarks/ops/attention.hyb", "--batch 8 --length 2048 --set heads=1 --set width=128"),
    ("benchmarks/ops/attention.hyb", "--batch 8 --length 2048 --set heads=1 --set width=256"),
    ("benchmarks/ops/attention.hyb", "--batch 8 --length 2048 --set heads=1 --set width=128 --precision bf16"),
    ("benchmarks/ops/attention.hyb", "--batch 8 --length 2048 --set heads=1 --set width=256 --precision bf16"),
    ("benchmarks/ops/selective_scan.hyb", "--batch 8 --length 2048 --set channels=1536 --set states=16"),
    ("benchmarks/ops/selective_scan.hyb", "--batch 8 --length 2048 --set channels=512 --set states=64"),
    ("models/mad/gated-linear-attention-swiglu.hyb", "--batch 8 --length 1024 --set heads=1"),
    ("models/mad/gated-linear-attention-swiglu.hyb", "--batch 8 --length 1024 --set heads=2 --precision bf16"),
]
# f64, in which gradients are checked: the kernels of every op.
EXACT = [
    ("models/mad/attention-moe.hyb", "--batch 2 --length 64"),
    ("models/mad/striped-mamba-swiglu.hyb", "--batch 2 --length 64"),
    ("models/mad/rwkv6.hyb", "--batch 2 --length 64"),
    ("models/mad/rwkv.hyb", "--batch 2 --length 64"),
    ("models/mad/gated-linear-attention-swiglu.hyb", "--batch 2 --length 256 --set heads=1"),
    ("benchmarks/ops/attention.hyb", "--batch 2 --length 256 --set heads=1 --set width=64"),
    ("benchmarks/ops/selective_scan.hyb", "--batch 2 --length 256 --set channels=64 --set states=16"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 2 --length 33 --set taps=33 --set channels=8"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 4 --length 1024 --set taps=1024 --set channels=64"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch 4 --length 16384 --set taps=16384 --set channels=64"),
    ("test/golden/adapters/hyena.hyb", "--batch 2 --length 40 --set width=8 --set order=3 --set taps=4 --set l_max=64 --set filter_width=8"),
    ("test/golden/adapters/hyena_modal.hyb", "--batch 2 --length 33 --set width=8 --set states=2 --set heads=2 --set by_heads=true --set taps=3"),
    ("test/golden/adapters/gss.hyb", "--batch 2 --length 33 --set width=8 --set expansion=2 --set narrow=4 --set states=6"),
    ("test/golden/adapters/aft_conv.hyb", "--batch 2 --length 33 --set width=8 --set heads=2 --set taps=5"),
]
USES = MODELS + WIDE + [(model, arguments + " --precision f64") for model, arguments in EXACT]
FIELDS = ["registers", "shared_bytes", "stack_bytes"]
LISTED = {"spills": "spill_bytes", "generic": "generic_accesses"}  # what is allowed by name only
GENERATED = re.compile(r"^(fused|copy|fill|reduce|row_sums|merged)_\d+$")


def compile_model(hybridc, root, architectures, model, arguments):
    command = [hybridc, str(root / model), *arguments.split(), "--target=cuda:" + ",".join(architectures), "--emit=resources"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def name_of(kernel, arguments):
    name = kernel["kernel"].split("<")[0]
    match = GENERATED.match(name)
    name = "generated " + match[1] if match else name
    return name + " f64" if arguments.endswith("f64") else name


def measure(hybridc, root, architectures, uses):
    """The budgets of an architecture; of LISTED (architecture, kernel) -> how many, and the use that has most; and the
    launches for which the compiler was told how many blocks share a multiprocessor."""
    table, listed, resident = {architecture: {} for architecture in architectures}, {kind: {} for kind in LISTED}, set()
    # Programs for several GPUs keep to the shared memory of the smallest: the others have kernels of their own when alone.
    compiled = [(use, targets) for targets in ([architectures] + [architectures[-1:]] * (len(architectures) > 1)) for use in uses]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda each: compile_model(hybridc, root, each[1], *each[0]), compiled)
        for ((model, arguments), _), result in zip(compiled, results):
            for architecture, kernels in result.items():
                for kernel in kernels:
                    name = name_of(kernel, arguments)
                    entry = table[architecture].setdefault(name, dict.fromkeys(FIELDS, 0))
                    for field in FIELDS:
                        # The stack of a kernel that spills is what it spills.
                        if field != "stack_bytes" or not kernel["spill_bytes"]:
                            entry[field] = max(entry[field], kernel[field])
                    for kind, field in LISTED.items():
                        if kernel[field] > listed[kind].get((architecture, name), (0, ""))[0]:
                            listed[kind][architecture, name] = kernel[field], f"{model} {arguments}"
                    if kernel["blocks"] > 1:
                        template, element = re.match(r"(\w+)<(\w+),", kernel["kernel"]).groups()
                        has = " ".join(re.findall(r"\.(has\w+) = 1\b", kernel["kernel"]))
                        resident.add((template, element, has, kernel["threads"], kernel["shared_bytes"], kernel["blocks"]))
    return {architecture: dict(sorted(kernels.items())) for architecture, kernels in table.items()}, listed, resident


def compare(measured, budgets, whole):
    complaints = []
    for architecture in measured:
        have, allowed = measured[architecture], budgets.get(architecture, {})
        for kernel in sorted(have.keys() | allowed.keys()):
            if kernel not in allowed:
                complaints.append(f"{architecture}: {kernel} has no budget")
            elif kernel in have:
                complaints += [f"{architecture}: {kernel} takes {have[kernel][field]} {field}, its budget is {allowed[kernel][field]}"
                               for field in FIELDS if exceeds(field, have[kernel][field], allowed[kernel][field])]
            elif whole:
                complaints.append(f"{architecture}: {kernel} has a budget, but no model launches it")
    return complaints


def compare_listed(kind, measured, exceptions, whole):
    complaints = [f"{kind}: {entry['kernel']} is listed without a reason" for entry in exceptions if not entry.get("reason")]
    for (architecture, kernel), (count, use) in sorted(measured.items()):
        allowed = max((entry["most"] for entry in exceptions if entry["kernel"] == kernel), default=0)
        if count > allowed:
            complaints.append(f"{architecture}: {kernel} has {count} {LISTED[kind]}, {allowed} are allowed, in {use}")
    found = {kernel for _, kernel in measured}
    return complaints + [f"{kind}: {entry['kernel']} is listed, and has none" for entry in exceptions
                         if whole and entry["kernel"] not in found and entry.get("of") != "variants"]


def compare_resident(resident, root):
    text = (root / "codegen/cuda/ResidentBlocks.inc").read_text()
    complaints = []
    for template, element, has, numbers in re.findall(r'{"(\w+)", "(\w+)", "([\w ]*)", ([0-9, ]+)}', text):
        plain = has.removesuffix("rounded").rstrip()  # of how activations lie in memory `resources` says nothing
        if (template, element, plain, *map(int, numbers.split(", "))) not in resident:
            complaints.append(f"ResidentBlocks.inc: no model here launches {template}, {element}, '{has}', {numbers}")
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("hybridc")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("budgets", type=pathlib.Path)
    parser.add_argument("--architecture", choices=ARCHITECTURES, help="compile for this one only")
    parser.add_argument("--quick", action="store_true", help="the sizes people train only")
    parser.add_argument("--update", action="store_true", help="write the table anew")
    options = parser.parse_args()
    root, path, whole = options.root, options.budgets, not options.architecture and not options.quick
    if options.update and not whole:
        sys.exit("--update writes the whole table: leave --architecture and --quick out")
    architectures = [options.architecture] if options.architecture else ARCHITECTURES
    measured, listed, resident = measure(options.hybridc, root, architectures, MODELS if options.quick else USES)
    budgets = json.loads(path.read_text())
    exceptions = {kind: budgets.get(kind, []) for kind in LISTED}
    complaints = [complaint for kind in LISTED for complaint in compare_listed(kind, listed[kind], exceptions[kind], whole)]
    if whole:
        complaints += compare_resident(resident, root)
    if options.update:
        path.write_text(json.dumps({**measured, **exceptions}, indent=1) + "\n")
        advice = "Spills and generic accesses are listed by hand, with a reason; test/cuda/resident-blocks.py --update makes the table of blocks."
    else:
        complaints += compare(measured, budgets, whole)
        advice = "If the change is meant, write the table anew: test/cuda/check-budgets.py HYBRIDC ROOT BUDGETS.json --update"
    for complaint in complaints:
        print(complaint)
    print(f"{sum(map(len, measured.values()))} kernels, {len(listed['spills'])} spill, {len(listed['generic'])} have generic accesses, {len(complaints)} complaints")
    if complaints:
        sys.exit(advice)


if __name__ == "__main__":
    main()
