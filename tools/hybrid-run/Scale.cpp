//===- Scale.cpp - hybrid-run scale: from a budget to a frontier ---------------------===//
#include "executable/Printable.h"
#include "laboratory/scale/FitPage.h"
#include "laboratory/scale/FitReport.h"
#include "laboratory/scale/Join.h"
#include "laboratory/scale/Predict.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "tools/hybrid-run/ScaleRun.h"
#include "tools/hybrid-run/Verbs.h"
#include <filesystem>

namespace hybrid::tools {
namespace {
namespace scale = rt::lab::scale;

struct FitArguments {
  std::string path;
  scale::FitOptions fit;
  bool json = false;
};

struct ReportArguments : FitArguments {
  std::string report;
};

struct PredictArguments : FitArguments {
  double flops = 0;
};

/// What both verbs fit, and how.
void addFitOptions(CLI::App &verb, FitArguments &arguments) {
  scale::FitOptions &fit = arguments.fit;
  verb.add_option("--tolerance", fit.tolerance,
                  "trainings are of one budget if their FLOPs differ by no more than this share")
      ->check(Range(0.0, 0.5))
      ->capture_default_str();
  verb.add_option("--bootstrap", fit.bootstrap.samples, "samples of the bootstrap; 0: no intervals")
      ->check(Range(0, 1000000))
      ->capture_default_str();
  verb.add_option("--seed", fit.bootstrap.seed, "of the bootstrap")->capture_default_str();
  verb.add_option("--level", fit.bootstrap.level, "share that an interval holds")
      ->check(Range(0.5, 0.999))
      ->capture_default_str();
  verb.add_flag("--json", arguments.json, "for scripts");
}

/// Standard error has what is to be said of the points; the JSON has it too.
void tellRemarks(const scale::Fit &fit) {
  for (const scale::GroupFit &group : fit.groups)
    for (const scale::Remark &remark : group.remarks)
      rt::say(stderr, "warning: {}\n", printable(scale::remarkText(group, remark)));
}

scale::Fit fitOf(const FitArguments &arguments) {
  std::string path = arguments.path;
  if (std::filesystem::is_directory(path))
    path += "/points.csv";
  scale::Fit fit = scale::fitPoints(valueOf(scale::readPoints(path)), arguments.fit);
  tellRemarks(fit);
  return fit;
}

void addFit(CLI::App &app) {
  auto *verb = app.add_subcommand("fit", "fit scaling laws to a table of trainings");
  auto arguments = std::make_shared<ReportArguments>();
  verb->add_option("points", arguments->path,
                   "a table (.csv) with the columns flops, params, tokens, loss and, if there are "
                   "several, group")
      ->required();
  addFitOptions(*verb, *arguments);
  verb->add_option("--report", arguments->report, "also write a page (.html) that draws the fit");
  verb->callback([arguments] {
    scale::Fit fit = fitOf(*arguments);
    if (!arguments->report.empty())
      require(scale::writeFitPage(fit, arguments->report));
    if (arguments->json)
      rt::say("{}\n", rt::jsonText(scale::fitJson(fit)));
    else
      rt::say("{}", printable(scale::fitText(fit)));
    if (!fit.hasAny())
      throw Failure("nothing could be fitted: the warnings say what the points lack");
  });
}

void addPredict(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "predict", "size, tokens, batch, learning rate and loss of a budget, by a fitted law");
  auto arguments = std::make_shared<PredictArguments>();
  verb->add_option("points", arguments->path, "a table of trainings, or a folder with points.csv")
      ->required();
  verb->add_option("--flops", arguments->flops, "the budget, as in 1e18")
      ->check(Range(1.0, 1e30))
      ->required();
  addFitOptions(*verb, *arguments);
  verb->callback([arguments] {
    scale::Fit fit = fitOf(*arguments);
    nlohmann::ordered_json predictions = nlohmann::ordered_json::array();
    std::string text;
    for (const scale::GroupFit &group : fit.groups) {
      auto prediction = scale::predict(group, arguments->flops, arguments->fit.bootstrap.level);
      if (!prediction)
        continue;
      for (const std::string &warning : prediction->warnings)
        rt::say(stderr, "warning: {}\n",
                printable((group.group.empty() ? "" : "group '" + group.group + "': ") + warning));
      predictions.push_back(scale::predictionJson(*prediction));
      text += (text.empty() ? "" : "\n") + scale::predictionText(*prediction);
    }
    if (predictions.empty())
      throw Failure("nothing could be fitted: the warnings say what the points lack");
    if (arguments->json)
      rt::say("{}\n", rt::jsonText(nlohmann::ordered_json{{"kind", "scaling-prediction"},
                                                          {"groups", std::move(predictions)}}));
    else
      rt::say("{}", printable(text));
  });
}

struct JoinArguments : FitArguments {
  std::string study, report;
};

void addJoin(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "join", "correlate scores of synthetic tasks with perplexity at the best size of a budget");
  auto arguments = std::make_shared<JoinArguments>();
  verb->add_option("points", arguments->path, "a table of trainings, or a folder with points.csv")
      ->required();
  verb->add_option("--scores", arguments->study,
                   "a study of hybrid-run mad: its folder, or study.json; its architectures are "
                   "the points' groups")
      ->required();
  addFitOptions(*verb, *arguments);
  verb->add_option("--report", arguments->report, "also write a page (.html) that draws it");
  verb->callback([arguments] {
    auto columns = valueOf(scale::readScores(arguments->study));
    auto rows = valueOf(scale::join(fitOf(*arguments), columns));
    if (!arguments->report.empty())
      require(scale::writeJoinPage(rows, arguments->report));
    if (arguments->json)
      rt::say("{}\n", rt::jsonText(scale::joinJson(rows)));
    else
      rt::say("{}", printable(scale::joinText(rows)));
  });
}

} // namespace

void addScale(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "scale", "scaling laws: plan and train models of many sizes at some budgets of FLOPs, fit "
               "laws to them, predict with them");
  verb->require_subcommand(0, 1);
  addScaleRun(*verb);
  addFit(*verb);
  addPredict(*verb);
  addJoin(*verb);
}

} // namespace hybrid::tools
