//===- DataSpec.cpp - what a model is trained or scored on ------------------------===//
#include "training/data/DataSpec.h"
#include <fmt/format.h>

namespace hybrid::rt {

constexpr int64_t defaultTextLength = 256, defaultBatch = 32;

Result<void> DataSpec::chooseLength(ModelSpec &model) const {
  int64_t length = defaultTextLength;
  if (!task.empty()) {
    auto created = createTask(task, convention);
    if (!created)
      return created.error();
    length = (*created)->positions();
  } else if (!data.starts_with("text:") || data.size() == 5) {
    return Error{fmt::format("--data {}: expected text:PATH", data)};
  }
  if (!model.isSource())
    return {};
  if (!model.length)
    model.length = length;
  if (!model.batch)
    model.batch = defaultBatch;
  return {};
}

Result<std::unique_ptr<Source>> DataSpec::open(int64_t length, uint64_t seed) const {
  if (!data.empty())
    return makeTextSource(data.substr(5), length, seed, dataSeed);
  auto created = createTask(task, convention);
  if (!created)
    return created.error();
  return makeTaskSource(std::move(*created), convention, {seed, dataSeed, trainExamples});
}

} // namespace hybrid::rt
