//===- RunView.cpp - runs as their folders show them ---------------------------------===//
#include "laboratory/RunView.h"
#include "executable/Printable.h"
#include "laboratory/Columns.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "training/record/Progress.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>

namespace hybrid::rt::lab {
namespace {

using nlohmann::json;

/// What config.json has beside settings: who wrote it, from where, and what follows from them.
const std::set<std::string> noSettings{"arguments",        "block_bytes",  "bytes",
                                       "checkpoint_every", "command",      "compiler",
                                       "content_hash",     "directory",    "extended",
                                       "fingerprint",      "keep",         "model",
                                       "model_settings",   "model_source", "parameters",
                                       "positions",        "repeats",      "report_every",
                                       "runtime",          "steps",        "validation_windows"};

Result<json> readJson(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.error();
  const auto bytes = file->bytes();
  return parseJson({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, path);
}

std::string textOf(const json &value) {
  return value.is_string() ? value.get<std::string>() : jsonLine(value);
}

void readSettings(const json &config, RunView &run) {
  for (const auto &[name, value] : config.items())
    if (!noSettings.contains(name))
      run.settings[name] = textOf(value);
  if (const auto model = jsonField<std::string>(config, "model"))
    run.settings["model"] = std::filesystem::path(*model).stem().string();
  if (auto own = config.find("model_settings"); own != config.end() && own->is_object())
    for (const auto &[name, value] : own->items())
      run.settings.try_emplace(name, textOf(value));
  run.steps = jsonField<int64_t>(config, "steps").value_or(0);
  run.parameters = jsonField<int64_t>(config, "parameters");
}

void readLine(const json &line, RunView &run) {
  const auto split = jsonField<std::string>(line, "split");
  const auto step = jsonField<int64_t>(line, "step");
  const auto loss = jsonField<double>(line, "loss");
  if (!split || !step || !loss)
    return;
  run.step = std::max(run.step, *step);
  if (auto seconds = jsonField<double>(line, "seconds"))
    run.seconds = seconds;
  if (*split == "train") {
    run.train.emplace_back(*step, *loss);
    if (auto speed = jsonField<double>(line, "tokens_per_second"))
      run.tokensPerSecond = speed;
  } else if (*split == "eval") {
    run.evalLoss = loss;
    run.accuracy = jsonField<double>(line, "accuracy");
    run.bits = jsonField<double>(line, "bits_per_byte");
    if (!jsonField<bool>(line, "final").value_or(false))
      run.eval.emplace_back(*step, *loss);
  }
}

std::string number(const std::optional<double> &value, const char *format = "{:.4f}") {
  return value ? fmt::format(fmt::runtime(format), *value) : "";
}

/// A cell of a CSV file (RFC 4180).
std::string cell(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string settingOf(const RunView &run, const std::string &name) {
  auto found = run.settings.find(name);
  return found == run.settings.end() ? "" : found->second;
}

constexpr size_t mostCell = 24; // columns of a setting; CSV and JSON have all of it

std::string shortened(std::string text) {
  text = printable(text);
  return text.size() <= mostCell ? text : text.substr(0, mostCell - 3) + "...";
}

/// Mean losses of as many stretches of steps as there are columns; NaN where nothing was reported.
std::vector<double> resample(const RunView::Curve &curve, int64_t steps, int columns) {
  std::vector<double> sums(static_cast<size_t>(columns)), counts(sums.size());
  for (const auto &[step, loss] : curve) {
    if (!std::isfinite(loss))
      continue;
    const auto at = static_cast<size_t>(
        std::clamp<int64_t>((step - 1) * columns / std::max<int64_t>(1, steps), 0, columns - 1));
    sums[at] += loss;
    counts[at] += 1;
  }
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = counts[i] > 0 ? sums[i] / counts[i] : std::nan("");
  return sums;
}

/// A character a column, higher for more; spaces where nothing is known.
std::string drawn(std::span<const double> values, double low, double high) {
  static constexpr const char *levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (double value : values) {
    if (!std::isfinite(value)) {
      text += ' ';
      continue;
    }
    const double share = high > low ? (value - low) / (high - low) : 0;
    text += levels[std::clamp(static_cast<int>(share * 8), 0, 7)];
  }
  return text;
}

} // namespace

std::optional<std::pair<int64_t, double>> RunView::best() const {
  auto least = std::min_element(eval.begin(), eval.end(),
                                [](const auto &a, const auto &b) { return a.second < b.second; });
  return least == eval.end() ? std::nullopt : std::optional(*least);
}

Result<RunView> readRun(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path + "/config.json", error))
    return Error{fmt::format("'{}' is no folder of a run: it has no config.json", path)};
  auto config = readJson(path + "/config.json");
  if (!config)
    return config.error();
  if (!config->is_object())
    return Error{fmt::format("'{}/config.json': expected an object", path)};
  RunView run;
  run.path = path;
  readSettings(*config, run);
  std::ifstream metrics(path + "/metrics.jsonl", std::ios::binary);
  for (std::string line; std::getline(metrics, line) && !metrics.eof();)
    readLine(parseJsonOrNull(line), run);
  if (std::filesystem::exists(path + "/summary.json", error))
    if (auto summary = readJson(path + "/summary.json"); summary && summary->is_object()) {
      // Of a run that goes on again it tells what was.
      run.isFinished = jsonField<int64_t>(*summary, "steps").value_or(-1) == run.step &&
                       (run.steps == 0 || run.step >= run.steps ||
                        jsonField<double>(*config, "stop_accuracy").value_or(0) > 0 ||
                        jsonField<double>(*config, "time_limit").value_or(0) > 0);
      if (auto speed = jsonField<double>(*summary, "tokens_per_second"); speed && run.isFinished)
        run.tokensPerSecond = speed;
    }
  return run;
}

std::vector<std::string> differences(std::span<const RunView> runs) {
  std::set<std::string> names;
  for (const RunView &run : runs)
    for (const auto &[name, value] : run.settings)
      if (std::any_of(runs.begin(), runs.end(),
                      [&, &name = name, &value = value](const auto &other) {
                        return settingOf(other, name) != value;
                      }))
        names.insert(name);
  return {names.begin(), names.end()};
}

std::string compareText(std::span<const RunView> runs, int width) {
  const std::vector<std::string> names = differences(runs);
  std::vector<std::vector<std::string>> rows{{"run", "step", "train loss", "eval loss", "accuracy",
                                              "best loss", "at step", "tokens/s", "seconds"}};
  rows.front().insert(rows.front().end(), names.begin(), names.end());
  for (const RunView &run : runs) {
    const auto best = run.best();
    std::vector<std::string> row{
        printable(run.path),
        run.steps > 0 && !run.isFinished ? fmt::format("{}/{}", run.step, run.steps)
                                         : std::to_string(run.step),
        run.train.empty() ? "" : fmt::format("{:.4f}", run.train.back().second),
        number(run.evalLoss),
        number(run.accuracy),
        best ? fmt::format("{:.4f}", best->second) : "",
        best ? std::to_string(best->first) : "",
        number(run.tokensPerSecond, "{:.0f}"),
        number(run.seconds, "{:.1f}")};
    for (const std::string &name : names)
      row.push_back(shortened(settingOf(run, name)));
    rows.push_back(std::move(row));
  }
  return alignColumns(rows, width);
}

json compareJson(std::span<const RunView> runs) {
  auto orNull = [](const auto &value) { return value ? json(*value) : json(nullptr); };
  const std::vector<std::string> names = differences(runs);
  json rows = json::array();
  for (const RunView &run : runs) {
    json differs = json::object();
    for (const std::string &name : names)
      if (run.settings.contains(name))
        differs[name] = settingOf(run, name);
    const auto best = run.best();
    rows.push_back({{"run", run.path},
                    {"step", run.step},
                    {"steps", run.steps},
                    {"finished", run.isFinished},
                    {"train_loss", run.train.empty() ? json() : json(run.train.back().second)},
                    {"eval_loss", orNull(run.evalLoss)},
                    {"eval_accuracy", orNull(run.accuracy)},
                    {"eval_bits_per_byte", orNull(run.bits)},
                    {"best_eval_loss", best ? json(best->second) : json()},
                    {"best_step", best ? json(best->first) : json()},
                    {"tokens_per_second", orNull(run.tokensPerSecond)},
                    {"seconds", orNull(run.seconds)},
                    {"parameters", orNull(run.parameters)},
                    {"settings", std::move(differs)}});
  }
  return {{"runs", std::move(rows)}, {"differ", names}};
}

std::string compareCsv(std::span<const RunView> runs) {
  static constexpr const char *keys[] = {"run",
                                         "step",
                                         "steps",
                                         "finished",
                                         "train_loss",
                                         "eval_loss",
                                         "eval_accuracy",
                                         "eval_bits_per_byte",
                                         "best_eval_loss",
                                         "best_step",
                                         "tokens_per_second",
                                         "seconds",
                                         "parameters"};
  const json compared = compareJson(runs);
  std::string text;
  auto add = [&](const std::string &value) {
    text += (text.empty() || text.back() == '\n' ? "" : ",") + cell(value);
  };
  for (const char *key : keys)
    add(key);
  for (const std::string &name : differences(runs))
    add(name);
  text += '\n';
  for (const json &row : compared["runs"]) {
    for (const char *key : keys)
      add(row[key].is_null() ? "" : textOf(row[key]));
    for (const std::string &name : differences(runs))
      add(row["settings"].value(name, std::string()));
    text += '\n';
  }
  return text;
}

std::string watchText(std::span<const RunView> runs, int width) {
  constexpr int leastCurve = 16, mostCurve = 60;
  std::vector<std::vector<std::string>> rows{
      {"run", "step", "train loss", "eval loss", "best loss", "tokens/s", "left"}};
  int64_t steps = 1;
  for (const RunView &run : runs) {
    steps = std::max({steps, run.step, run.steps});
    const auto best = run.best();
    const bool knows = run.step > 0 && run.steps > run.step && run.seconds && !run.isFinished;
    rows.push_back(
        {printable(run.path),
         run.steps > 0 ? fmt::format("{}/{}", run.step, run.steps) : std::to_string(run.step),
         run.train.empty() ? "" : fmt::format("{:.4f}", run.train.back().second),
         number(run.evalLoss), best ? fmt::format("{:.4f}", best->second) : "",
         number(run.tokensPerSecond, "{:.0f}"),
         run.isFinished ? "done"
         : knows        ? clockText(*run.seconds / static_cast<double>(run.step) *
                                    static_cast<double>(run.steps - run.step))
                        : "?"});
  }
  const std::string table = alignColumns(rows, width);
  std::vector<std::string> lines;
  size_t widest = 0;
  for (size_t at = 0; at < table.size();) {
    const size_t end = std::min(table.find('\n', at), table.size());
    lines.push_back(table.substr(at, end - at));
    widest = std::max(widest, lines.back().size());
    at = end + 1;
  }
  const int room = width > 0 ? width - static_cast<int>(widest) - 2 : mostCurve;
  if (room >= leastCurve) {
    std::vector<std::vector<double>> curves;
    double low = 0, high = 0;
    bool any = false;
    for (const RunView &run : runs) {
      curves.push_back(resample(run.train, steps, std::min(room, mostCurve)));
      for (double value : curves.back())
        if (std::isfinite(value)) {
          low = any ? std::min(low, value) : value;
          high = any ? std::max(high, value) : value;
          any = true;
        }
    }
    if (any)
      lines.front() += std::string(widest - lines.front().size() + 2, ' ') +
                       fmt::format("train loss, {:.4g} to {:.4g}", low, high)
                           .substr(0, static_cast<size_t>(room));
    for (size_t i = 0; i < curves.size() && i + 1 < lines.size(); ++i)
      lines[i + 1] +=
          std::string(widest - lines[i + 1].size() + 2, ' ') + drawn(curves[i], low, high);
  }
  std::string text;
  for (const std::string &line : lines)
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

} // namespace hybrid::rt::lab
