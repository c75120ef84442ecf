#!/usr/bin/env python3
"""Compiles every ```hyb block of the README and the book, so that no page shows what does not work.

A block that defines a model is compiled as it stands; one that only defines layers, or is a fragment,
must say ```hyb fragment and is left out. A block after <!-- error --> must be refused.

A block ```hyb NAME.hyb is also kept as that file. Blocks ```sh run are run by a shell, in a folder with the page's files and with test/,
models/ and build/bin/; the lines of a ```text block behind one must be in its output, in their order. There, "..." stands for anything
within a line, and any number of spaces for one. Blocks ```python run are run in the same way by Python, with the package; a page's blocks go on where
those before them ended. Blocks ```python torch, which may come behind them, need PyTorch and are run with --torch only.

usage: check-examples.py HYBRIDC [--torch]
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?P<error><!-- error -->\s*)?^```(?P<kind>hyb|sh run|python run|python torch)(?: (?P<file>[\w-]+\.hyb))? *\n(?P<code>.*?)^```\n?"
                   r"(?P<text>\s*^```text\n(?P<expected>.*?)^```)?", re.MULTILINE | re.DOTALL)


def squeeze(text):
    return " ".join(text.split())


def missing(expected, output):
    """The first line of `expected` that is not in `output` behind those before it; none if all are."""
    lines = iter(map(squeeze, output.splitlines()))
    for wanted in map(squeeze, expected.splitlines()):
        pattern = re.compile(".*".join(map(re.escape, wanted.split("..."))))
        if not any(pattern.search(line) for line in lines):
            return wanted
    return None


def compile_block(compiler, code, must_fail):
    """What is wrong; empty if nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".hyb") as file:
        file.write(code)
        file.flush()
        result = subprocess.run([compiler, file.name, "--emit=hybrid", "-o", "/dev/null"],
                                capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    if result.returncode == (1 if must_fail else 0):
        return ""
    return f"exit status {result.returncode}, expected {'a refusal' if must_fail else 'success'}\n{result.stderr}"


def run_block(folder, binaries, command, code, expected):
    """What is wrong; empty if nothing."""
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache"),
                   "HYBRID_BUILD": str(binaries.parent), "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run([*command, code], cwd=folder, env=environment,
                            capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=900)
    if result.returncode:
        return f"exit status {result.returncode}\n{result.stdout}{result.stderr}"
    lost = missing(expected or "", result.stdout)
    return "" if lost is None else f"does not print '{lost}' there, but\n{result.stdout}"


def main():
    compiler = pathlib.Path(sys.argv[1]).resolve()
    checked = failed = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs" / "book").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "build").mkdir()
            (folder / "build" / "bin").symlink_to(compiler.parent)
            for link in ("test", "models"):
                (folder / link).symlink_to(ROOT / link)
            python = ""  # the page's blocks so far
            for block in BLOCK.finditer(text):
                if block["kind"] == "hyb":
                    if block["file"]:
                        (folder / block["file"]).write_text(block["code"], encoding="utf-8")
                    fault = compile_block(compiler, block["code"], bool(block["error"]))
                elif block["kind"] == "sh run":
                    fault = run_block(folder, compiler.parent, ["bash", "-euo", "pipefail", "-c"], block["code"], block["expected"])
                elif block["kind"] == "python torch" and "--torch" not in sys.argv:
                    continue
                else:
                    python += block["code"]
                    fault = run_block(folder, compiler.parent, [sys.executable, "-c"], python, block["expected"])
                checked += 1
                if fault:
                    failed += 1
                    print(f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, block.start('code'))}: {fault}")
    print(f"{checked - failed} of {checked} examples as the pages say")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
