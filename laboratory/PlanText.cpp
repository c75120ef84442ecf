//===- PlanText.cpp - what a study is going to be, for people ------------------------===//
#include "laboratory/PlanText.h"
#include "laboratory/Columns.h"
#include "laboratory/IsoCheck.h"
#include "laboratory/StudyPlan.h"
#include "laboratory/StudyWatch.h"
#include "laboratory/Table.h"
#include "laboratory/TrainRuns.h"
#include "runtime/cpu/Threads.h"
#include "runtime/files/Print.h"
#include "training/record/Progress.h"
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

namespace hybrid::rt::lab {

std::string optionText(const Study &study) {
  size_t width = 0;
  for (const auto &[name, value] : study.options)
    width = std::max(width, name.size());
  std::string text;
  for (const auto &[name, value] : study.options)
    text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

Result<void> checkIso(const Study &study, const Setting &first, const StudyOptions &options,
                      std::FILE *stream) {
  say(stream, "\nfor {}\n{}", first.key(),
      costTable(study.architectures, terminalWidth(fileno(stream))));
  const IsoDifferences differences = isoDifferences(study.architectures, options.isoTolerance);
  if (differences.ofState.empty() && differences.ofParameters.empty())
    say(stream, "parameters and state are alike within {:.0f} %\n", 100 * options.isoTolerance);
  for (const auto *each : {&differences.ofParameters, &differences.ofState})
    for (const std::string &difference : *each)
      say(stream, "warning: {}\n", difference);
  auto refuse = [&](const std::vector<std::string> &these, const char *what) -> Result<void> {
    if (these.empty())
      return {};
    return Error{fmt::format("--require-iso: {} of {} differ{} by more than {:.0f} % "
                             "(--iso-tolerance), such as: {}",
                             these.size(), what, these.size() == 1 ? "s" : "",
                             100 * options.isoTolerance, these.front())};
  };
  if (options.requireIso != RequireIso::No)
    if (auto alike = refuse(differences.ofState, "the states"); !alike)
      return alike;
  return options.requireIso == RequireIso::All ? refuse(differences.ofParameters, "the parameters")
                                               : Result<void>();
}

std::function<void(size_t, size_t)> countingLine(const StudyOptions &options,
                                                 const std::string &what) {
  if (options.quiet || !isatty(STDERR_FILENO))
    return [](size_t, size_t) {};
  return [what](size_t done, size_t all) {
    say(stderr, "\r\033[Kcounting FLOPs {}, {} of {}{}", what, done, all,
        done == all ? "\r\033[K" : "");
  };
}

namespace {

/// What a plan comes to.
struct PlanTotal {
  size_t runs = 0;
  double flops = 0, seconds = 0;
};

/// A table of an architecture's settings. One of them is measured, and the others taken to be as
/// much slower as they have more FLOPs: a plan of hundreds of settings is to be there in seconds.
Result<void> printPlanOf(const Architecture &architecture, const std::vector<Setting> &suite,
                         const StudyOptions &options, const TrainContext &context, Models &models,
                         PlanTotal &total) {
  if (auto done = models.countCosts({architecture.name}, suite,
                                    countingLine(options, "of " + architecture.name));
      !done)
    return done;
  if (!options.quiet && isatty(STDERR_FILENO))
    say(stderr, "\r\033[Kmeasuring {}", architecture.name);
  auto times = measureSteps(
      context, {architecture.name, suite.front(), context.protocol.batch, /*replicas=*/1});
  if (!options.quiet && isatty(STDERR_FILENO))
    say(stderr, "\r\033[K");
  if (!times)
    return times.error();
  std::vector<std::vector<std::string>> rows{
      {architecture.name, "runs", "updates", "FLOPs a run", "step", "time a run"}};
  std::optional<double> measuredFlops; // of a step
  for (const Setting &setting : suite) {
    auto runs = planSetting(architecture.name, setting, context.protocol, models);
    if (!runs)
      return runs.error();
    const Run &run = runs->front();
    const double flops = trainingFlops(run) / static_cast<double>(run.steps);
    const double scale = flops / measuredFlops.value_or(flops);
    measuredFlops = measuredFlops.value_or(flops);
    const double seconds =
        runSeconds(context.protocol, setting, {scale * times->step, scale * times->evaluation});
    rows.push_back({run.axis == "baseline"
                        ? run.task
                        : fmt::format("{} {}={}", run.task, run.axis, run.axisValue),
                    std::to_string(runs->size()), std::to_string(run.steps),
                    fmt::format("{:.3g}", trainingFlops(run)),
                    fmt::format("{:.0f} ms", scale * times->step * 1e3), clockText(seconds)});
    const auto count = static_cast<double>(runs->size());
    total.runs += runs->size();
    total.flops += count * trainingFlops(run);
    total.seconds += count * seconds;
  }
  say("\n{}", alignColumns(rows, 0));
  std::fflush(stdout); // the next architecture takes seconds
  return {};
}

} // namespace

Result<void> printPlan(const Study &study, const Protocol &protocol, const StudyOptions &options,
                       Models &models) {
  auto suite = protocol.settings();
  if (!suite)
    return suite.error();
  TrainContext context;
  context.protocol = protocol;
  context.threads = options.threads > 0 || options.jobs == 1
                        ? options.threads
                        : std::max(1, availableThreads() / options.jobs);
  context.provider = [&](const ModelRequest &request) { return models.load(request); };
  PlanTotal total;
  for (const Architecture &architecture : study.architectures)
    if (auto done = printPlanOf(architecture, *suite, options, context, models, total); !done)
      return done;
  say("\n{} runs, {:.3g} FLOPs, {} with {} process{} on this machine as it is now (each "
      "architecture's first setting is measured, others by their FLOPs); solved runs end "
      "earlier\n",
      total.runs, total.flops, clockText(total.seconds / std::max(1, options.jobs)), options.jobs,
      options.jobs == 1 ? "" : "es");
  return {};
}

} // namespace hybrid::rt::lab
