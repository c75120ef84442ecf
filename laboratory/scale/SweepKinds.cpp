//===- SweepKinds.cpp - what is varied beside a scaling study's plan --------------------===//
#include "laboratory/scale/SweepKinds.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab::scale {
namespace {

/// A model so many times smaller may miss its size by this factor.
constexpr double mostOff = 1.5;

Result<std::optional<SweptVariant>> otherRatio(const SweptModel &swept, double ratio) {
  SweptVariant variant{swept.model, {}, 1};
  const std::string name = std::string(ratioParameter) + "=";
  auto &settings = variant.model.settings;
  auto there = std::find_if(settings.begin(), settings.end(),
                            [&](const std::string &each) { return each.starts_with(name); });
  if (there == settings.end())
    return std::optional<SweptVariant>();
  *there = fmt::format("{}{:g}", name, ratio);
  variant.model.name += " " + *there;
  return std::optional(std::move(variant));
}

Result<std::optional<SweptVariant>> smaller(const SweptModel &swept, double factor) {
  const double wanted = swept.middle.params / factor;
  auto off = [&](const Sized &size) { return std::fabs(std::log(size.params / wanted)); };
  const auto nearest =
      std::min_element(swept.sizes.begin(), swept.sizes.end(),
                       [&](const Sized &a, const Sized &b) { return off(a) < off(b); });
  if (off(*nearest) > std::log(mostOff))
    return Error{fmt::format("--overtrain {:g}: of {} no size has about {:.3g} parameters, as many "
                             "times fewer than {}; the nearest is {} with {:.3g}: name others with "
                             "--sizes, or leave the factor out",
                             factor, swept.model.name, wanted, swept.middle.name, nearest->name,
                             nearest->params)};
  return std::optional(SweptVariant{swept.model, {nearest->name}, 1});
}

Result<std::optional<SweptVariant>> otherBatch(const SweptModel &swept, double factor) {
  return std::optional(SweptVariant{swept.model, {swept.middle.name}, factor});
}

constexpr SweepKind kinds[] = {
    {"ratios", "--ratios", &SweepOptions::ratios, true, otherRatio},
    {"overtrain", "--overtrain", &SweepOptions::overtrain, false, smaller},
    {"batches", "--batch-sweep", &SweepOptions::batches, false, otherBatch},
};

} // namespace

std::span<const SweepKind> sweepKinds() { return kinds; }

} // namespace hybrid::rt::lab::scale
