//===- Plan.cpp - the trainings of a scaling study, before any is run -----------------===//
#include "laboratory/scale/Plan.h"
#include "laboratory/scale/Rules.h"
#include "runtime/files/Json.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab::scale {
namespace {

/// Training is planned by 6 FLOPs per parameter and token before anything is counted.
constexpr double plannedFlopsEach = 6;
double middleSize(double budget, double tokensEach) {
  return std::sqrt(budget / plannedFlopsEach / tokensEach);
}
/// How far from that the sizes of a budget lie, at most.
constexpr double farthest = 4;
/// Fewer steps cannot follow a schedule with a warm-up of 1 %.
constexpr int64_t fewestSteps = 100;
/// Widths that are tried where table D.2 has no sizes so small.
constexpr int smallWidths[] = {8,   16,  24,  32,  40,  48,  56,  64,  80,  96,
                               112, 128, 160, 192, 224, 256, 320, 384, 448, 512};

std::vector<std::string> settingsOf(const std::string &size) {
  std::vector<std::string> settings;
  for (size_t at = 0; at <= size.size();) {
    size_t end = std::min(size.find(':', at), size.size());
    std::string part = size.substr(at, end - at);
    settings.push_back(part.find('=') == std::string::npos ? "size=" + part : part);
    at = end + 1;
  }
  return settings;
}

class Planner {
public:
  Planner(const PlanOptions &options, const CostOf &costs) : options(options), costs(costs) {}

  Result<PlannedRun> plan(const ModelChoice &architecture, double budget, const std::string &size) {
    PlannedRun run;
    run.architecture = architecture.name;
    run.path = architecture.path;
    run.size = size;
    run.settings = architecture.settings;
    for (const std::string &setting : settingsOf(size))
      run.settings.push_back(setting);
    run.budget = budget;
    auto single = costOf(run, 1);
    if (!single)
      return single.error();
    run.oneSequenceBytes = single->bytes;
    run.rate = options.rate.value_or(learningRate(budget, single->activeParams));
    const double length = static_cast<double>(options.length);
    const double tokens = budget / single->flopsPerToken;
    const double batch = tokensOfBatch(budget, single->activeParams) / length;
    run.batch = std::max<int64_t>(1, std::llround(batch));
    const double perStep = static_cast<double>(run.batch) * length;
    run.steps = std::max<int64_t>(1, std::llround(tokens / perStep));
    run.warmup = std::max<int64_t>(1, std::llround(0.01 * static_cast<double>(run.steps)));
    run.tokens = perStep * static_cast<double>(run.steps);
    run.flops = run.tokens * single->flopsPerToken;
    auto whole = costOf(run, run.batch);
    if (!whole)
      return whole.error();
    run.cost = *whole;
    if (run.steps < fewestSteps)
      run.remark = fmt::format("{} steps are few", run.steps);
    if (options.device)
      fitDevice(run);
    return run;
  }

  /// Sizes of the small ones' rule for a budget.
  Result<std::vector<std::string>> smallSizes(const ModelChoice &architecture, double budget) {
    std::vector<std::string> names;
    std::vector<double> params;
    for (int width : smallWidths) {
      PlannedRun run;
      run.architecture = architecture.name;
      run.path = architecture.path;
      run.size = fmt::format("w{}", width);
      run.settings = architecture.settings;
      run.settings.push_back("size=" + run.size);
      auto cost = costOf(run, 1);
      if (!cost)
        return cost.error();
      names.push_back(run.size);
      params.push_back(cost->params);
      if (cost->params >
          2 * farthest * middleSize(budget, options.tokensEach)) // nothing larger is near
        break;
    }
    std::vector<std::string> chosen;
    for (size_t i : sizesAround(params, budget, options.sizesEach, options.tokensEach))
      chosen.push_back(names[i]);
    return chosen;
  }

private:
  double tokensOfBatch(double budget, double params) const {
    const std::vector<double> &wanted = options.batchTokens;
    if (wanted.empty())
      return batchTokens(budget, params);
    auto place = std::find(options.budgets.begin(), options.budgets.end(), budget);
    const auto at = static_cast<size_t>(place - options.budgets.begin());
    return at < wanted.size() ? wanted[at] : wanted.front();
  }

  Result<SizeCost> costOf(const PlannedRun &run, int64_t batch) {
    std::string key = fmt::format("{}\n{}", run.path, batch);
    for (const std::string &setting : run.settings)
      key += "\n" + setting;
    auto found = known.find(key);
    if (found != known.end())
      return found->second;
    auto cost = costs(run.path, run.settings, batch);
    if (!cost)
      return Error{
          fmt::format("{} of size {}: {}", run.architecture, run.size, cost.error().message)};
    return known.emplace(key, *cost).first->second;
  }

  void fitDevice(PlannedRun &run) const {
    run.seconds = options.device->seconds(run.flops);
    // Memory is linear in the batch.
    double each = run.batch > 1
                      ? (run.cost.bytes - run.oneSequenceBytes) / static_cast<double>(run.batch - 1)
                      : run.oneSequenceBytes;
    double room = options.device->bytes - (run.oneSequenceBytes - each);
    double fitting = each > 0 ? std::floor(room / each) : 0;
    run.sequencesThatFit =
        static_cast<int64_t>(std::clamp(fitting, 0.0, static_cast<double>(run.batch)));
    if (*run.sequencesThatFit < run.batch)
      run.remark += fmt::format("{}{} of {} sequences fit at a time",
                                run.remark.empty() ? "" : "; ", *run.sequencesThatFit, run.batch);
  }

  const PlanOptions &options;
  const CostOf &costs;
  std::map<std::string, SizeCost> known;
};

} // namespace

CostOf compilerCosts(const PlanOptions &options) {
  return [&options, compiler = findCompiler()](const std::string &path,
                                               const std::vector<std::string> &settings,
                                               int64_t batch) -> Result<SizeCost> {
    std::vector<std::string> arguments{path,
                                       "--cost=json",
                                       "--batch",
                                       std::to_string(batch),
                                       "--length",
                                       std::to_string(options.length),
                                       "--precision",
                                       options.precision,
                                       "--cost-method",
                                       options.method};
    for (const std::string &setting : settings)
      arguments.insert(arguments.end(), {"--set", setting});
    auto said = runForOutput(compiler, arguments);
    if (!said)
      return said.error();
    if (said->status != 0)
      return Error{said->err.empty() ? "hybridc was ended by " + said->text() : said->err};
    nlohmann::json counted = parseJsonOrNull(said->out);
    nlohmann::json memory = counted.value("memory", nlohmann::json());
    const bool isTrue = options.method == "true";
    nlohmann::json published = counted.value("published", nlohmann::json());
    auto params = jsonField<double>(counted, "parameters"),
         active = jsonField<double>(counted, "active_parameters"),
         flops = jsonField<double>(isTrue ? counted : published, "training_flops_per_token"),
         bytes = jsonField<double>(memory, "total_bytes");
    if (!params || !active || !flops || !bytes || !(*flops > 0))
      return Error{
          fmt::format("hybridc does not count its training by the method '{}'", options.method)};
    if (const auto missing = published.find("layers_without_terms");
        !isTrue && missing != published.end() && !missing->empty())
      return Error{fmt::format("the method '{}' does not count all of its layers, such as {}: take "
                               "--cost-method true",
                               options.method, jsonLine(missing->front()))};
    auto fixed = jsonField<int64_t>(counted, "fixed_state_elements"),
         growing = jsonField<int64_t>(counted, "dynamic_state_elements");
    return SizeCost{*params, *active, *flops, *bytes,
                    fixed && growing ? std::optional(StateSize{*fixed, *growing}) : std::nullopt};
  };
}

std::vector<size_t> sizesAround(const std::vector<double> &sizes, double budget, int count,
                                double tokensEach) {
  const double middle = middleSize(budget, tokensEach);
  std::vector<size_t> chosen;
  for (int i = 0; i < count; ++i) {
    double share = count == 1 ? 0.5 : static_cast<double>(i) / (count - 1);
    double wanted = std::log(middle) + (2 * share - 1) * std::log(farthest);
    auto nearest = std::min_element(sizes.begin(), sizes.end(), [&](double a, double b) {
      return std::fabs(std::log(a) - wanted) < std::fabs(std::log(b) - wanted);
    });
    auto at = static_cast<size_t>(nearest - sizes.begin());
    if (!chosen.empty())
      at = std::max(at, chosen.back() + 1);
    if (at < sizes.size() && sizes[at] < 1.5 * farthest * middle)
      chosen.push_back(at);
  }
  return chosen;
}

std::vector<std::string> tableSizes(double budget, int count, double tokensEach) {
  const std::vector<double> table = tableParams();
  std::vector<std::string> names;
  for (size_t i : sizesAround(table, budget, count, tokensEach))
    names.push_back(fmt::format("{:.0f}M", table[i] / 1e6));
  return names;
}

Result<std::vector<PlannedRun>> planRuns(const PlanOptions &options, const CostOf &costs) {
  Planner planner(options, costs);
  std::vector<PlannedRun> runs;
  auto planBudget = [&](const ModelChoice &architecture, double budget) -> Result<void> {
    std::vector<std::string> sizes = options.sizes;
    if (sizes.empty())
      sizes = tableSizes(budget, options.sizesEach, options.tokensEach);
    if (options.sizes.empty() && sizes.size() < 3) {
      auto small = planner.smallSizes(architecture, budget);
      if (!small)
        return Error{fmt::format("{}{}name sizes with --sizes", small.error().message,
                                 small.error().message.ends_with('\n') ? "" : "; ")};
      sizes = std::move(*small);
    }
    if (options.sizes.empty() && sizes.size() < 3)
      return Error{fmt::format("{} has {} for {:.3g} FLOPs, and a parabola needs three: name them "
                               "with --sizes",
                               architecture.name, sizes.size() == 1 ? "one size" : "two sizes",
                               budget)};
    for (const std::string &size : sizes) {
      auto run = planner.plan(architecture, budget, size);
      if (!run)
        return run.error();
      runs.push_back(std::move(*run));
    }
    return {};
  };
  for (const ModelChoice &architecture : options.architectures)
    for (double budget : options.budgets)
      if (auto done = planBudget(architecture, budget); !done)
        return done.error();
  const size_t wanted = runs.size();
  for (const ModelChoice &architecture : options.sweep)
    if (auto done = planBudget(architecture, options.sweepBudget); !done)
      return done.error();
  for (size_t i = wanted; i < runs.size(); ++i)
    runs[i].isSweep = true;
  return runs;
}

} // namespace hybrid::rt::lab::scale
