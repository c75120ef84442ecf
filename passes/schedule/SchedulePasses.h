//===- SchedulePasses.h - passes on the schedule dialect --------------------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"
#include "mlir/Pass/Pass.h"

namespace hybrid {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/schedule/Passes.h.inc"

} // namespace hybrid
