//===- PreparedProgram.cpp - a program on a device, ready to be issued -------===//
#include "runtime/cuda/PreparedProgram.h"
#include "executable/Spaces.h"

namespace hybrid::rt::cuda {

/// Whether a program may change parameters or their like: one that touches gradients or moments, or
/// draws the parameters.
static bool mayChangeState(const fb::Program &program) {
  return program.name()->string_view() == "init" || touchesTraining(program);
}

PreparedProgram::PreparedProgram(const fb::Program &source, PlanParts parts)
    : source(&source), parts(std::move(parts)),
      staging(this->parts.gpu, source, this->parts.places.replicas),
      changesState(mayChangeState(source)) {}

Result<void> PreparedProgram::ensurePlan() {
  if (plan)
    return {};
  auto made = Plan::create(*source, parts);
  if (!made)
    return made.error();
  plan.emplace(std::move(*made));
  return {};
}

} // namespace hybrid::rt::cuda
