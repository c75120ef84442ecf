#!/usr/bin/env python3
"""Programs of every op, whose numbers are made extreme: hybridc compiles them or says what is wrong with them.

usage: extreme-numbers.py BIN CASES [--one-of N] [--any-memory] [--target TARGET] [--stage STAGE]

BIN: folder of hybridc. CASES: folder of .mlir files. Each integer of an attribute, and all integers that are equal, sizes among them, become each of
EXTREMES. With --one-of only every N-th program is compiled.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

EXTREMES = [0, 1, 3, 7, (1 << 31) - 1, 1 << 32, 1 << 40, (1 << 62) + 1, (1 << 63) - 1, -1, -(1 << 63)]
KINDS = {"unary": "gelu", "binary": "div", "reduce": "mean"}  # that stand for the others
MOST_SECONDS, MOST_BYTES = 30, 4 << 30
# Not what is a part of a name (%0, f32, i64) or of a number with a point.
INTEGER = re.compile(r"(?<![\w%@.\-])\d+(?![\w.])|(?<=[<x])\d+(?=x)")


def programs(text):
    """What changes, and the text with it."""
    found = list(INTEGER.finditer(text))
    for match in found:
        if text[match.end():match.end() + 1] == "x":
            continue  # a size alone does not match the others
        for extreme in EXTREMES:
            yield f"{match.group()} at byte {match.start()} is {extreme}", text[:match.start()] + str(extreme) + text[match.end():]
    for number in sorted({match.group() for match in found}):
        places = [match for match in found if match.group() == number]
        if len(places) == 1:
            continue
        for extreme in EXTREMES:
            changed, end = "", 0
            for match in places:
                changed, end = changed + text[end:match.start()] + str(extreme), match.end()
            yield f"all {number} are {extreme}", changed + text[end:]


def fault(command, text, expected=(0, 1)):
    """What went wrong, or nothing."""
    start = time.monotonic()
    pathlib.Path(command[1]).write_text(text)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, errors = process.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"took more than {MOST_SECONDS} seconds"
    if process.returncode not in expected:
        return f"exit status {process.returncode} after {time.monotonic() - start:.1f} s\n{errors[-2000:]}"
    if process.returncode == 1 and "error: " not in errors:
        return f"was refused without a reason\n{errors[-2000:]}"
    return f"internal error\n{errors[-2000:]}" if "internal error" in errors or "runtime error" in errors else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("--one-of", type=int, default=1)
    parser.add_argument("--any-memory", action="store_true", help="for sanitizers, whose shadow is larger than any limit")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--stage", default="schedule")
    options = parser.parse_args()
    folder = tempfile.TemporaryDirectory()
    command = [options.bin / "hybridc", pathlib.Path(folder.name) / "program.mlir", "--batch", "2", "--length", "8", f"--target={options.target}", f"--emit={options.stage}"]
    if not options.any_memory:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    files = sorted(options.cases.glob("*.mlir"))
    if not files:
        sys.exit(f"no .mlir files in {options.cases}")
    compiled = failed = number = 0
    for file in files:
        for case in file.read_text().replace("KIND", KINDS.get(file.stem, "KIND")).split("// -----"):
            if found := fault(command, case, expected=(0,)):
                sys.exit(f"{file.name}: as it is: {found}\n{case}")
            for what, text in programs(case):
                number += 1
                if number % options.one_of:
                    continue
                compiled += 1
                if found := fault(command, text):
                    failed += 1
                    print(f"{file.name}: {what}: {found}\n{text}", flush=True)
    print(f"extreme-numbers: {compiled} programs of {len(files)} files, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
