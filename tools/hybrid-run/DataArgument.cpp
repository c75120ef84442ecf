//===- DataArgument.cpp - what a model is trained or scored on --------------------===//
#include "tools/hybrid-run/DataArgument.h"
#include <fmt/format.h>

namespace hybrid::tools {

constexpr int64_t defaultTextLength = 256, defaultBatch = 32;

rt::Convention conventionOf(const std::string &name) {
  return name == "mad-lab" ? rt::Convention::MadLab : rt::Convention::Paper;
}

void DataArgument::addTo(CLI::App &verb, bool training) {
  auto *group = verb.add_option_group("Data", "one of");
  group->add_option("--task", task, "synthetic task, NAME[:key=value,...]");
  group->add_option("--data", data, "text:PATH, the bytes of a file");
  group->require_option(1);
  verb.add_option("--data-seed", dataSeed, "seed of the task's instances or of the text's split")
      ->capture_default_str();
  verb.add_option("--convention", convention,
                  "where a paper and its code disagree: paper or mad-lab")
      ->check(CLI::IsMember({"paper", "mad-lab"}))
      ->capture_default_str();
  if (!training)
    return;
  verb.add_option("--train-examples", trainExamples,
                  "train a task on a set of this many instances (default: fresh ones for ever)");
}

void DataArgument::chooseLength(ModelArgument &model) const {
  int64_t length = defaultTextLength;
  if (!task.empty())
    length = valueOf(rt::createTask(task, conventionOf(convention)))->positions();
  else if (!data.starts_with("text:") || data.size() == 5)
    throw Failure(fmt::format("--data {}: expected text:PATH", data));
  if (!model.isSource())
    return;
  if (!model.length)
    model.length = length;
  if (!model.batch)
    model.batch = defaultBatch;
}

std::unique_ptr<rt::Source> DataArgument::open(int64_t length, uint64_t seed) const {
  if (!data.empty())
    return valueOf(rt::makeTextSource(data.substr(5), length, seed, dataSeed));
  rt::Convention chosen = conventionOf(convention);
  return rt::makeTaskSource(valueOf(rt::createTask(task, chosen)), chosen,
                            {seed, dataSeed, trainExamples});
}

} // namespace hybrid::tools
