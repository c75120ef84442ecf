//===- TrainingPreset.cpp - a paper's recipe as the options of a training ------------===//
#include "laboratory/TrainingPreset.h"
#include "runtime/files/Print.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt::lab {

Result<void> applyPreset(TrainingOptions &options, uint64_t parameters, int64_t batch,
                         int64_t length) {
  if (!options.preset)
    return {};
  const PresetValues values = options.preset->at(static_cast<double>(parameters));
  TrainOptions &run = options.run;
  std::vector<std::string> taken;
  auto isGiven = [&](const char *flag) { return options.given.contains(flag); };
  auto take = [&](const auto &from, auto &to, const char *flag) {
    if (!from || isGiven(flag))
      return;
    to = *from;
    taken.push_back(fmt::format("{} {}", flag, *from));
  };
  if (values.schedule && !isGiven("--schedule")) {
    auto kind = scheduleKind(*values.schedule);
    if (!kind)
      return kind.error();
    run.schedule.kind = *kind;
    taken.push_back("--schedule " + *values.schedule);
  }
  take(values.learningRate, run.schedule.base, "--lr");
  take(values.leastRate, run.schedule.least, "--min-lr");
  take(values.weightDecay, run.weightDecay, "--weight-decay");
  take(values.beta1, run.beta1, "--beta1");
  take(values.beta2, run.beta2, "--beta2");
  take(values.epsilon, run.epsilon, "--eps");
  take(values.clip, run.clip, "--clip");
  if (!isGiven("--steps") && !isGiven("--epochs") && run.timeLimit == 0) {
    take(values.steps, options.steps, "--steps");
    if (!values.steps)
      take(values.epochs, options.epochs, "--epochs");
  }
  const int64_t sequences =
      values.batch ? *values.batch
      : values.batchTokens
          ? std::max<int64_t>(1, std::llround(static_cast<double>(*values.batchTokens) /
                                              static_cast<double>(length)))
          : 0;
  if (sequences > 0 && !isGiven("--accumulate")) {
    options.accumulate = std::max<int64_t>(
        1, std::llround(static_cast<double>(sequences) / static_cast<double>(batch)));
    taken.push_back(fmt::format("--accumulate {} ({} sequences of {} an update, of {})",
                                options.accumulate, options.accumulate * batch, length, sequences));
  }
  if (!run.quiet)
    say(stderr, "preset {} ({}) for {} parameters: {}\n", options.preset->name,
        options.preset->source, parameters, fmt::join(taken, ", "));
  return {};
}

void applyPresetWarmup(TrainingOptions &options) {
  if (!options.preset || options.given.contains("--warmup") || options.run.steps <= 0)
    return;
  if (const auto &share = options.preset->values.warmup)
    options.run.schedule.warmup = std::llround(*share * static_cast<double>(options.run.steps));
}

} // namespace hybrid::rt::lab
