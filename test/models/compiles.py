#!/usr/bin/env python3
"""Compiles every model below a folder, but for its std/, up to the fused operations, at a size of its own and in a second one;
those of mad/ also for compression.

usage: compiles.py HYBRIDC MODELS_DIR
"""

import pathlib
import re
import subprocess
import sys

MODEL = re.compile(r"^model \w+\(", re.MULTILINE)


def main():
    compiler, models = sys.argv[1], pathlib.Path(sys.argv[2])
    sources = [path for path in sorted(models.rglob("*.hyb"))
               if path.relative_to(models).parts[0] != "std" and MODEL.search(path.read_text())]
    failed = 0
    for source in sources:
        name = source.relative_to(models)
        variants = [["--batch", "2", "--length", "64"], ["--batch", "3", "--length", "71", "--set", "vocab=32"]]
        if "readout:" in source.read_text():
            variants.append(["--batch", "2", "--length", "32", "--set", "readout=compression_head"])
        for arguments in variants:
            # Byte models have no vocabulary to set.
            if "vocab:" not in source.read_text():
                arguments = [argument for argument in arguments if argument not in ("--set", "vocab=32")]
            command = [compiler, source, "--emit=fused", "-o", "/dev/null", *arguments]
            result = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
            if result.returncode:
                failed += 1
                print(f"FAIL {name} {' '.join(arguments)}\n{result.stderr}")
        lines = source.read_text().count("\n")
        if lines > 60:
            failed += 1
            print(f"FAIL {name}: {lines} lines are more than a page")
    if not sources:
        sys.exit(f"no models in {models}")
    print(f"{len(sources)} models, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
