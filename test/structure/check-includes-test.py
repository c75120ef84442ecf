#!/usr/bin/env python3
"""check-includes.py finds what points the wrong way, and nothing else."""

import importlib.util
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("check_includes", pathlib.Path(__file__).parent / "check-includes.py")
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

TREE = {
    "executable/Permutation.h": ['#include "runtime/Result.h"'],
    "dialect/Ops.td": ['include "mlir/IR/OpBase.td"', 'include "dialect/Base.td"', 'include "passes/Passes.td"'],
    "runtime/Session.cpp": ['#include "executable/Format.h"', "#include <codegen>", '#include "training/Trainer.h"'],
    "training/tasks/Task.h": ['#include "runtime/Result.h"', '  #  include "laboratory/Suite.h"'],
    "laboratory/Suite.cpp": ['#include "executable/Format.h"', '#include "frontends/dsl/Parser.h"'],
    "codegen/cuda/Emit.cpp": ['#include "dialect/Ops.h"', '#include "test/cuda/shim/Shim.h"', '#include "../Code.h"'],
    "tools/hybrid-run/Train.cpp": ['#include "laboratory/Report.h"', '#include "tools/compiler/Driver.h"'],
}
WRONG = ["codegen/cuda/Emit.cpp:2", "codegen/cuda/Emit.cpp:3", "dialect/Ops.td:3", "executable/Permutation.h:1",
         "laboratory/Suite.cpp:2", "runtime/Session.cpp:3", "tools/hybrid-run/Train.cpp:2", "training/tasks/Task.h:2"]

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    for path, lines in TREE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("\n".join(lines) + "\n")
    found = sorted(fault.split(": ")[0] for fault in check.faults(root))
if found != WRONG:
    sys.exit(f"found {found}\nwanted {WRONG}")
