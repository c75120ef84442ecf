//===- OpenModel.h - a model, ready to run -----------------------------------===//
#pragma once
#include "runtime/Session.h"
#include "training/compile/ModelSpec.h"

namespace hybrid::rt {

/// Loads a model, which compiles it first when it is a source, and makes a session of it.
Result<std::unique_ptr<Session>> openModel(const ModelSpec &model, const SessionOptions &options);
/// The same with its first replica active only, for what runs one set of parameters.
Result<std::unique_ptr<Session>> openOneReplica(const ModelSpec &model,
                                                const SessionOptions &options);

} // namespace hybrid::rt
