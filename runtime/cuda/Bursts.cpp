//===- Bursts.cpp - programs run a number of times as one unit of work -------===//
#include "runtime/cuda/Bursts.h"
#include "executable/SessionMemory.h"
#include "runtime/Device.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

static bool isAsked(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
}

Bursts::Bursts(const Gpu &gpu, const fb::Executable &executable,
               std::span<const std::unique_ptr<PreparedProgram>> programs, RestingReplicas &resting,
               HeldExamples *examples)
    : gpu(gpu), executable(executable), programs(programs), resting(resting), examples(examples),
      replicas(executable.replicas()), waitsForEachStep(isAsked("HYBRID_CUDA_SYNC")),
      capturesAll(isAsked("HYBRID_CUDA_CAPTURE")) {}

Bursts::~Bursts() {
  if (gpu.enter())
    (void)gpu.synchronize();
  forgetGraphs(0);
  for (const Started &run : started)
    freeEvents.push_back(run.end);
  for (Event event : freeEvents)
    gpu.driver().eventDestroy(event);
}

//===-- calls and graphs ---------------------------------------------------------===//

Result<void> Bursts::issueInOrder(const PreparedProgram &program) const {
  for (const Operation &operation : program.plan->operations()) {
    if (auto done = Plan::issue(gpu, operation); !done)
      return done;
    if (!waitsForEachStep)
      continue;
    if (auto done = gpu.synchronize(); !done)
      return Error{fmt::format("{}: {}", describe(*operation.step), done.error().message)};
  }
  return {};
}

/// Appends a program's calls to the stream, for a step of a burst, or to the streams of its
/// branches.
Result<void> Bursts::issue(PreparedProgram &program, size_t step, bool fromTable, bool onBranches) {
  if (fromTable)
    if (auto done = program.staging.place(step, program.parts.places); !done)
      return done;
  auto issued = onBranches ? program.plan->issueOnBranches(gpu) : issueInOrder(program);
  if (!issued)
    return issued;
  return program.staging.keepOutputs(step, program.parts.places);
}

Result<void> Bursts::issueAll(const Burst &burst, bool onBranches) {
  if (burst.gathers)
    if (auto done = examples->gather(burst.steps); !done)
      return done;
  for (size_t step = 0; step < burst.steps; ++step)
    for (size_t i = 0; i < burst.programs.size(); ++i)
      if (auto done =
              issue(*programs[burst.programs[i]], step, i > 0 || !goesStraight(burst), onBranches);
          !done)
        return done;
  return {};
}

Result<void> Bursts::capture(const Burst &burst, Launchable &state) {
  const DriverApi &driver = gpu.driver();
  if (auto done =
          gpu.check("cuStreamBeginCapture", driver.captureBegin(gpu.stream(), captureThreadLocal));
      !done)
    return done;
  auto issued = issueAll(burst, /*onBranches=*/true);
  Graph graph = nullptr;
  auto ended = gpu.check("cuStreamEndCapture", driver.captureEnd(gpu.stream(), &graph));
  if (!issued || !ended) {
    if (graph)
      driver.graphDestroy(graph);
    return !issued ? issued : ended;
  }
  auto made = gpu.check("cuGraphInstantiate", driver.graphInstantiate(&state.graph, graph, 0));
  driver.graphDestroy(graph);
  if (!made)
    state.graph = nullptr;
  return made;
}

/// Keeps the graphs of those bursts of several steps that ran last.
void Bursts::forgetGraphs(size_t most) {
  std::vector<Launchable *> kept;
  for (auto &[burst, state] : launchables)
    if (state.graph && (burst.steps > 1 || most == 0))
      kept.push_back(&state);
  std::sort(kept.begin(), kept.end(),
            [](const Launchable *a, const Launchable *b) { return a->lastRun > b->lastRun; });
  for (size_t i = most; i < kept.size(); ++i) {
    gpu.driver().graphExecDestroy(kept[i]->graph);
    kept[i]->graph = nullptr;
  }
}

/// Before these programs run for all replicas.
Result<void> Bursts::protectResting(std::span<const size_t> numbers) {
  const bool changes = std::any_of(numbers.begin(), numbers.end(), [this](size_t number) {
    return programs[number]->changesState;
  });
  return changes ? resting.putAside() : Result<void>();
}

/// Appends inputs, programs and the way back of small outputs to the stream.
Result<void> Bursts::submit(const Burst &burst) {
  if (auto done = gpu.enter(); !done)
    return done;
  for (size_t i = 0; i < burst.programs.size(); ++i) {
    PreparedProgram &program = *programs[burst.programs[i]];
    if (auto done = program.ensurePlan(); !done)
      return done;
    const bool straight = i == 0 && goesStraight(burst);
    if (auto done = program.staging.prepare(!straight); !done)
      return done;
    program.lastInputs = program.staging.currentSet();
    auto done =
        gathers(burst, burst.programs[i]) ? examples->upload(program.lastInputs, burst.steps)
        : straight ? program.staging.placeFromHost(program.lastInputs, 0, program.parts.places)
                   : program.staging.upload(program.lastInputs, burst.steps);
    if (!done)
      return done;
  }
  if (auto done = protectResting(burst.programs); !done)
    return done;
  constexpr size_t mostGraphs = 8; // more than may be on their way
  Launchable &state = launchables[burst];
  state.lastRun = ++runs;
  if ((state.runs++ == 0 && !capturesAll) || waitsForEachStep) {
    if (auto done = issueAll(burst, /*onBranches=*/false); !done)
      return done;
  } else {
    if (!state.graph) {
      if (auto done = capture(burst, state); !done)
        return done;
      forgetGraphs(mostGraphs);
    }
    if (auto done = gpu.check("cuGraphLaunch", gpu.driver().graphLaunch(state.graph, gpu.stream()));
        !done)
      return done;
  }
  for (size_t number : burst.programs)
    if (auto done = programs[number]->staging.downloadOutputs(outputSet, burst.steps); !done)
      return done;
  lastStarted = burst.programs.back();
  return {};
}

/// Puts the inputs of a step of a burst in their places again.
Result<void> Bursts::placeAgain(const Started &run, size_t i, size_t step) {
  PreparedProgram &program = *programs[run.burst.programs[i]];
  if (!gathers(run.burst, run.burst.programs[i]))
    return program.staging.placeFromHost(run.inputSets[i], step, program.parts.places);
  if (auto done = examples->upload(run.inputSets[i], run.burst.steps); !done)
    return done;
  if (auto done = examples->gather(run.burst.steps); !done)
    return done;
  return program.staging.place(step, program.parts.places);
}

/// An error that came up while the stream ran says nothing of where. The steps are run again one by
/// one; where the device is of no more use after the error, that finds nothing, and where other
/// ranks would have to do the same, it is not tried.
Error Bursts::culpritOf(const Started &run, const Error &error) {
  for (size_t number : run.burst.programs)
    if (programs[number]->plan->goesOverRanks())
      return error;
  for (size_t step = 0; step < run.burst.steps; ++step)
    for (size_t i = 0; i < run.burst.programs.size(); ++i) {
      PreparedProgram &program = *programs[run.burst.programs[i]];
      if (!placeAgain(run, i, step) || !gpu.synchronize())
        return {error.message + "; run it again with HYBRID_CUDA_SYNC=1 to see which step it was"};
      for (const Operation &operation : program.plan->operations()) {
        auto done = Plan::issue(gpu, operation);
        if (done)
          done = gpu.synchronize();
        if (!done)
          return {fmt::format("{}: {}", describe(*operation.step), done.error().message)};
      }
    }
  return {error.message + "; run it again with HYBRID_CUDA_SYNC=1 to see which step it was"};
}

Result<void> Bursts::finishAll() {
  while (!started.empty())
    if (auto done = finish(); !done)
      return done;
  return {};
}

Result<void> Bursts::run(size_t number) {
  if (auto done = finishAll(); !done)
    return done;
  PreparedProgram &program = *programs[number];
  const Burst burst{{number}, 1};
  if (auto done = submit(burst); !done)
    return done;
  if (auto done = gpu.synchronize(); !done)
    return waitsForEachStep
               ? done.error()
               : culpritOf({burst, {program.lastInputs}, outputSet, nullptr}, done.error());
  program.lastOutputs = PreparedProgram::Outputs{outputSet, 1};
  return {};
}

/// Before memory that work on its way may still use changes.
Result<void> Bursts::finishAllAndRest() {
  if (auto done = finishAll(); !done)
    return done;
  if (auto done = gpu.enter(); !done)
    return done;
  return gpu.synchronize();
}

//===-- bursts -------------------------------------------------------------------===//

Result<int64_t> Bursts::reserveSteps(std::span<const size_t> numbers, int64_t most) {
  if (auto done = finishAllAndRest(); !done)
    return done.error();
  SessionUse use = SessionUse::toTrain(executable);
  use.steps = static_cast<uint64_t>(std::max<int64_t>(1, most));
  use.burst.clear();
  for (size_t number : numbers) {
    if (auto done = programs[number]->ensurePlan(); !done)
      return done.error();
    use.burst.push_back(programs[number]->source->name()->string_view());
  }
  const auto steps = static_cast<size_t>(memoryOf(executable, use).steps);
  forgetGraphs(0); // they have the tables' addresses in them
  for (size_t number : numbers) {
    Staging &staging = programs[number]->staging;
    staging.reserve(steps);
    const bool straight = number == numbers.front() && goesStraight({{}, steps});
    if (auto done = staging.prepare(!straight); !done)
      return done.error();
    programs[number]->lastOutputs.reset();
    if (examples && number == examples->program())
      examples->reserve();
  }
  return static_cast<int64_t>(steps);
}

Result<bool> Bursts::holdExamples(const Examples &sets) {
  if (!examples)
    return false;
  if (auto done = finishAllAndRest(); !done)
    return done.error();
  const DeviceAddress before = examples->address();
  auto held = examples->hold(sets);
  if (examples->address() != before)
    forgetGraphs(0);
  return held;
}

Result<void> Bursts::takeExamples(size_t replica, size_t step, uint64_t first) {
  if (!examples)
    return Error{"no training set is held"};
  if (auto done = gpu.enter(); !done)
    return done;
  return examples->take(replica, step, first);
}

Result<void> Bursts::start(std::span<const size_t> numbers, int64_t steps) {
  if (numbers.empty() || started.size() == Device::mostStarted)
    return Error{fmt::format("{} runs are on their way already", started.size())};
  Burst burst{{numbers.begin(), numbers.end()}, static_cast<size_t>(steps)};
  for (size_t number : numbers)
    burst.gathers = burst.gathers || (examples && number == examples->program() &&
                                      examples->areTaken(programs[number]->staging.currentSet()));
  Started run{burst, {}, outputSet, nullptr};
  for (size_t i = 0; i < burst.programs.size(); ++i) {
    const Staging &staging = programs[burst.programs[i]]->staging;
    const std::string_view name = programs[burst.programs[i]]->source->name()->string_view();
    if (steps < 1 || burst.steps > staging.steps())
      return Error{fmt::format("a burst of {} steps of program '{}', which has room for {}", steps,
                               name, staging.steps())};
    if ((i > 0 || !goesStraight(burst)) && burst.steps > std::max<size_t>(1, staging.mostSteps()))
      return Error{
          fmt::format("the inputs of program '{}' are too large to wait on the device", name)};
    run.inputSets.push_back(staging.currentSet());
  }
  if (auto done = submit(burst); !done)
    return done;
  if (freeEvents.empty()) {
    if (auto done =
            gpu.check("cuEventCreate", gpu.driver().eventCreate(&run.end, eventDisableTiming));
        !done)
      return done;
  } else {
    run.end = freeEvents.back();
    freeEvents.pop_back();
  }
  if (auto done = gpu.check("cuEventRecord", gpu.driver().eventRecord(run.end, gpu.stream()));
      !done)
    return done;
  started.push_back(run);
  for (size_t number : numbers)
    programs[number]->staging.nextSet();
  if (burst.gathers)
    examples->forget(programs[examples->program()]->staging.currentSet());
  outputSet = (outputSet + 1) % Staging::setCount;
  return {};
}

Result<void> Bursts::finish() {
  if (started.empty())
    return Error{"no run was started"};
  if (auto done = gpu.enter(); !done)
    return done;
  Started run = started.front();
  started.pop_front();
  freeEvents.push_back(run.end);
  if (auto done = gpu.check("cuEventSynchronize", gpu.driver().eventSynchronize(run.end)); !done)
    return waitsForEachStep ? done.error() : culpritOf(run, done.error());
  for (size_t number : run.burst.programs)
    programs[number]->lastOutputs = PreparedProgram::Outputs{run.outputSet, run.burst.steps};
  return {};
}

/// Inputs share memory with what is computed. They wait beside it and are put in their places again
/// before every run, outside of what is timed.
Result<void> Bursts::measure(std::span<const size_t> numbers, int64_t steps, size_t runs,
                             std::vector<double> &seconds) {
  if (auto done = finishAll(); !done)
    return done;
  if (numbers.empty())
    return Error{"no program to measure"};
  if (auto done = gpu.enter(); !done)
    return done;
  const Burst burst{{numbers.begin(), numbers.end()}, static_cast<size_t>(steps)};
  for (size_t i = 0; i < burst.programs.size(); ++i) {
    PreparedProgram &program = *programs[burst.programs[i]];
    const bool straight = i == 0 && goesStraight(burst);
    if (steps < 1 || burst.steps > program.staging.steps())
      return Error{fmt::format("no room was made for bursts of {} steps", steps)};
    if (auto done = program.ensurePlan(); !done)
      return done;
    if (auto done = program.staging.prepare(!straight); !done)
      return done;
    program.lastInputs = program.staging.currentSet();
    program.lastOutputs.reset();
    if (!straight)
      if (auto done = program.staging.upload(program.lastInputs, burst.steps); !done)
        return done;
  }
  if (auto done = protectResting(burst.programs); !done)
    return done;
  lastStarted = burst.programs.back();
  PreparedProgram &first = *programs[burst.programs.front()];
  auto placeFirst = [&]() -> Result<void> {
    return goesStraight(burst)
               ? first.staging.placeFromHost(first.lastInputs, 0, first.parts.places)
               : Result<void>();
  };
  Launchable &state = launchables[burst];
  if (state.runs++ == 0) {
    auto done = placeFirst();
    if (done)
      done = issueAll(burst, /*onBranches=*/false);
    if (done)
      done = gpu.synchronize();
    if (!done)
      return done;
  }
  if (!state.graph)
    if (auto done = capture(burst, state); !done)
      return done;

  const DriverApi &driver = gpu.driver();
  std::vector<Event> events(2 * runs);
  Result<void> outcome;
  auto note = [&](std::string_view call, Status status) {
    if (outcome)
      outcome = gpu.check(call, status);
  };
  for (Event &event : events)
    note("cuEventCreate", driver.eventCreate(&event, eventDefault));
  for (size_t i = 0; outcome && i < runs; ++i) {
    outcome = placeFirst();
    note("cuEventRecord", driver.eventRecord(events[2 * i], gpu.stream()));
    note("cuGraphLaunch", driver.graphLaunch(state.graph, gpu.stream()));
    note("cuEventRecord", driver.eventRecord(events[2 * i + 1], gpu.stream()));
  }
  if (outcome)
    outcome = gpu.synchronize();
  for (size_t i = 0; outcome && i < runs; ++i) {
    float milliseconds = 0;
    note("cuEventElapsedTime",
         driver.eventElapsed(&milliseconds, events[2 * i], events[2 * i + 1]));
    seconds.push_back(milliseconds * 1e-3);
  }
  for (Event event : events)
    if (event)
      driver.eventDestroy(event);
  return outcome;
}

} // namespace hybrid::rt::cuda
