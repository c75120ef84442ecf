//===- ConfiguredTask.h - a task of a struct of parameters ------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"
#include <fmt/format.h>

namespace hybrid::rt {

/// A task whose parameters are a Config with the members `vocab` and `length`, which are its
/// vocabulary and its positions unless it says otherwise.
template <typename Config> class ConfiguredTask : public Task {
public:
  ConfiguredTask(std::string name, Settings settings, const Config &config)
      : Task(std::move(name), std::move(settings)), config(config) {}

  int64_t vocabulary() const override { return config.vocab; }
  int64_t positions() const override { return config.length; }
  /// Content from 0, and behind it an id that asks for an answer.
  std::string spell(int32_t token) const override {
    return token < config.vocab - 1 ? fmt::format("c{}", token) : "=>";
  }

protected:
  Config config;
};

/// The parameters of a task that has no others.
struct VocabularyAndLength {
  int64_t vocab, length;
};

/// The task of these parameters, or all their faults, when every parameter has been asked for.
template <typename Made, typename... Config>
Result<std::unique_ptr<Task>> finishTask(const TaskParameters &parameters,
                                         const Config &...config) {
  if (auto done = parameters.finish(); !done)
    return done.error();
  return std::unique_ptr<Task>(
      std::make_unique<Made>(parameters.task(), parameters.resolved(), config...));
}

} // namespace hybrid::rt
