"""Checks that every numbered constraint of the dialect's documentation is violated by a test.

usage: check-constraints.py FOLDER FILE.td...

A description numbers what its verifier checks ("- C2: bias has `out` elements"); the test that violates it says so in a comment of
a file FOLDER/*-invalid.mlir ("// linear C2: ..."). Fails when a constraint has no test.
"""

import glob
import os
import re
import sys


def constraints(path):
    """Yields (mnemonic, number) for the numbered constraints of one .td file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for body in re.split(r"^(?=def )", text, flags=re.M):
        match = re.match(r'def \w+\s*:\s*(?:Hybrid|Schedule)_(?:Pure)?(?:Op|Step)<"(\w+)"', body)
        for number in re.findall(r"- (C\d+):", body) if match else ():
            yield match.group(1), number


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    tests = ""
    for path in glob.glob(os.path.join(arguments[1], "*-invalid.mlir")):
        with open(path, encoding="utf-8") as file:
            tests += file.read()
    count, missing = 0, 0
    for path in arguments[2:]:
        for mnemonic, number in constraints(path):
            count += 1
            if not re.search(rf"^// {mnemonic} {number}\b", tests, re.M):
                missing += 1
                print(f"error: {path}: no test violates {mnemonic} {number}", file=sys.stderr)
    print(f"{count} constraints, {missing} without a test")
    return 1 if missing or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
