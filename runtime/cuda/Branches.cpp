//===- Branches.cpp - the streams that the steps of a program run on --------===//
#include "runtime/cuda/Branches.h"
#include <algorithm>

namespace hybrid::rt::cuda {

Result<std::unique_ptr<Branches>> Branches::create(const Gpu &gpu, const fb::Program &program) {
  const bool several =
      program.steps() && std::any_of(program.steps()->begin(), program.steps()->end(),
                                     [](const fb::Step *step) { return step->branch() != 0; });
  if (!several)
    return std::unique_ptr<Branches>();
  std::unique_ptr<Branches> made(new Branches(gpu, program));
  made->behind.resize(program.steps()->size());
  auto ensure = [&](Event &event) {
    return event ? Result<void>()
                 : gpu.check("cuEventCreate", gpu.driver().eventCreate(&event, eventDisableTiming));
  };
  auto done = ensure(made->ends.front());
  for (const fb::Step *step : *program.steps()) {
    if (done)
      done = ensure(made->ends[step->branch()]);
    for (unsigned i = 0; done && step->after() && i < step->after()->size(); ++i)
      done = ensure(made->behind[step->after()->Get(i)]);
  }
  if (!done)
    return done.error();
  return made;
}

Branches::~Branches() {
  // Nothing can be done about what fails here.
  for (Event event : ends)
    if (event)
      gpu.driver().eventDestroy(event);
  for (Event event : behind)
    if (event)
      gpu.driver().eventDestroy(event);
}

Result<void> Branches::record(Event event, unsigned branch) const {
  return gpu.check("cuEventRecord", gpu.driver().eventRecord(event, gpu.streamOf(branch)));
}

Result<void> Branches::wait(unsigned branch, Event event) {
  waited[branch] = true;
  return gpu.check("cuStreamWaitEvent", gpu.driver().streamWait(gpu.streamOf(branch), event, 0));
}

Result<void> Branches::part() {
  waited = {true}; // whatever is in front of the program
  if (auto done = record(ends.front(), 0); !done)
    return done;
  for (unsigned branch = 1; branch < mostBranches; ++branch)
    if (ends[branch])
      if (auto done = wait(branch, ends.front()); !done)
        return done;
  return {};
}

Result<void> Branches::beforeStep(unsigned step) {
  const fb::Step &next = *source.steps()->Get(step);
  for (unsigned i = 0; next.after() && i < next.after()->size(); ++i)
    if (auto done = wait(next.branch(), behind[next.after()->Get(i)]); !done)
      return done;
  return {};
}

Result<void> Branches::behindStep(unsigned step) {
  return behind[step] ? record(behind[step], branchOf(step)) : Result<void>();
}

Result<void> Branches::join() {
  for (unsigned branch = 1; branch < mostBranches; ++branch)
    if (ends[branch]) {
      if (auto done = record(ends[branch], branch); !done)
        return done;
      if (auto done = wait(0, ends[branch]); !done)
        return done;
    }
  return {};
}

} // namespace hybrid::rt::cuda
