//===- ParameterFile.h - parameters from a safetensors file -----------------------===//
#pragma once
#include "runtime/Session.h"
#include <string>

namespace hybrid::rt {

/// What the average of a parameter is called in a checkpoint: this and the parameter's name.
inline const std::string averagePrefix = "ema.";

/// What does not fit, for an error: three say what is the matter; a model of other sizes has
/// hundreds.
std::string firstFaults(const std::vector<std::string> &faults);

/// Fills the session's parameters from a file that holds exactly them (moments, average and run
/// state of a checkpoint are passed over), or with `average` from the average of the parameters
/// that a run has kept. The error names what is missing, unknown, of another shape, or not
/// what was written (TensorHashes.h).
Result<void> loadParameters(Session &session, const std::string &path, bool average = false);

/// Writes the session's parameters, and nothing else.
Result<void> saveParameters(Session &session, const std::string &path);

} // namespace hybrid::rt
