//===- Program.cpp - from a command line to an exit status --------------------------===//
#include "tools/hybrid-run/Program.h"
#include "executable/OutputFile.h"
#include "executable/Printable.h"
#include <cstdio>

namespace hybrid::tools {
namespace {

int statusOf(CLI::App &app, int argc, char **argv) {
  try {
    int status = 0;
    parseCommandLine(app, argc, argv, status);
    return status;
  } catch (const std::exception &error) { // a verb's Failure, or a library's
    std::fprintf(stderr, "error: %s\n", printable(error.what()).c_str());
    return 1;
  }
}

} // namespace

int runProgram(CLI::App &app, int argc, char **argv) {
  letFullFilesBeErrors();
  return finishStandardOutput(statusOf(app, argc, argv));
}

} // namespace hybrid::tools
