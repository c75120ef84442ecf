//===- TrainingReport.cpp - the page of a single training ---------------------------===//
#include "laboratory/report/TrainingReport.h"
#include "laboratory/Names.h"
#include "laboratory/report/Page.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

namespace hybrid::rt {
using namespace lab;
using nlohmann::json;
using nlohmann::ordered_json;
namespace {

constexpr size_t mostLines = 2000; // of a curve: more than any chart is wide has no use

double number(const json &object, const char *key) {
  return jsonField<double>(object, key).value_or(NAN);
}

std::string text(const json &object, const char *key) {
  return jsonField<std::string>(object, key).value_or("");
}

/// The lines of a split, by column; of many lines every k-th and the last.
ordered_json curveOf(const std::vector<json> &metrics, const char *split) {
  std::vector<const json *> lines;
  for (const json &line : metrics)
    if (text(line, "split") == split && std::isfinite(number(line, "step")))
      lines.push_back(&line);
  const size_t stride = (lines.size() + mostLines - 1) / mostLines;
  ordered_json curve = ordered_json::object();
  for (const char *key : {"step", "loss", "accuracy", "mad_accuracy", "bits_per_byte", "examples",
                          "lr", "grad_norm", "seconds", "final"}) {
    if (std::none_of(lines.begin(), lines.end(),
                     [&](const json *line) { return line->contains(key); }))
      continue;
    ordered_json column = ordered_json::array();
    for (size_t i = 0; i < lines.size(); ++i)
      if (i % stride == 0 || i + 1 == lines.size())
        column.push_back(ordered_json(lines[i]->contains(key) ? lines[i]->at(key) : json()));
    curve[key] = std::move(column);
  }
  return curve;
}

std::string subjectOf(const json &config) {
  const std::string model = std::filesystem::path(text(config, "model")).stem().string();
  std::string data = text(config, "task");
  data = data.substr(0, data.find(':'));
  if (data.empty())
    data = text(config, "data");
  return (model.empty() ? "Training" : model) + (data.empty() ? "" : " on " + data);
}

/// A count that a file states; it may be any number.
std::string whole(double value) { return fmt::format("{:.0f}", value); }

} // namespace

ordered_json trainingJson(const json &config, const std::vector<json> &metrics,
                          const json &summary) {
  std::string title = subjectOf(config), lede;
  if (summary.is_object()) {
    const double bits = number(summary, "eval_bits_per_byte"),
                 macro = number(summary, "eval_mad_accuracy"), steps = number(summary, "steps");
    const std::string accuracy = percent(number(summary, "eval_accuracy"));
    title +=
        ": " + (std::isfinite(bits) ? fmt::format("{:.3f} bits per byte", bits) : accuracy + " %");
    lede = fmt::format(
        "After {} step{} the evaluation gives an accuracy of {} % and a loss of {:.4f} nats{}.",
        std::isfinite(steps) ? whole(steps) : "its", steps == 1 ? "" : "s", accuracy,
        number(summary, "eval_loss"),
        std::isfinite(macro) ? fmt::format(" (macro accuracy, as MAD has it: {} %)", percent(macro))
                             : "");
  } else {
    double last = 0;
    for (const json &line : metrics)
      last = std::fmax(last, number(line, "step"));
    title += ": not finished";
    lede =
        fmt::format("The run has not come to its end; its last report is of step {}.", whole(last));
  }
  return {{"kind", "training"},
          {"title", title},
          {"text", lede},
          {"config", config},
          {"summary", summary},
          {"train", curveOf(metrics, "train")},
          {"eval", curveOf(metrics, "eval")}};
}

Result<void> writeTrainingReport(const std::string &folder) {
  Result<std::string> config = readText(folder + "/config.json");
  if (!config)
    return config.error();
  const json settings = parseJsonOrNull(*config);
  if (!settings.is_object())
    return Error{fmt::format("'{}/config.json' is not a JSON object", folder)};
  std::vector<json> metrics;
  if (Result<std::string> lines = readText(folder + "/metrics.jsonl")) {
    std::istringstream stream(*lines);
    for (std::string line; std::getline(stream, line);)
      if (json value = parseJsonOrNull(line); value.is_object())
        metrics.push_back(std::move(value));
  }
  json summary;
  if (Result<std::string> content = readText(folder + "/summary.json"))
    summary = parseJsonOrNull(*content);
  return writeFileAtomically(folder + "/report.html",
                             lab::report::page(trainingJson(settings, metrics, summary)));
}

} // namespace hybrid::rt
