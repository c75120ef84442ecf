//===- TrainingReport.cpp - the page of a single training ---------------------------===//
#include "laboratory/report/TrainingReport.h"
#include "laboratory/report/Charts.h"
#include "laboratory/report/Page.h"
#include "laboratory/report/Text.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/Json.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

namespace hybrid::rt {
using namespace lab::report;
using nlohmann::json;
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr size_t evaluation = 0, training = 1, mostPoints = 400;

double number(const json &object, const char *key) {
  if (!object.is_object())
    return none;
  auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : none;
}

std::string text(const json &object, const char *key) {
  if (!object.is_object())
    return "";
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// A count that a file states, with every digit.
std::string whole(double value) {
  return std::fabs(value) < 9e15 ? grouped(static_cast<int64_t>(value)) : compact(value);
}

/// A value of config.json for people.
std::string shown(const json &value) {
  if (value.is_string())
    return value.get<std::string>();
  if (value.is_number_float())
    return plain(value.get<double>());
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

struct Curve {
  const char *key, *name;
  bool share = false;
  double factor = 1;
};

Series seriesOf(const std::vector<json> &metrics, const char *split, const Curve &curve,
                size_t style) {
  Series series;
  series.style = style;
  series.title = style == evaluation ? "evaluation" : "training";
  for (const json &line : metrics) {
    double value = number(line, curve.key), step = number(line, "step");
    if (text(line, "split") != split || !std::isfinite(step) || line.contains("final"))
      continue;
    Point point{step, value * curve.factor};
    if (style == evaluation)
      point.title = fmt::format("evaluation at step {}: {} {}", whole(step), curve.name,
                                curve.share ? percent(value) + " %" : fixed(point.y, 4));
    series.points.push_back(std::move(point));
  }
  if (style == evaluation && series.points.size() <= 40)
    for (Point &point : series.points)
      point.marked = true;
  series.points = thinned(series.points, mostPoints);
  return series;
}

std::string draw(const std::vector<json> &metrics, const Curve &curve, bool evaluations) {
  LineChart chart;
  chart.xLabel = "step";
  chart.yLabel = curve.share ? fmt::format("{}, %", curve.name) : curve.name;
  chart.share = curve.share;
  chart.descends = std::string_view(curve.key) == "loss";
  chart.width = 460;
  chart.height = 260;
  chart.label = fmt::format("{} against steps.", curve.name);
  for (size_t style : {training, evaluation}) {
    if (style == evaluation && !evaluations)
      continue;
    Series series = seriesOf(metrics, style == evaluation ? "eval" : "train", curve, style);
    const Point *last = nullptr;
    for (const Point &point : series.points)
      if (std::isfinite(point.y))
        last = &point;
    if (!last)
      continue;
    chart.label +=
        fmt::format(" {} ends at {}.", series.title,
                    curve.share ? percent(last->y) + " %" : fmt::format("{:.4g}", last->y));
    chart.series.push_back(std::move(series));
  }
  return chart.series.empty() ? "" : "<figure>" + drawLines(chart) + "</figure>";
}

std::string curves(const std::vector<json> &metrics, bool bytes) {
  std::string out = draw(metrics, {"accuracy", "accuracy", true}, true) +
                    draw(metrics,
                         bytes ? Curve{"loss", "bits per byte", false, 1 / std::log(2.0)}
                               : Curve{"loss", "loss, nats"},
                         true);
  std::string process = draw(metrics, {"lr", "learning rate"}, false) +
                        draw(metrics, {"grad_norm", "norm of the gradient"}, false);
  if (out.empty() && process.empty())
    return "";
  std::string legend = R"(<div class="legend" role="group" aria-label="Single out a curve">)";
  for (size_t style : {evaluation, training})
    fmt::format_to(
        std::back_inserter(legend),
        R"(<button type="button" class="c{0}" data-series="{0}" aria-pressed="false">{1}<span class="name">{2}</span></button>)",
        style, drawKey(style), style == evaluation ? "evaluation" : "training");
  return R"(<section id="curves"><h2>Learning curves</h2><p>Training: means over the steps of a report. Evaluation: on test instances.</p>)" +
         legend + R"(</div><div class="grid-of pair">)" + out + process + "</div></section>";
}

std::string configTable(const json &config) {
  std::string rows;
  if (config.is_object())
    for (const auto &[key, value] : config.items()) {
      if (key == "model_source" || key == "command")
        continue;
      rows +=
          fmt::format(R"(<tr><th scope="row">{}</th><td class="text"><code>{}</code></td></tr>)",
                      escaped(key), escaped(shown(value)));
    }
  return rows.empty()
             ? ""
             : R"(<details><summary>Every setting</summary><div class="wide" role="region" tabindex="0" aria-label="Settings"><table><tbody>)" +
                   rows + "</tbody></table></div></details>";
}

std::string evaluationTable(const std::vector<json> &metrics) {
  std::string rows;
  for (const json &line : metrics) {
    double step = number(line, "step");
    if (text(line, "split") != "eval" || !std::isfinite(step))
      continue;
    auto cell = [&](double value, const std::string &words) {
      return fmt::format(R"(<td class="number" data-value="{}">{}</td>)",
                         std::isfinite(value) ? fmt::format("{:.9g}", value) : "", words);
    };
    double loss = number(line, "loss"), accuracy = number(line, "accuracy"),
           macro = number(line, "mad_accuracy"), examples = number(line, "examples");
    rows += "<tr>" + cell(step, whole(step) + (line.contains("final") ? ", final" : "")) +
            cell(accuracy, percent(accuracy)) + cell(macro, percent(macro)) +
            cell(loss, fixed(loss, 4)) + cell(examples, compact(examples)) +
            fmt::format("<td class=\"number\">{}</td></tr>", timeElement(number(line, "seconds")));
  }
  if (rows.empty())
    return "";
  std::string heads;
  size_t column = 0;
  for (const char *name : {"Step", "Accuracy, micro, %", "Macro, %", "Loss", "Instances"})
    heads += fmt::format(
        R"(<th scope="col" class="number" data-column="{}"><button type="button">{}</button></th>)",
        column++, name);
  return R"(<details><summary>Every evaluation</summary><div class="wide" role="region" tabindex="0" aria-label="Evaluations"><table class="sortable"><thead><tr>)" +
         heads + R"(<th scope="col" class="number">Time</th></tr></thead><tbody>)" + rows +
         "</tbody></table></div></details>";
}

struct Headline {
  std::string title, text; // plain; HTML
};

Headline headlineOf(const json &config, const std::vector<json> &metrics, const json &summary) {
  std::string model = std::filesystem::path(text(config, "model")).stem().string();
  std::string data = text(config, "task");
  data = data.substr(0, data.find(':'));
  if (data.empty())
    data = text(config, "data");
  std::string what = model.empty() ? "Training" : model;
  if (!data.empty())
    what += " on " + data;
  double steps = number(summary, "steps"), accuracy = number(summary, "eval_accuracy"),
         loss = number(summary, "eval_loss"), bits = number(summary, "eval_bits_per_byte");
  if (!summary.is_object()) {
    double last = 0;
    for (const json &line : metrics)
      last = std::fmax(last, number(line, "step"));
    return {
        what + ": not finished",
        fmt::format(
            "<p class=\"lede\">The run has not come to its end; its last report is of step {}.</p>",
            whole(last))};
  }
  Headline headline{fmt::format("{}: {}", what,
                                std::isfinite(bits) ? fixed(bits, 3) + " bits per byte"
                                                    : percent(accuracy) + " %"),
                    ""};
  headline.text = fmt::format(
      "<p class=\"lede\">After {} the evaluation gives an accuracy of {} % and a loss of {} nats",
      whole(steps) + (steps == 1 ? " step" : " steps"), percent(accuracy), fixed(loss, 4));
  if (double macro = number(summary, "eval_mad_accuracy"); std::isfinite(macro))
    headline.text += fmt::format(" (macro accuracy, as MAD has it: {} %)", percent(macro));
  headline.text += ".</p>";
  return headline;
}

std::string facts(const json &config, const json &summary) {
  std::string out = "<dl class=\"facts\">";
  auto fact = [&](const char *name, const std::string &value) {
    if (!value.empty() && value != "–")
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
  };
  auto plainOf = [&](const char *key) {
    double value = number(config, key);
    return std::isfinite(value) ? plain(value) : std::string();
  };
  fact("parameters", whole(number(config, "parameters")));
  fact("steps", whole(number(summary.is_object() ? summary : config, "steps")));
  fact("batch", whole(number(config, "batch")));
  fact("length", whole(number(config, "length")));
  fact("learning rate", plainOf("lr"));
  fact("weight decay", plainOf("weight_decay"));
  fact("seed", whole(number(config, "seed")));
  if (double seconds = number(summary, "train_seconds"); std::isfinite(seconds))
    fact("time of training", timeElement(seconds));
  if (double speed = number(summary, "tokens_per_second"); std::isfinite(speed))
    fact("tokens a second", fmt::format("<time>{}</time>", compact(speed)));
  if (double bytes = number(summary, "peak_bytes"); std::isfinite(bytes))
    fact("peak memory", fmt::format("<time>{} MB</time>", fixed(bytes / 1e6, 0)));
  return out + "</dl>";
}

} // namespace

std::string trainingReportText(const json &config, const std::vector<json> &metrics,
                               const json &summary) {
  Headline headline = headlineOf(config, metrics, summary);
  bool bytes = std::isfinite(number(summary, "eval_bits_per_byte"));
  for (const json &line : metrics)
    bytes = bytes || std::isfinite(number(line, "bits_per_byte"));
  std::string body = fmt::format(
      "<header><p class=\"eyebrow\">Training run</p><h1>{}</h1>{}{}</header><main id=\"main\">",
      escaped(headline.title), headline.text, facts(config, summary));
  body += curves(metrics, bytes);
  body += R"(<section id="reproduce"><h2>Do it again</h2>)";
  if (std::string command = text(config, "command"); !command.empty())
    body += fmt::format(
        R"(<pre class="command"><code id="command">{}</code></pre><button type="button" class="copy needs-script" data-copies="command" hidden>Copy</button>)",
        escaped(command));
  std::string versions = text(config, "runtime");
  if (std::string compiler = text(config, "compiler"); !compiler.empty())
    versions += (versions.empty() ? "" : ", ") + compiler;
  if (!versions.empty())
    body += fmt::format("<p class=\"soft\">{}</p>", escaped(versions));
  body += evaluationTable(metrics) + configTable(config);
  if (std::string source = text(config, "model_source"); !source.empty())
    body += fmt::format(
        R"(<details class="spec"><summary>The model <small><code>{}</code></small></summary><pre tabindex="0"><code>{}</code></pre></details>)",
        escaped(text(config, "model")), escaped(source));
  body += "</section></main><footer>From config.json, metrics.jsonl and summary.json of this "
          "folder.</footer>";
  return page(headline.title, body);
}

Result<void> writeTrainingReport(const std::string &folder) {
  auto read = [&](const char *name) -> Result<std::string> {
    std::string path = folder + "/" + name;
    std::ifstream file(path, std::ios::binary);
    if (!file)
      return Error{fmt::format("cannot read '{}': {}", path, std::strerror(errno))};
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
  };
  Result<std::string> config = read("config.json");
  if (!config)
    return config.error();
  json settings = parseJsonOrNull(*config);
  if (!settings.is_object())
    return Error{fmt::format("'{}/config.json' is not a JSON object", folder)};
  std::vector<json> metrics;
  if (Result<std::string> lines = read("metrics.jsonl")) {
    std::istringstream stream(*lines);
    for (std::string line; std::getline(stream, line);)
      if (json value = parseJsonOrNull(line); value.is_object())
        metrics.push_back(std::move(value));
  }
  json summary;
  if (Result<std::string> content = read("summary.json"))
    summary = parseJsonOrNull(*content);
  return writeFileAtomically(folder + "/report.html",
                             trainingReportText(settings, metrics, summary));
}

} // namespace hybrid::rt
