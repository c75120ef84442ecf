//===- Optimizer.cpp - the update of a training step --------------------------===//
#include "runtime/Optimizer.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <span>

namespace hybrid::rt {

namespace {

/// What a program of the model's takes of the run.
struct Number {
  std::string_view name;
  double (*of)(const Hyper &);
};
constexpr Number numbers[] = {
    {"learning_rate", [](const Hyper &hyper) { return hyper.learningRate; }},
    {"weight_decay", [](const Hyper &hyper) { return hyper.weightDecay; }},
    {"step", [](const Hyper &hyper) { return static_cast<double>(hyper.step); }},
    {"clip_norm",
     [](const Hyper &hyper) {
       return hyper.clip > 0 ? hyper.clip : std::numeric_limits<double>::infinity();
     }},
};

void writeAdamW(std::span<double> values, const Hyper &hyper) {
  auto t = static_cast<double>(hyper.step);
  const double given[8] = {hyper.learningRate,
                           hyper.weightDecay,
                           hyper.beta1,
                           hyper.beta2,
                           hyper.epsilon,
                           hyper.clip,
                           1 - std::pow(hyper.beta1, t),
                           1 - std::pow(hyper.beta2, t)};
  if (values.size() == std::size(given))
    std::copy(std::begin(given), std::end(given), values.begin());
}

/// Whether this version writes such an input.
bool isKnown(const TensorInfo &input) {
  if (input.name == "hyper")
    return input.dtype == DType::F64 && input.elements() == 8;
  return input.elements() == 1 && input.dtype != DType::I32 &&
         std::any_of(std::begin(numbers), std::end(numbers),
                     [&](const Number &number) { return number.name == input.name; });
}

} // namespace

void writeHyper(Session &session, const Hyper &hyper, int64_t replica, int64_t step) {
  writeAdamW(session.inputAs<double>("update", "hyper", replica, step), hyper);
  for (const Number &number : numbers) {
    std::span<std::byte> bytes = session.input("update", number.name, replica, step);
    const double wide = number.of(hyper);
    const auto narrow = static_cast<float>(wide);
    if (bytes.size() == sizeof wide)
      std::memcpy(bytes.data(), &wide, sizeof wide);
    else if (bytes.size() == sizeof narrow)
      std::memcpy(bytes.data(), &narrow, sizeof narrow);
  }
}

Result<void> checkUpdateProgram(const Session &session) {
  const ProgramInfo *update = session.executable().findProgram("update");
  if (!update || !update->findOutput("gradient_norm") ||
      !std::all_of(update->inputs.begin(), update->inputs.end(), isKnown))
    return Error{fmt::format("{} has no program 'update' of the kind this version runs; compile it "
                             "again",
                             session.executable().name())};
  return {};
}

Result<double> updateParameters(Session &session, const Hyper &hyper) {
  writeHyper(session, hyper);
  if (auto done = session.run("update"); !done)
    return done.error();
  const TensorInfo *norm = session.executable().findProgram("update")->findOutput("gradient_norm");
  return numberAt(norm->dtype, session.output("update", norm->name), 0);
}

} // namespace hybrid::rt
