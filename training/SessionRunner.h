//===- SessionRunner.h - a session as the trainer sees it --------------------===//
#pragma once
#include "executable/SessionMemory.h"
#include "runtime/Session.h"
#include "training/StepRunner.h"
#include <memory>

namespace hybrid::rt {

/// Checks that the executable has what training (or evaluation only) needs; errors say what to
/// compile. Bursts have at most `longest` steps: an epoch of 12800 instances in batches of 128
/// is one of 100. With `batches` above 1 an update is of the gradient of so many batches together,
/// a step at a time. `ranks`: those that the session's programs reduce over; null: there are none.
Result<std::unique_ptr<StepRunner>> makeSessionRunner(Session &session, bool training,
                                                      int64_t longest = longestBurst,
                                                      int64_t batches = 1,
                                                      Communicator *ranks = nullptr);

} // namespace hybrid::rt
