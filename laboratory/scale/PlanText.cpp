//===- PlanText.cpp - a plan for people and for scripts -------------------------------===//
#include "laboratory/Columns.h"
#include "laboratory/scale/Plan.h"
#include "training/compile/Process.h"
#include <fmt/format.h>
#include <numeric>

namespace hybrid::rt::lab::scale {
namespace {
using json = nlohmann::ordered_json;

std::string timeText(double seconds) {
  if (seconds < 120)
    return fmt::format("{:.1f} s", seconds);
  if (seconds < 2 * 3600)
    return fmt::format("{:.1f} min", seconds / 60);
  return seconds < 2 * 86400 ? fmt::format("{:.1f} h", seconds / 3600)
                             : fmt::format("{:.1f} days", seconds / 86400);
}

std::string deviceText(const DeviceModel &device) {
  return fmt::format("times are estimates for {}: {:.3g} FLOPs a second at a share of {:.2g}",
                     device.name, device.peakFlops, device.utilisation);
}

double totalFlops(const std::vector<PlannedRun> &runs) {
  return std::accumulate(runs.begin(), runs.end(), 0.0,
                         [](double sum, const PlannedRun &run) { return sum + run.flops; });
}

} // namespace

std::vector<std::string> optimizersOf(const std::optional<int64_t> &baseWidth) {
  if (!baseWidth)
    return {};
  return {fmt::format("adamw_by_fan_in with (base = {}, beta2 = 0.95)", *baseWidth)};
}

std::string commandOf(const PlanOptions &options, const PlannedRun &run) {
  std::string command = "hybrid-run train " + shellWord(run.path);
  for (const std::string &setting : run.settings)
    command += " --set " + shellWord(setting);
  // Appendix C of Poli et al. 2024: cosine to 10 % of the rate, Adam with 0.9 and 0.95, decay 0.1.
  command += fmt::format(" --batch {} --length {} --steps {} --warmup {} --lr {:.4g} --min-lr "
                         "{:.4g} --beta2 0.95 --weight-decay 0.1",
                         run.batch, options.length, run.steps, run.warmup, run.rate, run.rate / 10);
  for (const std::string &optimizer : optimizersOf(options.baseWidth))
    command += " --optimizer " + shellWord(optimizer);
  if (options.precision != "f32")
    command += " --precision " + options.precision;
  return command + " --data " + (options.data.empty() ? "DATA" : shellWord(options.data));
}

json planJson(const PlanOptions &options, const std::vector<PlannedRun> &runs) {
  json list = json::array();
  double seconds = 0;
  for (const PlannedRun &run : runs) {
    seconds += run.seconds.value_or(0);
    list.push_back(
        {{"architecture", run.architecture},
         {"size", run.size},
         {"budget", run.budget},
         {"sweep", run.sweep.empty() ? json() : json(run.sweep)},
         {"factor", run.sweep.empty() ? json() : json(run.factor)},
         {"params", run.cost.params},
         {"active_params", run.cost.activeParams},
         {"flops_per_token", run.cost.flopsPerToken},
         {"tokens", run.tokens},
         {"flops", run.flops},
         {"batch", run.batch},
         {"steps", run.steps},
         {"warmup", run.warmup},
         {"learning_rate", run.rate},
         {"memory_bytes", run.cost.bytes},
         {"memory_bytes_of_one_sequence", run.oneSequenceBytes},
         {"sequences_that_fit", run.sequencesThatFit ? json(*run.sequencesThatFit) : json()},
         {"seconds", run.seconds ? json(*run.seconds) : json()},
         {"remark", run.remark},
         {"command", commandOf(options, run)}});
  }
  json device;
  if (options.device)
    device = {{"name", options.device->name},
              {"peak_flops", options.device->peakFlops},
              {"utilisation", options.device->utilisation},
              {"memory_bytes", options.device->bytes}};
  return {{"kind", "scaling-plan"},
          {"cost_method", options.method},
          {"base_width", options.baseWidth ? json(*options.baseWidth) : json()},
          {"length", options.length},
          {"device", std::move(device)},
          {"runs", std::move(list)},
          {"total_flops", totalFlops(runs)},
          {"total_seconds", seconds > 0 ? json(seconds) : json()}};
}

std::string planText(const PlanOptions &options, const std::vector<PlannedRun> &runs, int jobs,
                     const std::string &measured) {
  std::vector<std::vector<std::string>> rows{{"architecture", "budget", "size", "params", "tokens",
                                              "batch", "steps", "warm-up", "rate", "memory",
                                              "time"}};
  double seconds = 0;
  std::string remarks;
  for (const PlannedRun &run : runs) {
    seconds += run.seconds.value_or(0);
    rows.push_back({run.architecture, fmt::format("{:.3g}", run.budget), run.size,
                    fmt::format("{:.4g}M", run.cost.params / 1e6),
                    fmt::format("{:.4g}", run.tokens), std::to_string(run.batch),
                    std::to_string(run.steps), std::to_string(run.warmup),
                    fmt::format("{:.3g}", run.rate), fmt::format("{:.3g} GB", run.cost.bytes / 1e9),
                    run.seconds ? timeText(*run.seconds) : "-"});
    if (!run.remark.empty())
      remarks += fmt::format("{} {} at {:.3g} FLOPs: {}\n", run.architecture, run.size, run.budget,
                             run.remark);
  }
  std::string text = alignColumns(rows, 0) + remarks;
  text += fmt::format("{} runs of {} positions, {:.4g} FLOPs as '{}' counts them", runs.size(),
                      options.length, totalFlops(runs), options.method);
  if (options.device)
    text += fmt::format(", {} on one device\n{}", timeText(seconds), deviceText(*options.device));
  else if (!measured.empty())
    text += fmt::format(", {} with {} process{}\n{}", timeText(seconds / jobs), jobs,
                        jobs == 1 ? "" : "es", measured);
  return text + "\n";
}

} // namespace hybrid::rt::lab::scale
