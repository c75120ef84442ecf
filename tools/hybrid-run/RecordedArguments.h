//===- RecordedArguments.h - a training's command line, kept with its run ---------===//
//
// A run keeps the flags that it was started with in its config.json. `train --resume --out RUN` and
// `train --repeat RUN --out NEW` take from there what they are not given.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Training.h"
#include "tools/commandline/CommandLine.h"
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hybrid::tools {

/// The options of `train`, and what they write to: it has to live as long as they do.
std::shared_ptr<rt::lab::TrainingOptions> addTrainOptions(CLI::App *verb);

/// What a run keeps of the options that were given: {"--steps": ["6"], "model": ["a.hyb"], ...}.
/// What is of this call alone (--out, --resume, --json, ...) is left out.
nlohmann::json argumentsToKeep(CLI::App &verb);
/// The command line that begins such a run in the folder `out`; empty: in one that is chosen.
std::string commandOf(const nlohmann::json &kept, const std::string &out);

/// The words of a command line, with those that the run it names has kept behind them. All other
/// command lines stay as they are, and so do those that name no run: parsing them says what is
/// missing. Where the kept model's path leads nowhere from here, but does from the folder that the
/// run was started in, that becomes the current one.
rt::Result<std::vector<std::string>> withKeptArguments(std::vector<std::string> words);

} // namespace hybrid::tools
