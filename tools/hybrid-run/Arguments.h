//===- Arguments.h - flags that several verbs have ---------------------------------===//
#pragma once
#include "training/LanguageModel.h"
#include "training/OptimizerOptions.h"
#include "training/compile/ModelSpec.h"
#include "training/data/DataChoice.h"
#include <CLI/CLI.hpp>

namespace hybrid::tools {

/// MODEL and what it is compiled with.
void addModel(CLI::App &verb, rt::ModelSpec &spec);
/// --checkpoint, and whether its average is meant.
void addCheckpoint(CLI::App &verb, std::string &checkpoint, bool &average);
/// --tokenizer and --context.
std::vector<CLI::Option *> addReading(CLI::App &verb, rt::LanguageModelChoice &choice);
/// All that says which language model: MODEL, the two above and --threads.
void addLanguageModel(CLI::App &verb, rt::LanguageModelChoice &choice);
/// --task SPEC or --data text:PATH with what goes with them; `training`: also for how to train.
/// The group of which one must be given.
CLI::Option_group *addData(CLI::App &verb, rt::DataChoice &spec, bool training);
/// --convention.
void addConvention(CLI::App &verb, rt::Convention &convention);
/// --params, --init-seed and --input: what a program runs on; `often`: how long an input is the
/// same.
void addArrays(CLI::App &verb, std::string &parameters, std::optional<uint64_t> &seed,
               std::vector<std::string> &inputs, const std::string &often = "");
/// --jobs and --threads.
void addWorkers(CLI::App &verb, int &jobs, int &threads);
/// The optimizer's, the same in every verb that updates parameters.
void addOptimizer(CLI::App &verb, rt::OptimizerOptions &options);

/// Where the papers' recipes are: HYBRID_PAPERS, or papers/ of the tree.
std::string papersFolder();

} // namespace hybrid::tools
