//===- Replay.cpp - training on given arrays, step by step ------------------------===//
#include "training/arrays/Replay.h"
#include "runtime/InputIds.h"
#include "runtime/Optimizer.h"
#include "runtime/files/File.h"
#include "training/ParameterFile.h"
#include "training/arrays/TensorInput.h"
#include "training/compile/OpenModel.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// What an input of the program holds at every step.
struct Feed {
  std::string name;
  std::vector<std::byte> bytes;
  size_t stride = 0; // bytes from one step to the next; 0: the same at all
};

class Replay {
public:
  Replay(const ReplayOptions &options, Session &session) : options(options), session(session) {}
  Result<void> run();

private:
  Result<void> chooseProgram();
  Result<void> readInputs();
  Result<void> addInput(const std::string &text, bool everyStep);
  void fill(int64_t step);
  Result<double> lossOf(int64_t step);
  Result<void> writeScalars(const std::string &name, const std::vector<double> &values) const;
  Result<void> write(const std::string &name, DType type, std::span<const int64_t> shape,
                     std::span<const std::byte> bytes) const;
  Result<void> writeParameters(const std::vector<std::vector<std::byte>> &trajectories) const;

  const ReplayOptions &options;
  Session &session;
  const ProgramInfo *program = nullptr;
  std::vector<Feed> feeds;
};

Result<void> Replay::chooseProgram() {
  const Executable &executable = session.executable();
  for (const char *name : {"train", "vjp"}) { // where both have a loss, the model's own counts
    const ProgramInfo *found = executable.findProgram(name);
    const TensorInfo *loss = found ? found->findOutput("loss") : nullptr;
    if (loss && loss->shape.empty() && loss->differentiable)
      program = found;
  }
  if (!program)
    return Error{fmt::format("{} has nothing to train on: give the model a scalar output 'loss', "
                             "or an output 'logits', whose loss is attached when compiling",
                             executable.name())};
  return checkUpdateProgram(session);
}

Result<void> Replay::addInput(const std::string &text, bool everyStep) {
  auto given = TensorInput::parse(text);
  if (!given)
    return given.error();
  auto found = findTensor(program->inputs, given->name, "", "input");
  if (!found)
    return found.error();
  const TensorInfo &info = **found;
  for (const Feed &feed : feeds)
    if (feed.name == info.name)
      return Error{fmt::format("input '{}' is given twice", info.name)};
  std::vector<int64_t> shape = info.shape;
  if (everyStep) {
    const std::vector<int64_t> &has = given->array.shape;
    if (has.empty() || has[0] < options.steps)
      return Error{fmt::format("{}: --per-step {} needs {} rows, one a step; it has {}",
                               given->source, info.name, options.steps, has.empty() ? 0 : has[0])};
    shape.insert(shape.begin(), has[0]);
  }
  auto bytes = given->bytesFor(shape, info.dtype);
  if (!bytes)
    return bytes.error();
  if (auto sound = checkIds(session.executable(), program->name, info.name, *bytes, shape); !sound)
    return Error{fmt::format("{}: {}", given->source, sound.error().message)};
  const size_t stride =
      everyStep ? static_cast<size_t>(info.elements() * bytesOf(info.dtype)) : size_t{0};
  feeds.push_back({info.name, std::move(*bytes), stride});
  return {};
}

Result<void> Replay::readInputs() {
  for (const std::string &text : options.inputs)
    if (auto done = addInput(text, false); !done)
      return done;
  for (const std::string &text : options.perStep)
    if (auto done = addInput(text, true); !done)
      return done;
  for (const TensorInfo &input : program->inputs) {
    bool given = input.name.starts_with("cotangent.");
    for (const Feed &feed : feeds)
      given |= feed.name == input.name;
    if (!given)
      return Error{fmt::format("input '{}' {} is not given: add --input {}=FILE.npy", input.name,
                               input.shapeText(), input.name)};
  }
  return {};
}

/// Inputs share memory with temporaries: they are filled before every run.
void Replay::fill(int64_t step) {
  for (const TensorInfo &input : program->inputs)
    if (input.name.starts_with("cotangent.")) {
      std::span<std::byte> target = session.input(program->name, input.name);
      std::memset(target.data(), 0, target.size());
      if (input.name != "cotangent.loss")
        continue;
      if (input.dtype == DType::F64)
        session.inputAs<double>(program->name, input.name)[0] = 1;
      else
        session.inputAs<float>(program->name, input.name)[0] = 1;
    }
  for (const Feed &feed : feeds) {
    std::span<std::byte> target = session.input(program->name, feed.name);
    std::memcpy(target.data(), feed.bytes.data() + static_cast<size_t>(step) * feed.stride,
                target.size());
  }
}

Result<double> Replay::lossOf(int64_t step) {
  fill(step);
  if (auto done = session.run(program->name); !done)
    return done.error();
  const TensorInfo &info = *program->findOutput("loss");
  const double loss = numberAt(info.dtype, session.output(program->name, "loss"), 0);
  if (std::isfinite(loss))
    return loss;
  fill(step);
  const std::string op = session.findNonFinite(program->name);
  return Error{fmt::format("step {}: the loss is {}; {}", step + 1, loss,
                           op.empty() ? "no single operation could be found"
                                      : "the first value that is not finite came from " + op)};
}

Result<void> Replay::write(const std::string &name, DType type, std::span<const int64_t> shape,
                           std::span<const std::byte> bytes) const {
  return writeNpy(options.out + "/" + name + ".npy", type, shape, bytes);
}

Result<void> Replay::writeScalars(const std::string &name,
                                  const std::vector<double> &values) const {
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  return write(name, DType::F64, shape, std::as_bytes(std::span(values)));
}

Result<void>
Replay::writeParameters(const std::vector<std::vector<std::byte>> &trajectories) const {
  using Slot = Session::Slot;
  const auto &parameters = session.executable().parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ParameterInfo &info = parameters[i];
    for (auto [prefix, slot] : {std::pair("final.", Slot::Parameter),
                                std::pair("m.", Slot::Moment1), std::pair("v.", Slot::Moment2)})
      if (info.trainable || slot == Slot::Parameter)
        if (auto done = write(std::string(prefix) + info.name, info.dtype, info.shape,
                              session.parameter(i, slot));
            !done)
          return done;
    if (!info.trainable || !options.trajectory)
      continue;
    std::vector<int64_t> shape = info.shape;
    shape.insert(shape.begin(), options.steps);
    if (auto done = write("trajectory." + info.name, info.dtype, shape, trajectories[i]); !done)
      return done;
  }
  return {};
}

Result<void> Replay::run() {
  if (auto done = chooseProgram(); !done)
    return done;
  if (auto done = readInputs(); !done)
    return done;
  if (auto done = makeFolder(options.out); !done)
    return done;
  const auto &parameters = session.executable().parameters();
  std::vector<double> losses, norms, rates;
  std::vector<std::vector<std::byte>> trajectories(parameters.size());
  for (int64_t step = 0; step < options.steps; ++step) {
    auto loss = lossOf(step);
    if (!loss)
      return loss.error();
    const Hyper hyper = options.optimizer.at(step);
    auto norm = updateParameters(session, hyper);
    if (!norm)
      return norm.error();
    if (!std::isfinite(*norm))
      return Error{fmt::format("step {}: the gradient's norm is {} although the loss is {}",
                               step + 1, *norm, *loss)};
    losses.push_back(*loss);
    rates.push_back(hyper.learningRate);
    norms.push_back(*norm);
    for (size_t i = 0; options.trajectory && i < parameters.size(); ++i)
      if (parameters[i].trainable) {
        std::span<const std::byte> now = session.parameter(i);
        trajectories[i].insert(trajectories[i].end(), now.begin(), now.end());
      }
  }
  for (auto [name, values] :
       {std::pair("loss", &losses), std::pair("grad_norm", &norms), std::pair("lr", &rates)})
    if (auto done = writeScalars(name, *values); !done)
      return done;
  return writeParameters(trajectories);
}

} // namespace

Result<void> replayTraining(const ReplayOptions &options) {
  if (auto done = options.optimizer.check(); !done)
    return done;
  if (auto done = options.optimizer.checkSteps(options.optimizer.schedule.total); !done)
    return done;
  if (options.parameters.empty() == !options.seed)
    return Error{"the parameters to start from: give --params FILE.safetensors or --init-seed N, "
                 "one of them"};
  auto created = openOneReplica(options.model, {options.threads, true});
  if (!created)
    return created.error();
  Session &session = **created;
  if (auto done = options.optimizer.checkTaken(session.executable()); !done)
    return done;
  if (auto done = session.initialize(options.seed.value_or(0)); !done)
    return done;
  if (!options.parameters.empty())
    if (auto done = loadParameters(session, options.parameters); !done)
      return done;
  return Replay(options, session).run();
}

} // namespace hybrid::rt
