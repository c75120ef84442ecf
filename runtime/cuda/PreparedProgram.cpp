//===- PreparedProgram.cpp - a program on a device, ready to be issued -------===//
#include "runtime/cuda/PreparedProgram.h"
#include "runtime/Device.h"
#include <algorithm>
#include <functional>

namespace hybrid::rt::cuda {

static bool isState(const fb::BufferRef &buffer) {
  return buffer.bytes() && buffer.space() >= fb::Space::Gradients &&
         buffer.space() <= fb::Space::Moment2;
}

/// Whether a program may change parameters or their like: one that touches gradients or moments, or
/// draws the parameters.
static bool mayChangeState(const fb::Program &program) {
  if (program.name()->string_view() == "init")
    return true;
  if (program.outputs())
    for (const fb::Tensor *tensor : *program.outputs())
      if (isState(*tensor->buffer()))
        return true;
  std::function<bool(const fb::Step &)> touches = [&](const fb::Step &step) {
    if (const auto *loop = step.operation_as_TileLoop(); loop && loop->steps())
      return std::any_of(loop->steps()->begin(), loop->steps()->end(),
                         [&](const fb::Step *inner) { return touches(*inner); });
    const std::vector<fb::BufferRef> buffers = buffersOf(step);
    return std::any_of(buffers.begin(), buffers.end(), isState);
  };
  return program.steps() && std::any_of(program.steps()->begin(), program.steps()->end(),
                                        [&](const fb::Step *step) { return touches(*step); });
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
