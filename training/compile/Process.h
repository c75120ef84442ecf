//===- Process.h - other programs, run without a shell ----------------------------===//
#pragma once
#include "runtime/Result.h"
#include <string>
#include <sys/types.h>
#include <vector>

namespace hybrid::rt {

struct ProgramOutput {
  int status = 0; // of exit, or 128 + signal
  std::string out, err;
};

/// Runs a program to its end and keeps what it says.
Result<ProgramOutput> runForOutput(const std::string &program,
                                   const std::vector<std::string> &arguments);

/// Runs a program to its end with this one's standard streams; its exit status, or 128 + signal.
Result<int> runProgram(const std::string &program, const std::vector<std::string> &arguments);

/// Starts a program that goes on beside this one.
Result<pid_t> startProgram(const std::string &program, const std::vector<std::string> &arguments);

/// Words as they would be typed, quoted where they need it.
std::string shellWord(const std::string &word);
/// This process's command line as it was typed.
std::string commandLine();

} // namespace hybrid::rt
