"""What the checks of sources have in common: they print each fault as file:line, and are tested on small trees with known faults."""

import importlib.util
import pathlib
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent


def run(faults, sources):
    """Prints the faults of the tree that is named, or of this one. The exit status: 1 with a fault, or where there are no sources."""
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else FOLDER.parents[1])
    found, count = list(faults(root)), len(list(sources(root)))
    print(*found, f"{count} files, {len(found)} faults" if count else f"no sources under {root}", sep="\n")
    return 1 if found or not count else 0


def expect_faults(name, tree, wrong):
    """Fails unless the check `name` finds the faults `wrong`, as file:line, in a tree of files and their lines."""
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("check", FOLDER / name)
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, lines in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("\n".join(lines) + "\n")
        found = sorted(fault.split(": ")[0] for fault in check.faults(root))
    if found != wrong:
        sys.exit(f"found {found}\nwanted {wrong}")
