#!/usr/bin/env python3
"""Compiles every ```hyb block of the README and the book, so that no page shows what does not work.

A block that defines a model is compiled as it stands; one that only defines layers, or is a fragment,
must say ```hyb fragment and is left out. A block after <!-- error --> must be refused.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(text):
    """(line, whether it must be refused, code) of every block."""
    for match in re.finditer(r"(<!-- error -->\s*)?^```hyb *\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start(2)), bool(match[1]), match[2]


def main():
    compiler = pathlib.Path(sys.argv[1])
    checked = failed = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs" / "book").glob("*.md"))]:
        for line, must_fail, code in blocks(page.read_text(encoding="utf-8")):
            with tempfile.NamedTemporaryFile("w", suffix=".hyb") as file:
                file.write(code)
                file.flush()
                result = subprocess.run([compiler, file.name, "--emit=hybrid", "-o", "/dev/null"],
                                        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
            checked += 1
            if result.returncode != (1 if must_fail else 0):
                failed += 1
                print(f"{page.relative_to(ROOT)}:{line}: exit status {result.returncode}, expected "
                      f"{'a refusal' if must_fail else 'success'}\n{result.stderr}")
    print(f"{checked - failed} of {checked} examples as the pages say")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
