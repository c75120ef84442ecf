#!/usr/bin/env python3
"""check-writers.py finds what writes files by itself, and nothing else."""

import checks

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

checks.expect_faults("check-writers.py", TREE, WRONG)
