//===- Scale.cpp - hybrid-run scale: from a budget to a frontier ---------------------===//
#include "executable/Printable.h"
#include "laboratory/scale/FitPage.h"
#include "laboratory/scale/FitReport.h"
#include "laboratory/scale/Join.h"
#include "laboratory/scale/Plan.h"
#include "laboratory/scale/Predict.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
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
  std::string study;
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
  verb->callback([arguments] {
    auto columns = valueOf(scale::readScores(arguments->study));
    auto rows = valueOf(scale::join(fitOf(*arguments), columns));
    if (arguments->json)
      rt::say("{}\n", rt::jsonText(scale::joinJson(rows)));
    else
      rt::say("{}", printable(scale::joinText(rows)));
  });
}

struct PlanArguments {
  scale::PlanOptions plan;
  std::vector<std::string> models, settings;
  std::string sizes = "auto", device;
  bool json = false, commands = false;
};

/// "auto", a number of sizes a budget, or their names.
void setSizes(scale::PlanOptions &plan, const std::string &text) {
  if (text == "auto")
    return;
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    if (text.empty() || text.size() > 2 || std::stoi(text) < 3)
      throw CLI::ValidationError("--sizes",
                                 "a budget needs from 3 to 99 sizes, got '" + text + "'");
    plan.sizesEach = std::stoi(text);
    return;
  }
  plan.sizes = CLI::detail::split(text, ',');
  for (const std::string &size : plan.sizes)
    if (size.empty())
      throw CLI::ValidationError("--sizes", "'" + text + "' has an empty name");
}

void printPlan(PlanArguments &arguments) {
  scale::PlanOptions &plan = arguments.plan;
  setSizes(plan, arguments.sizes);
  plan.architectures = valueOf(rt::lab::chooseModels(arguments.models, arguments.settings, {}));
  if (!arguments.device.empty())
    plan.device = valueOf(scale::deviceModel(arguments.device));
  auto runs = valueOf(scale::planRuns(plan, scale::compilerCosts(plan)));
  if (arguments.json)
    rt::say("{}\n", rt::jsonText(scale::planJson(plan, runs)));
  else if (arguments.commands)
    for (const scale::PlannedRun &run : runs)
      rt::say("{}\n", scale::commandOf(plan, run));
  else
    rt::say("{}", printable(scale::planText(plan, runs)));
}

void addPlan(CLI::App &app) {
  auto *verb = app.add_subcommand("plan", "the trainings of a scaling study, their sizes, tokens, "
                                          "steps, memory and time; nothing is trained");
  auto arguments = std::make_shared<PlanArguments>();
  scale::PlanOptions &plan = arguments->plan;
  verb->add_option("models", arguments->models,
                   "MODEL.hyb or MODEL.hyb:NAME=VALUE,...; those of models/scaling know table D.2")
      ->required();
  verb->add_option("--budgets", plan.budgets, "FLOPs of a training, as in 1e14,3e14")
      ->delimiter(',')
      ->check(Range(1.0, 1e30))
      ->required();
  verb->add_option("--sizes", arguments->sizes,
                   "how many of table D.2 a budget, their names (70M,102M), or settings "
                   "(width=64:layers=2)")
      ->capture_default_str();
  verb->add_option("--set", arguments->settings, "NAME=VALUE: a parameter of every model")
      ->allow_extra_args(false);
  verb->add_option("--length", plan.length, "positions in a sequence")
      ->check(Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str();
  verb->add_option("--cost-method", plan.method,
                   "whose FLOPs: true (as computed), or a paper's, such as mad")
      ->capture_default_str();
  verb->add_option("--precision", plan.precision, "of the trainings")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  verb->add_option("--device-model", arguments->device,
                   "estimate times for a100, h100, h200, or FLOPS:BYTES: FLOPs a second that "
                   "training reaches and bytes of memory");
  verb->add_option("--data", plan.data, "of the commands, as hybrid-run train takes it");
  auto *json = verb->add_flag("--json", arguments->json, "for scripts");
  verb->add_flag("--commands", arguments->commands, "print the commands that train")
      ->excludes(json);
  verb->callback([arguments] { printPlan(*arguments); });
}

} // namespace

void addScale(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "scale", "scaling laws: plan trainings, fit laws to them, predict with them");
  verb->require_subcommand(1);
  addPlan(*verb);
  addFit(*verb);
  addPredict(*verb);
  addJoin(*verb);
}

} // namespace hybrid::tools
