//===- Machine.h - what this machine can run --------------------------------------===//
#pragma once

namespace hybrid::rt::lab {

/// Prints what there is of processors, libraries and the compiler, and advice for what is missing.
void printMachine(bool json);

} // namespace hybrid::rt::lab
