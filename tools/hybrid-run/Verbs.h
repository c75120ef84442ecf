//===- Verbs.h - the commands of hybrid-run -------------------------------------===//
//
// Each verb adds its own subcommand, options and action. A verb's action throws Failure for the
// user's errors; main() prints them.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "tools/commandline/CommandLine.h"
#include <stdexcept>
#include <string>

namespace hybrid::tools {

/// The user's error: exit status 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value of a result, or its error as a Failure.
template <typename T> T valueOf(rt::Result<T> result) {
  if (!result)
    throw Failure(result.error().message);
  return std::move(*result);
}
inline void require(const rt::Result<void> &result) {
  if (!result)
    throw Failure(result.error().message);
}

/// Of this program, for records.
inline constexpr const char *version = "hybrid-run " HYBRID_VERSION;

void addInfo(CLI::App &app);
void addCompile(CLI::App &app);
void addForward(CLI::App &app);
void addBench(CLI::App &app);
void addDoctor(CLI::App &app);
void addTrain(CLI::App &app);
void addEval(CLI::App &app);
void addRuns(CLI::App &app);
void addGenerate(CLI::App &app);
void addServe(CLI::App &app);
void addDistill(CLI::App &app);
void addReplay(CLI::App &app);
void addTask(CLI::App &app);
void addData(CLI::App &app);
void addSearch(CLI::App &app);
void addSelftest(CLI::App &app);
void addMad(CLI::App &app);
void addPaper(CLI::App &app);
void addScale(CLI::App &app);
void addExchange(CLI::App &app);

} // namespace hybrid::tools
