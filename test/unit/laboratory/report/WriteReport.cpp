//===- WriteReport.cpp - the page of the fixture, for the browser's test --------===//
#include "laboratory/Compare.h"
#include "laboratory/report/Page.h"
#include "laboratory/report/Report.h"
#include "laboratory/report/TrainingReport.h"
#include "laboratory/scale/Correlation.h"
#include "laboratory/scale/FitPage.h"
#include "laboratory/scale/Join.h"
#include "laboratory/scale/Sweeps.h"
#include "runtime/files/AtomicFile.h"
#include "test/unit/laboratory/report/StudyFixture.h"
#include "test/unit/laboratory/scale/Chinchilla.h"
#include <cmath>
#include <cstdio>
#include <string_view>

using namespace hybrid::rt::lab;

namespace {

/// A training that nobody ran.
std::string trainingPage() {
  std::vector<nlohmann::json> metrics;
  for (int step = 10; step <= 3000; step += 10) {
    double learned = 1 / (1 + std::exp((900.0 - step) / 150));
    nlohmann::json line = {{"step", step},
                           {"loss", 2.0 * (1 - learned) + 0.01},
                           {"accuracy", 0.12 + 0.87 * learned},
                           {"seconds", step * 0.1}};
    line["split"] = "train";
    line["lr"] = 5e-4 * (1 + std::cos(step * 3.14159 / 3000)) / 2;
    line["grad_norm"] = 0.3 + 1.5 * learned * (1 - learned) * 4;
    metrics.push_back(line);
    if (step % 200 == 0) {
      line["split"] = "eval";
      line["examples"] = 1280;
      line["mad_accuracy"] = 0.1 + 0.88 * learned;
      metrics.push_back(line);
    }
  }
  nlohmann::json config = {{"model", "models/mad/striped-hyena-swiglu.hyb"},
                           {"model_source", "model striped() {}\n"},
                           {"command", "hybrid-run train models/mad/striped-hyena-swiglu.hyb"},
                           {"task", "in-context-recall:vocab=16,length=128"},
                           {"lr", 5e-4},
                           {"batch", 128},
                           {"parameters", 403808},
                           {"fingerprint", std::string(300, 'f')}};
  nlohmann::json summary = {{"steps", 3000}, {"eval_loss", 0.01}, {"eval_accuracy", 0.997}};
  return report::page(hybrid::rt::trainingJson(config, metrics, summary));
}

/// Scaling laws of two groups, one of whose budgets shows no minimum.
/// What was trained beside points: batches, shares of attention and a model that is small.
std::vector<scale::TrainedRun> runsBeside(const std::vector<scale::Point> &points) {
  std::vector<scale::TrainedRun> runs;
  auto add = [&](const scale::Point &point, const std::string &sweep, int64_t steps) {
    scale::TrainedRun run;
    run.point = point;
    run.budget = point.flops;
    run.size = std::to_string(static_cast<int64_t>(point.params));
    run.steps = steps;
    run.sweep = sweep;
    run.status = "done";
    runs.push_back(run);
    return &runs.back();
  };
  for (const scale::Point &point : points)
    add(point, "", 1000);
  for (int64_t steps : {500, 2000, 4000})
    add(points.front(), "batches", steps)->point.loss += 0.01;
  for (double share : {1.0, 0.5, 0.25}) {
    scale::TrainedRun *run = add(points.back(), "ratios", 1000);
    run->point.group += " ratio=" + std::to_string(static_cast<int>(1 / share) - 1);
    run->attention = share;
  }
  scale::TrainedRun *small = add(points.back(), "overtrain", 1000);
  small->point.params /= 1000;
  small->factor = 8;
  return runs;
}

std::string scalingPage() {
  std::vector<scale::Point> points;
  for (const char *group : {"striped", "transformer"})
    for (scale::Point point : scale::drawPoints({}, 0.003, 7)) {
      point.group = group;
      if (points.size() < 8)
        point.loss = 8 - point.loss;
      points.push_back(point);
    }
  scale::FitOptions options;
  options.bootstrap.samples = 200;
  const scale::Fit fit = scale::fitPoints(points, options);
  nlohmann::ordered_json json = scale::fitPageJson(fit);
  json["kind"] = "scaling-study";
  const std::vector<scale::TrainedRun> runs = runsBeside(points);
  scale::addSweeps({scale::ratioSweep(runs, options), scale::stateFrontier(runs),
                    scale::offOptimal(fit, {2, 4, 8}), scale::overtrainSweep(runs, fit),
                    scale::batchSweep(runs)},
                   json);
  return report::page(json);
}

/// Four architectures at two budgets: one task, and the mean of all.
std::string correlationPage() {
  std::vector<scale::Correlated> rows;
  for (double flops : {1e17, 1e18})
    for (const char *task : {"", "recall", "copying"}) {
      scale::Correlated row{flops, task, "accuracy", {}, {}, {}, {}, {}};
      for (const char *group : {"attention", "hyena", "mamba", "striped"}) {
        const auto i = static_cast<double>(row.groups.size());
        row.groups.push_back(group);
        row.scores.push_back(0.5 + 0.1 * i + (i == 1 ? 0.15 : 0) +
                             0.01 * static_cast<double>(*task != 0));
        row.perplexities.push_back(9 - i - flops / 1e18);
      }
      row.linear = scale::linearCorrelation(row.scores, row.perplexities, 0.95);
      row.rank = scale::rankCorrelation(row.scores, row.perplexities, 0.95);
      rows.push_back(std::move(row));
    }
  return report::page(scale::joinPageJson(rows));
}

} // namespace

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: hybrid-write-report OUT.html "
                         "[study|hostile|comparison|training|scaling|correlation]\n");
    return 2;
  }
  if (count > 2 && std::string_view(arguments[2]) == "training")
    return hybrid::rt::writeFileAtomically(arguments[1], trainingPage()) ? 0 : 1;
  if (count > 2 && std::string_view(arguments[2]) == "scaling")
    return hybrid::rt::writeFileAtomically(arguments[1], scalingPage()) ? 0 : 1;
  if (count > 2 && std::string_view(arguments[2]) == "correlation")
    return hybrid::rt::writeFileAtomically(arguments[1], correlationPage()) ? 0 : 1;
  Study study = test::makeStudy();
  if (count > 2 && std::string_view(arguments[2]) == "comparison") {
    Study other = test::makeStudy({.seed = 2, .architectures = 8});
    other.options[0].second = "0.9, 0.999";
    std::printf("%s", compareText(study, other, "results/a", "results/b").c_str());
    return writeComparison(study, other, arguments[1], "results/a", "results/b") ? 0 : 1;
  }
  if (count > 2 && std::string_view(arguments[2]) == "hostile") {
    // Names that would be markup, and one that is longer than any screen.
    auto rename = [&](size_t i, const std::string &name) {
      for (Run &run : study.runs)
        if (run.architecture == study.architectures[i].name)
          run.architecture = name;
      study.architectures[i].name = name;
    };
    rename(0, "</title></style></script><script>document.title='owned'</script>");
    rename(1, "\" onmouseover=\"document.title='owned'\" x=\"<img src=x onerror=alert(1)>");
    rename(2, std::string(400, 'W'));
    rename(3, "{{script}}{{data}}");
    study.architectures[4].source = "</code></pre><script>document.title='owned'</script>";
    study.command += " --set 'a=</code><iframe src=//example.invalid>'";
  }
  const std::string text = report::page(studyJson(study, scoreStudy(study)));
  if (auto written = hybrid::rt::writeFileAtomically(arguments[1], text); !written) {
    std::fprintf(stderr, "error: %s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}
