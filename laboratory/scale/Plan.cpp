//===- Plan.cpp - the trainings of a scaling study, before any is run -----------------===//
#include "laboratory/scale/Plan.h"
#include "laboratory/scale/Rules.h"
#include "runtime/files/Json.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

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

  Result<PlannedRun> plan(const ModelChoice &architecture, double budget, const std::string &size,
                          double batchFactor = 1) {
    PlannedRun run = runOf(architecture, size);
    run.budget = budget;
    auto single = costOf(run, 1);
    if (!single)
      return single.error();
    run.oneSequenceBytes = single->bytes;
    run.rate = options.rate.value_or(
        learningRate(budget, options.baseWidth ? tableParams().front() : single->activeParams));
    const double length = static_cast<double>(options.length);
    const double tokens = budget / single->flopsPerToken;
    const double batch = batchFactor * tokensOfBatch(budget, single->activeParams) / length;
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

  struct Sizes {
    std::vector<Sized> all, planned;
  };
  /// The sizes that an architecture may have, which are those that are named, the rows of table D.2
  /// where it goes down so far, or those of the small ones' rule; and those that a budget trains.
  Result<Sizes> sizesOf(const ModelChoice &architecture, double budget) {
    if (!options.sizes.empty()) {
      auto named = sized(architecture, options.sizes, std::numeric_limits<double>::infinity());
      if (!named)
        return named.error();
      return Sizes{*named, *named};
    }
    std::vector<Sized> table;
    for (double params : tableParams())
      table.push_back({fmt::format("{:.0f}M", params / 1e6), params});
    if (auto rows = around(table, budget); rows.size() >= 3)
      return Sizes{std::move(table), std::move(rows)};
    std::vector<std::string> names;
    for (int width : smallWidths)
      names.push_back(fmt::format("w{}", width));
    auto small = sized(architecture, names, 2 * farthest * middleSize(budget, options.tokensEach));
    if (!small)
      return Error{fmt::format("{}{}name sizes with --sizes", small.error().message,
                               small.error().message.ends_with('\n') ? "" : "; ")};
    auto some = around(*small, budget);
    if (some.size() < 3)
      return Error{fmt::format("{} has {} for {:.3g} FLOPs, and a parabola needs three: name them "
                               "with --sizes",
                               architecture.name, some.size() == 1 ? "one size" : "two sizes",
                               budget)};
    return Sizes{std::move(*small), std::move(some)};
  }

  /// Adds what a sweep trains of an architecture with one factor, but for what is planned anyway.
  Result<void> addSwept(const SweepKind &kind, const ModelChoice &architecture, double factor,
                        std::vector<PlannedRun> &runs) {
    const double budget = options.sweeps.budget;
    auto sizes = sizesOf(architecture, budget);
    if (!sizes)
      return sizes.error();
    auto variant =
        kind.variant({architecture, sizes->all, middleOf(sizes->planned, budget)}, factor);
    if (!variant)
      return variant.error();
    if (!*variant)
      return {};
    const SweptVariant &swept = **variant;
    std::vector<std::string> names = swept.sizes;
    if (names.empty()) {
      auto own = sizesOf(swept.model, budget);
      if (!own)
        return own.error();
      for (const Sized &size : own->planned)
        names.push_back(size.name);
    }
    for (const std::string &name : names) {
      auto run = plan(swept.model, budget, name, swept.batchFactor);
      if (!run)
        return run.error();
      run->sweep = kind.name;
      run->factor = factor;
      if (std::none_of(runs.begin(), runs.end(), [&](const PlannedRun &other) {
            return other.path == run->path && other.settings == run->settings &&
                   other.budget == budget && other.batch == run->batch;
          }))
        runs.push_back(std::move(*run));
    }
    return {};
  }

private:
  static PlannedRun runOf(const ModelChoice &architecture, const std::string &size) {
    PlannedRun run;
    run.architecture = architecture.name;
    run.path = architecture.path;
    run.size = size;
    run.settings = architecture.settings;
    for (const std::string &setting : settingsOf(size))
      run.settings.push_back(setting);
    return run;
  }

  /// Sizes with their parameters, up to the first one beyond `most`.
  Result<std::vector<Sized>> sized(const ModelChoice &architecture,
                                   const std::vector<std::string> &names, double most) {
    std::vector<Sized> sizes;
    for (const std::string &name : names) {
      auto cost = costOf(runOf(architecture, name), 1);
      if (!cost)
        return cost.error();
      sizes.push_back({name, cost->params});
      if (cost->params > most)
        break;
    }
    return sizes;
  }

  std::vector<Sized> around(const std::vector<Sized> &sizes, double budget) const {
    std::vector<double> params;
    for (const Sized &size : sizes)
      params.push_back(size.params);
    std::vector<Sized> some;
    for (size_t i : sizesAround(params, budget, options.sizesEach, options.tokensEach))
      some.push_back(sizes[i]);
    return some;
  }

  /// The size nearest to what so many tokens a parameter give.
  Sized middleOf(const std::vector<Sized> &sizes, double budget) const {
    const double wanted = std::log(middleSize(budget, options.tokensEach));
    auto off = [&](const Sized &size) { return std::fabs(std::log(size.params) - wanted); };
    return *std::min_element(sizes.begin(), sizes.end(),
                             [&](const Sized &a, const Sized &b) { return off(a) < off(b); });
  }

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

Result<std::vector<PlannedRun>> planRuns(const PlanOptions &options, const CostOf &costs) {
  Planner planner(options, costs);
  std::vector<PlannedRun> runs;
  for (const ModelChoice &architecture : options.architectures)
    for (double budget : options.budgets) {
      auto sizes = planner.sizesOf(architecture, budget);
      if (!sizes)
        return sizes.error();
      for (const Sized &size : sizes->planned) {
        auto run = planner.plan(architecture, budget, size.name);
        if (!run)
          return run.error();
        runs.push_back(std::move(*run));
      }
    }
  for (const SweepKind &kind : sweepKinds())
    for (const ModelChoice &architecture : options.architectures)
      for (double factor : options.sweeps.*kind.factors)
        if (auto done = planner.addSwept(kind, architecture, factor, runs); !done)
          return done.error();
  return runs;
}

} // namespace hybrid::rt::lab::scale
