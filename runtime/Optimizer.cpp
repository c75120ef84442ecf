//===- Optimizer.cpp - the update of a training step --------------------------===//
#include "runtime/Optimizer.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt {

void writeHyper(std::span<double> values, const Hyper &hyper) {
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

Result<void> checkUpdateProgram(const Session &session) {
  const ProgramInfo *update = session.executable().findProgram("update");
  const TensorInfo *hyper = update ? update->findInput("hyper") : nullptr;
  if (!hyper || hyper->dtype != DType::F64 || hyper->elements() != 8 ||
      !update->findOutput("gradient_norm"))
    return Error{fmt::format("{} has no program 'update' of the kind this version runs; compile it "
                             "again",
                             session.executable().name())};
  return {};
}

Result<double> updateParameters(Session &session, const Hyper &hyper) {
  writeHyper(session.inputAs<double>("update", "hyper"), hyper);
  if (auto done = session.run("update"); !done)
    return done.error();
  const TensorInfo *norm = session.executable().findProgram("update")->findOutput("gradient_norm");
  return numberAt(norm->dtype, session.output("update", norm->name), 0);
}

} // namespace hybrid::rt
