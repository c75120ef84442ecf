//===- ParameterFile.h - parameters from a safetensors file -----------------------===//
#pragma once
#include "runtime/Session.h"
#include <string>

namespace hybrid::tools {

/// Fills the session's parameters from a file that holds exactly them (moments and run state of a
/// checkpoint are passed over). Throws Failure naming what is missing, unknown or of another shape.
void loadParameters(rt::Session &session, const std::string &path);

/// Writes the session's parameters, and nothing else. Throws Failure when the file cannot be
/// written.
void saveParameters(rt::Session &session, const std::string &path);

/// The candidate most like `name`; empty when none is close.
std::string nearestName(const std::string &name, const std::vector<std::string> &candidates);

} // namespace hybrid::tools
