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

/// Runs program `update` with the gradients that the session holds; returns their norm before
/// clipping.
Result<double> updateParameters(Session &session, const Hyper &hyper);
/// Whether program `update` is there and of the kind this version runs.
Result<void> checkUpdateProgram(const Session &session);

/// One number of a tensor of any type, as a double.
double numberAt(DType type, std::span<const std::byte> data, size_t index);

} // namespace hybrid::rt
