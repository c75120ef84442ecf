//===- OptimizerArgument.cpp - AdamW and its learning rate ------------------------===//
#include "tools/hybrid-run/OptimizerArgument.h"
#include <fmt/format.h>

namespace hybrid::tools {

void OptimizerArgument::addTo(CLI::App &verb) {
  const CLI::Range positive(1e-12, 1e12), nonNegative(0.0, 1e12);
  auto number = [&](const char *name, auto &value, const char *text) {
    return verb.add_option(name, value, text)->capture_default_str();
  };
  number("--lr", schedule.base, "learning rate")->check(positive);
  number("--min-lr", schedule.least, "learning rate at the end")->check(nonNegative);
  number("--warmup", schedule.warmup, "steps of linear warm-up")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  number("--warmup-lr", schedule.warmupStart, "learning rate of timm-cosine's first step")
      ->check(nonNegative);
  number("--schedule", kind, "cosine, constant, linear or timm-cosine");
  number("--weight-decay", weightDecay, "AdamW's decay of the parameters that take it")
      ->check(nonNegative);
  number("--beta1", beta1, "AdamW's first decay rate")->check(CLI::Range(0.0, 0.999999));
  number("--beta2", beta2, "AdamW's second decay rate")->check(CLI::Range(0.0, 0.99999999));
  number("--eps", epsilon, "AdamW's epsilon")->check(nonNegative);
  number("--clip", clip, "largest gradient norm; 0: any")->check(nonNegative);
}

void OptimizerArgument::check() {
  schedule.kind = valueOf(rt::scheduleKind(kind));
  if (schedule.least > schedule.base)
    throw Failure(fmt::format("--min-lr {} is above --lr {}", schedule.least, schedule.base));
}

rt::Hyper OptimizerArgument::at(int64_t step) const {
  return {schedule.at(step), weightDecay, beta1, beta2, epsilon, clip, step + 1};
}

} // namespace hybrid::tools
