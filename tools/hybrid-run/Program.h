//===- Program.h - from a command line to an exit status ----------------------------===//
#pragma once
#include "tools/commandline/CommandLine.h"

namespace hybrid::tools {

/// Parses and does what is asked for. 0: done, 1: an error, which is told, 2: wrong usage. Results
/// that nobody can read are an error, as is a file that could not be written.
int runProgram(CLI::App &app, int argc, char **argv);

} // namespace hybrid::tools
