#!/usr/bin/env python3
"""check-includes.py finds what points the wrong way, and nothing else."""

import checks

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

checks.expect_faults("check-includes.py", TREE, WRONG)
