//===- CommandLine.h - what the command lines of both programs have alike -------===//
//
// CLI11 parses; here is what it does not do: numbers that do not fit are refused instead of
// wrapped, names that nobody knows come with the one that may have been meant, and ranges read as
// one would say them.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace hybrid::tools {

/// From `low` to `high`. A lowest value that only says "above 0", and a highest one that nobody
/// means, are not shown.
class Range : public CLI::Validator {
public:
  Range(double low, double high);
};

/// Parses. 0: go on; otherwise `status` is that of the program: 0 after --help, 2 after wrong
/// usage, which is explained on standard error.
bool parseCommandLine(CLI::App &app, int argc, char **argv, int &status);

} // namespace hybrid::tools
