#!/usr/bin/env python3
"""check-writers.py finds what writes files by itself, and nothing else."""

import importlib.util
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("check_writers", pathlib.Path(__file__).parent / "check-writers.py")
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

TREE = {
    "executable/OutputFile.cpp": ["rename(a, b);"],
    "codegen/cpu/LinkObject.cpp": ["llvm::raw_fd_ostream stream(descriptor, true);"],
    "runtime/Read.cpp": ["#include <fstream>", "std::ifstream file(path);", "open(path, O_RDONLY | O_CLOEXEC);", "// ofstream", "text.truncate(3);"],
    "runtime/Write.cpp": ['int f = open(path, O_WRONLY);', 'say("rename(");', "std::ofstream file(path);"],
    "training/Rename.cpp": ["  fs::rename(a, b);"],
    "laboratory/Log.cpp": ['FILE *f = std::fopen(path, "w");'],
    "tools/Folder.h": ["  mkdtemp(place.data());"],
    "test/Anything.cpp": ["std::ofstream file(path);"],
}
WRONG = ["codegen/cuda/CompileForShim.cpp:1", "laboratory/Log.cpp:1", "runtime/Write.cpp:1", "runtime/Write.cpp:3", "tools/Folder.h:1",
         "training/Rename.cpp:1"]

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    for path, lines in TREE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("\n".join(lines) + "\n")
    found = sorted(fault.split(": ")[0] for fault in check.faults(root))
if found != WRONG:
    sys.exit(f"found {found}\nwanted {WRONG}")
