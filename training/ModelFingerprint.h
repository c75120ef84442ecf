//===- ModelFingerprint.h - what an executable computes, however it is cut ---------===//
#pragma once
#include "runtime/Executable.h"

namespace hybrid::rt {

/// Whether its training step is one of several ranks.
bool reducesOverRanks(const Executable &executable);

/// The same for two executables of one text and one set of parameters and options that differ in
/// their batch alone: N ranks of batch B go on where M ranks of another stopped.
uint64_t modelFingerprint(const Executable &executable);

} // namespace hybrid::rt
