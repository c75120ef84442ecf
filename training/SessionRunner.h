//===- SessionRunner.h - a session as the trainer sees it --------------------===//
#pragma once
#include "runtime/Session.h"
#include "training/StepRunner.h"
#include <memory>

namespace hybrid::rt {

/// Checks that the executable has what training (or evaluation only) needs; errors say what to
/// compile. Blocks have at most `longestBlock` steps: an epoch of 12800 instances in batches of 128
/// is one of 100.
Result<std::unique_ptr<StepRunner>> makeSessionRunner(Session &session, bool training,
                                                      int64_t longestBlock = 128);

} // namespace hybrid::rt
