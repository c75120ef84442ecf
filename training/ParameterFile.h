//===- ParameterFile.h - parameters from a safetensors file -----------------------===//
#pragma once
#include "runtime/Session.h"
#include <string>

namespace hybrid::rt {

/// Fills the session's parameters from a file that holds exactly them (moments and run state of a
/// checkpoint are passed over). The error names what is missing, unknown, of another shape, or not
/// what was written (TensorHashes.h).
Result<void> loadParameters(Session &session, const std::string &path);

/// Writes the session's parameters, and nothing else.
Result<void> saveParameters(Session &session, const std::string &path);

} // namespace hybrid::rt
