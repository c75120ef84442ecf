#!/usr/bin/env python3
"""Law: whatever text hybridc is given, it ends soon with status 0 or 1, and status 1 comes with an error that has a place.

Takes the models of the tree, damages them in reproducible ways (bytes, tokens, lines, numbers, nesting) and compiles them to IR.

usage: mutated-models.py HYBRIDC MODELS_DIR [ROUNDS] [SEED]
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile

TOKENS = re.compile(rb"[A-Za-z_]\w*|\d+\.?\d*|\"[^\"]*\"|\.\.\.|->|\+=|\S")
WORDS = [b"let", b"layer", b"model", b"for", b"in", b"(", b")", b"[", b"]", b"{", b"}", b"...", b"..", b"0", b"-1", b"1e400", b"99999999999999999999",
         b"1000000000", b"x", b"B", b"L", b"op.", b"param", b"topology", b'"(((HA) x 4096) x 4096"', b'"', b"with", b"if", b"none", b"return", b"\x00", b"\xff", b"/", b"%"]


def mutate(text, rng):
    kind = rng.randrange(7)
    if kind == 0:  # bytes
        data = bytearray(text)
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data)
    if kind == 1:  # cut
        return text[: rng.randrange(len(text))]
    if kind == 2:  # a token for another
        spans = [m.span() for m in TOKENS.finditer(text)]
        start, end = rng.choice(spans)
        return text[:start] + rng.choice(WORDS) + text[end:]
    if kind == 3:  # a token of the same file for another
        spans = [m.span() for m in TOKENS.finditer(text)]
        (start, end), (a, b) = rng.choice(spans), rng.choice(spans)
        return text[:start] + text[a:b] + text[end:]
    if kind == 4:  # lines lost, doubled, moved
        lines = text.split(b"\n")
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i] = rng.choice([b"", lines[i] + b"\n" + lines[i], lines[j]])
        return b"\n".join(lines)
    if kind == 5:  # other numbers
        numbers = [m.span() for m in re.finditer(rb"\b\d+\b", text)]
        if not numbers:
            return text
        start, end = rng.choice(numbers)
        return text[:start] + rng.choice([b"0", b"1", b"-1", b"3", b"7", b"1000000", b"9223372036854775807"]) + text[end:]
    at = rng.randrange(len(text))  # deep nesting
    return text[:at] + rng.choice([b"(", b"[", b"{", b"-", b"f("]) * rng.choice([50, 5000]) + text[at:]


def main():
    hybridc, models = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    sources = sorted(models.rglob("*.hyb"))
    if not sources:
        sys.exit(f"no models in {models}")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mutant.hyb"
        for index in range(rounds):
            mutant = mutate(rng.choice(sources).read_bytes(), rng)
            path.write_bytes(mutant)
            command = [hybridc, str(path), "-I", str(models), "--emit=specialized"]
            try:
                result = subprocess.run(command, capture_output=True, timeout=60)
                status, errors = result.returncode, result.stderr
            except subprocess.TimeoutExpired:
                status, errors = "a time-out", b""
            placed = re.search(rb"\.hyb:\d+:\d+: error: ", errors) is not None
            if status == 0 or (status == 1 and placed):
                continue
            failures += 1
            kept = pathlib.Path(f"mutant-{index}.hyb")
            kept.write_bytes(mutant)
            print(f"mutant {index} (kept as {kept}): ended with {status}\n{errors[-600:].decode(errors='replace')}")
    print(f"mutated models: {rounds - failures} passed, {failures} failed")
    sys.exit(1 if failures else 0)


main()
