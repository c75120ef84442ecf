//===- DataChoice.cpp - what a model is trained or scored on ------------------------===//
#include "training/data/DataChoice.h"
#include "training/CheckpointTokenizer.h"
#include "training/data/DataSource.h"

namespace hybrid::rt {

constexpr int64_t defaultTextLength = 256, defaultBatch = 32;

Result<void> DataChoice::chooseLength(ModelSpec &model) const {
  int64_t length = defaultTextLength;
  if (!task.empty()) {
    auto created = createTask(task, convention);
    if (!created)
      return created.error();
    length = (*created)->positions();
  }
  for (const std::string &spec : data) {
    auto own = positionsOf(spec);
    if (!own)
      return own.error();
    if (*own > 0)
      length = *own;
  }
  if (!model.isSource())
    return {};
  if (!model.length)
    model.length = length;
  if (!model.batch)
    model.batch = defaultBatch;
  return {};
}

Result<std::vector<DataSpec>> DataChoice::parsed() const {
  std::unique_ptr<Tokenizer> carried;
  if (!checkpoint.empty()) {
    auto found = tokenizerOfCheckpoint(checkpoint);
    if (!found)
      return found.error();
    carried = std::move(*found);
  }
  std::vector<DataSpec> specs;
  for (const std::string &text : data) {
    auto spec = DataSpec::parse(text);
    if (!spec)
      return spec.error();
    const bool isText = spec->kind == "text" || spec->kind == "jsonl" || spec->kind == "fasta";
    if (carried && !carried->isBytes() && isText)
      spec->options.try_emplace("tokenizer", checkpoint);
    specs.push_back(std::move(*spec));
  }
  return specs;
}

Result<std::unique_ptr<Source>> DataChoice::open(int64_t length, uint64_t seed) const {
  if (!data.empty()) {
    auto specs = parsed();
    if (!specs)
      return specs.error();
    return makeDataSource(*specs, length, seed, dataSeed);
  }
  auto created = createTask(task, convention);
  if (!created)
    return created.error();
  return makeTaskSource(std::move(*created), convention, {seed, dataSeed, trainExamples});
}

} // namespace hybrid::rt
