"""Runs the code of a notebook, cell by cell, as Jupyter would: by default docs/notebooks/swap-a-mixer.ipynb, of which it also checks that both mixers
learn.

usage: notebook.py [NOTEBOOK]
"""

import json
import os
import pathlib
import sys
import tempfile

import support

SWAP = support.ROOT / "docs" / "notebooks" / "swap-a-mixer.ipynb"


def code_cells(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if (notebook["nbformat"], notebook["nbformat_minor"]) != (4, 5):
        sys.exit(f"{path}: of format {notebook['nbformat']}.{notebook['nbformat_minor']}, expected 4.5")
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        if cell["outputs"] or cell["execution_count"]:
            sys.exit(f"{path}: cell {number} keeps what it printed: clear all outputs before you save it")
        yield number, "".join(cell["source"])


def run(path):
    """The names that it leaves behind."""
    names = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, code in code_cells(path):
            exec(compile(code, f"{path.name}, cell {number}", "exec"), names)
        os.chdir("/")
    return names


def main():
    path = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else SWAP
    names = run(path)
    if path != SWAP:
        return
    for name, losses in names["losses"].items():
        first, last = losses[0], sum(losses[-20:]) / 20
        if not last < 0.7 * first:
            sys.exit(f"{path}: {name} does not learn: its loss went from {first:.3f} to {last:.3f}")
    if len(names["losses"]) != 2:
        sys.exit(f"{path}: {list(names['losses'])} are trained, expected two mixers")


if __name__ == "__main__":
    main()
