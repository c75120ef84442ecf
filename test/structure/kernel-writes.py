#!/usr/bin/env python3
"""What contracts say that kernels write is what the kernels for CUDA take as pointers to change.

usage: kernel-writes.py [--verbose]

A contract codegen/kernels/X.h lists the buffers that each of its kernels writes (codegen/kernels/Kernel.h), and passes of the schedule
move steps by it. In codegen/kernels/cuda/X.cuh what is only read is a pointer to const, which the compiler of that text keeps to; of an
activation, whose type is a parameter of the template, readable() makes such a pointer and writable() one to change.
"""

import pathlib
import re
import sys

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "codegen" / "kernels"
CONTRACT = re.compile(r'struct \w+\s*:\s*KernelOf<[\w:]+,\s*"(\w+)"((?:,\s*\d+)*)> \{(.*?)\n\};', re.S)
ALL_FROM = re.compile(r"buffer >= \(onCpu \? \d+ : (\d+)\)")
KERNEL = re.compile(r"template <([^{}]*?)>\s*HYBRID_DEVICE\s+void\s+(\w+)\(int64_t item,?([^)]*)\)\s*\{", re.S)


def contracts():
    """The buffers that a kernel writes on CUDA, by the name of its function there."""
    found = {}
    for path in sorted(KERNELS.glob("*.h")):
        for name, numbers, body in CONTRACT.findall(path.read_text()):
            first, *rest = name.split("_")
            written = [int(number) for number in numbers.split(",")[1:]]
            found[first + "".join(word.capitalize() for word in rest)] = ALL_FROM.search(body) or written
    return found


def changed(parameters, body):
    """Numbers of the parameters that a kernel may change, and of its store: an object, or all that is left."""
    pointers, stores = [], []
    for number, parameter in enumerate(part.strip() for part in re.split(r",(?![^<]*>)", parameters)):
        name = parameter.split()[-1] if parameter else ""
        if re.search(rf"\bwritable<\w+>\({re.escape(name)}\)", body):
            pointers.append(number)
        elif "*" not in parameter and re.search(rf"\breadable<\w+>\({re.escape(name)}\)", body):
            continue
        elif "*" not in parameter or "..." in parameter:
            stores.append(number)
        elif not parameter.startswith("const "):
            pointers.append(number)
    return pointers, stores


def main():
    known, seen, faults = contracts(), 0, []
    for path in sorted((KERNELS / "cuda").glob("*.cuh")):
        text = path.read_text()
        for kernel in KERNEL.finditer(text):
            _, name, parameters = kernel.groups()
            if name not in known:
                continue
            pointers, stores = changed(parameters, text[kernel.end():text.index("\n}\n", kernel.end())])
            seen += 1
            written = known[name]
            if not isinstance(written, list):
                written = list(range(int(written[1]), parameters.count(",") + 1))
            if written != pointers:
                faults.append(f"{path.name}: {name} may change {pointers} beside {stores}, its contract says that it writes {written}")
            elif "--verbose" in sys.argv:
                print(name, pointers, stores)
    for fault in faults:
        print(fault)
    print(f"{seen} of {len(known)} kernels have such a form, {len(faults)} differ from their contracts")
    return 1 if faults or seen < len(known) * 3 // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
