#!/usr/bin/env python3
"""Includes between the top folders point down only: fails with file:line for each that goes up or sideways.

  usage: test/structure/check-includes.py [ROOT]

A folder may include from itself, from those named for it below, and from what those may include. `.td` files count.
"""

import re
import sys

import checks

BELOW = {
    "executable": [],
    "dialect": ["executable"],
    "passes": ["dialect"],
    "formats": [],
    "frontends": ["dialect", "formats"],
    "codegen": ["passes", "formats"],
    "runtime": ["executable"],
    "training": ["runtime"],
    "laboratory": ["training"],
    "tools/commandline": ["executable"],
    "tools/compiler": ["tools/commandline", "frontends", "codegen", "runtime"],  # of that its files of weights, for exports
    "tools/hybrid-lsp": ["tools/commandline", "frontends"],
    "tools/tablegen": [],
    "tools/hybrid-run": ["tools/commandline", "laboratory"],
    "tools/hybrid-serve": ["tools/hybrid-run"],
    "benchmarks": ["codegen", "training"],
}
ALL = ("test", "cmake")  # may include everything
SOURCES = (".c", ".cpp", ".h", ".cu", ".cuh", ".td", ".in", ".S")
INCLUDE = re.compile(r'^\s*#?\s*(?:include|incbin)\s+"([^"]+)"')


def allowed(folder):
    """The folder and all that is below it."""
    found = {folder}
    for below in BELOW[folder]:
        found |= allowed(below)
    return found


def folder_of(path):
    """The part of the house that a path from the root lies in; None: none of ours."""
    parts = path.split("/")
    for folder in (parts[0], "/".join(parts[:2])):
        if folder in BELOW or folder in ALL:
            return folder
    return parts[0] if parts[0] == "tools" else None


def sources(root):
    for top in sorted({folder.split("/")[0] for folder in BELOW}):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES:
                yield path.relative_to(root).as_posix()


def faults(root):
    for source in sources(root):
        folder = folder_of(source)
        if folder not in BELOW:
            yield f"{source}:1: lies in no folder that check-includes.py knows"
            continue
        for number, line in enumerate((root / source).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            included = match[1]
            if included.startswith("."):
                yield f'{source}:{number}: "{included}": headers are included from the root of the tree'
                continue
            target = folder_of(included)
            if target and target not in allowed(folder):
                below = ", ".join(sorted(allowed(folder) - {folder})) or "nothing"
                yield f'{source}:{number}: "{included}": {folder}/ may include from {below} only'


if __name__ == "__main__":
    sys.exit(checks.run(faults, sources))
