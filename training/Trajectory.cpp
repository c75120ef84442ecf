//===- Trajectory.cpp - what decides the bits of a run -----------------------===//
#include "training/Trajectory.h"

namespace hybrid::rt {

using nlohmann::json;

/// A description of data without where it lies: of what has hashes of its contents, that is left.
static json withoutPlaces(json description) {
  const bool hashed = description.is_object() &&
                      (description.contains("files") || description.contains("prepared") ||
                       description.contains("content_hash"));
  if (hashed)
    description.erase("path");
  if (auto data = hashed ? description.find("data") : description.end();
      data != description.end() && data->is_string())
    *data = data->get<std::string>().substr(0, data->get_ref<const std::string &>().find(':'));
  for (json &part : description)
    if (part.is_structured())
      part = withoutPlaces(std::move(part));
  return description;
}

json trajectoryOf(const TrainOptions &options, const StepRunner &runner, const Source &source) {
  json config = withoutPlaces(source.describe());
  config["seed"] = options.seed;
  config["batch"] = options.stage ? options.stage->batch : runner.stepSequences();
  // Of ranks together only the whole counts: others may go on where they stopped.
  if (options.stage)
    config["length_warmup"] = options.stage->plan;
  else if (runner.ranks() && runner.drawsByBatch())
    config["draws_by_batch_of"] = runner.batch();
  if (!runner.ranks() && runner.stepSequences() != runner.batch())
    config["accumulate"] = runner.stepSequences() / runner.batch();
  if (!options.warmStart.path.empty())
    config["init_from"] = options.warmStart.identity;
  config["length"] = options.stage ? options.stage->length : runner.length();
  config["steps"] = options.steps;
  config["schedule"] = nameOf(options.schedule.kind);
  config["lr"] = options.schedule.base;
  config["min_lr"] = options.schedule.least;
  config["warmup"] = options.schedule.warmup;
  config["warmup_lr"] = options.schedule.warmupStart;
  if (options.schedule.decaysAtTheEnd()) {
    config["decay_steps"] = options.schedule.decay;
    config["warmup_shape"] = nameOf(options.schedule.rise);
    config["decay_shape"] = nameOf(options.schedule.fall);
  }
  config["weight_decay"] = options.weightDecay;
  config["beta1"] = options.beta1;
  config["beta2"] = options.beta2;
  config["epsilon"] = options.epsilon;
  config["clip"] = options.clip;
  config["report_every"] = options.reportEvery;
  config["eval_every"] = options.evalEvery;
  config["eval_examples"] = options.evalExamples;
  if (options.averageDecay > 0) {
    config["ema"] = options.averageDecay;
    config["ema_every"] = options.averageEvery;
  }
  if (options.skipOutliers > 0)
    config["skip_outliers"] = options.skipOutliers;
  config["stop_accuracy"] = options.stopAccuracy;
  return config;
}

/// Settings of how a run ends.
constexpr const char *ofTheEnd[] = {"steps",        "schedule",    "min_lr",       "decay_steps",
                                    "warmup_shape", "decay_shape", "stop_accuracy"};

json endBefore(const json &now, const json &then) {
  json before = json::object();
  for (const char *key : ofTheEnd) {
    const json is = now.value(key, json()), was = then.value(key, json());
    if (is != was)
      before[key] = was;
  }
  return before;
}

json withoutEnd(json trajectory) {
  for (const char *key : ofTheEnd)
    trajectory.erase(key);
  return trajectory;
}

} // namespace hybrid::rt
