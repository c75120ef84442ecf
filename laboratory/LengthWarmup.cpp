//===- LengthWarmup.cpp - a training whose sequences grow ----------------------------===//
#include "laboratory/LengthWarmup.h"
#include "runtime/Session.h"
#include "runtime/files/Print.h"
#include "training/Checkpoint.h"
#include "training/ModelFingerprint.h"
#include "training/data/RenumberedSource.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

namespace hybrid::rt::lab {
namespace {

constexpr const char *flag = "--length-warmup";

std::optional<int64_t> countIn(std::string_view text) {
  int64_t count = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  return fault == std::errc() && end == text.data() + text.size() && count > 0
             ? std::optional(count)
             : std::nullopt;
}

/// What describes data without what follows from the length of its windows.
nlohmann::json ofAnyLength(nlohmann::json description) {
  for (const char *key : {"positions", "validation_windows"})
    if (description.is_object())
      description.erase(key);
  for (nlohmann::json &part : description)
    if (part.is_structured())
      part = ofAnyLength(std::move(part));
  return description;
}

/// The first parameter in which two programs of a model differ; empty: they have the same.
std::string differentParameter(const Executable &a, const Executable &b) {
  auto all = [](const Executable &executable) {
    std::vector<std::string> texts;
    for (const ParameterInfo &parameter : executable.parameters())
      texts.push_back(fmt::format("'{}' [{}]", parameter.name, fmt::join(parameter.shape, ", ")));
    return texts;
  };
  const std::vector<std::string> ofA = all(a), ofB = all(b);
  for (const auto *own : {&ofA, &ofB})
    for (const std::string &text : *own)
      if (const auto &other = own == &ofA ? ofB : ofA;
          std::find(other.begin(), other.end(), text) == other.end())
        return text;
  return "";
}

struct StagePlan {
  ModelSpec model;
  int64_t first, end;
};

Result<std::vector<StagePlan>> plan(const LengthWarmup &warmup, const ModelSpec &model,
                                    const StepRunner &last, int64_t steps) {
  if (!model.isSource())
    return Error{fmt::format("{}: every length is compiled by itself: give the model's text (.hyb) "
                             "and not {}",
                             flag, model.path)};
  if (steps <= 0)
    return Error{fmt::format("{}: say with --steps or --epochs how long the run is: its steps are "
                             "not as fast in the beginning as at --length",
                             flag)};
  if (steps <= warmup.steps())
    return Error{fmt::format("{} {}: its {} steps leave none of the run's {} for --length {}", flag,
                             warmup.text(), warmup.steps(), steps, last.length())};
  std::vector<StagePlan> stages;
  int64_t first = 0;
  for (const LengthWarmup::Part &part : warmup.parts) {
    const int64_t tokens = last.batch() * last.length();
    if (part.length >= last.length())
      return Error{fmt::format("{} {}: {} is not below --length {}", flag, warmup.text(),
                               part.length, last.length())};
    if (tokens % part.length != 0)
      return Error{fmt::format("{} {}: the {} tokens of a batch, {} sequences of {}, are no whole "
                               "number of sequences of {}",
                               flag, warmup.text(), tokens, last.batch(), last.length(),
                               part.length)};
    StagePlan stage{model, first, first + part.steps};
    stage.model.length = part.length;
    stage.model.batch = tokens / part.length;
    first = stage.end;
    stages.push_back(std::move(stage));
  }
  stages.push_back({model, first, steps});
  return stages;
}

/// That all stages have the parameters of the last; and what the run's programs are.
Result<uint64_t> fingerprintOf(const std::vector<StagePlan> &stages, const Executable &last) {
  std::vector<uint64_t> prints;
  for (const StagePlan &stage : stages) {
    auto executable = stage.model.load();
    if (!executable)
      return executable.error();
    if (std::string name = differentParameter(**executable, last); !name.empty())
      return Error{fmt::format("{}: with --length {} the model has another set of parameters than "
                               "with --length {}: {} is in one of them only; let no size depend on "
                               "L, as --set l_max does for filters and tables of positions",
                               flag, *stage.model.length, *stages.back().model.length, name)};
    prints.push_back(reducesOverRanks(**executable) ? modelFingerprint(**executable)
                                                    : (*executable)->fingerprint());
  }
  return XXH3_64bits(prints.data(), prints.size() * sizeof(uint64_t));
}

Result<void> checkSplit(const Source &part, const nlohmann::json &whole, int64_t length) {
  if (part.positions() != length)
    return Error{fmt::format("{}: instances of the data have {} positions each, and cannot be cut "
                             "to {}",
                             flag, part.positions(), length)};
  if (const std::string difference =
          describeDifference(ofAnyLength(part.describe()), ofAnyLength(whole));
      !difference.empty())
    return Error{fmt::format("{}: with sequences of {} the data is split in another place, so that "
                             "test data would be trained on ({})",
                             flag, length, difference)};
  return {};
}

} // namespace

int64_t LengthWarmup::steps() const {
  int64_t sum = 0;
  for (const Part &part : parts)
    sum += part.steps;
  return sum;
}

std::string LengthWarmup::text() const {
  std::vector<std::string> texts;
  for (const Part &part : parts)
    texts.push_back(fmt::format("{}:{}", part.length, part.steps));
  return fmt::format("{}", fmt::join(texts, ","));
}

Result<LengthWarmup> LengthWarmup::parse(const std::string &text) {
  LengthWarmup warmup;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    const size_t colon = std::min(part.find(':'), part.size());
    const auto length = countIn(part.substr(0, colon));
    const auto steps = colon < part.size() ? countIn(part.substr(colon + 1)) : std::nullopt;
    if (!length || !steps || *length > 1 << 24 || *steps > int64_t{1} << 40)
      return Error{
          fmt::format("{} {}: '{}' is no LENGTH:STEPS, as in 256:100,512:100", flag, text, part)};
    if (!warmup.parts.empty() && *length <= warmup.parts.back().length)
      return Error{fmt::format("{} {}: lengths grow, but {} is behind {}", flag, text, *length,
                               warmup.parts.back().length)};
    warmup.parts.push_back({*length, *steps});
    at = end + 1;
  }
  return warmup;
}

Result<TrainOutcome> trainByLength(const LengthWarmup &warmup, const ModelSpec &model,
                                   OpenStage last, const OpenStageOf &open, TrainOptions options) {
  auto stages = plan(warmup, model, *last.runner, options.steps);
  if (!stages)
    return stages.error();
  auto fingerprint = fingerprintOf(*stages, last.session->executable());
  if (!fingerprint)
    return fingerprint.error();
  const nlohmann::json data = last.source->describe();
  LengthStage stage;
  stage.plan = warmup.text();
  stage.length = last.runner->length();
  stage.batch = last.runner->stepSequences();
  stage.fingerprint = *fingerprint;
  // Its memory is that of the stages before it.
  last.source.reset();
  last.runner.reset();
  last.session.reset();
  for (size_t i = 0;;) {
    const StagePlan &now = (*stages)[i];
    auto opened = open(now.model);
    if (!opened)
      return opened.error();
    if (auto fits = checkSplit(*opened->source, data, opened->runner->length()); !fits)
      return fits.error();
    const int64_t sequences = opened->runner->stepSequences();
    opened->source =
        beginAt(std::move(opened->source), static_cast<uint64_t>(now.first * sequences), data);
    stage.first = now.first;
    stage.end = now.end;
    stage.isLast = i + 1 == stages->size();
    options.stage = stage;
    if (!options.quiet)
      say(stderr, "steps {} to {}: {} sequences of {}\n", now.first + 1, now.end, sequences,
          opened->runner->length());
    auto outcome = trainModel(*opened->runner, *opened->source, options);
    if (!outcome || outcome->interrupted != "stage")
      return outcome;
    options.resume = true;
    // The next one, or that of the checkpoint which was resumed from.
    for (i = 0; i + 1 < stages->size() && outcome->step > (*stages)[i].end; ++i)
      ;
    if (outcome->step == (*stages)[i].end && now.end == outcome->step)
      ++i;
  }
}

} // namespace hybrid::rt::lab
