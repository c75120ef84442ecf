//===- Process.h - other programs, run without a shell ----------------------------===//
#pragma once
#include "runtime/Result.h"
#include <string>
#include <sys/types.h>
#include <vector>

namespace hybrid::rt {

/// How a program ended.
struct ProgramEnd {
  int status = 0; // of exit; -1: a signal ended it
  int signal = 0;
  /// "exit status 2", or "SIGKILL" with the likely reason.
  std::string text() const;
};

struct ProgramOutput : ProgramEnd {
  std::string out, err;
};

/// Runs a program to its end and keeps what it says. When this process is asked to stop
/// (StopSignals) it is stopped, too, and the error says so.
Result<ProgramOutput> runForOutput(const std::string &program,
                                   const std::vector<std::string> &arguments);

/// The same with this process's standard streams.
Result<ProgramEnd> runProgram(const std::string &program,
                              const std::vector<std::string> &arguments);

/// Starts a program that goes on beside this one.
Result<pid_t> startProgram(const std::string &program, const std::vector<std::string> &arguments);

/// Words as they would be typed, quoted where they need it.
std::string shellWord(const std::string &word);
/// This process's command line as it was typed.
std::string commandLine();

} // namespace hybrid::rt
