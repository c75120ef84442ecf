//===- Replay.cpp - hybrid-run replay: training on given arrays, step by step ------===//
//
// The updates of a training run from parameters and batches that are given, with everything that
// happens written down: for comparing a training run with another implementation's. The gradients
// come from the model's own output `loss`, or, when it has none, from program `train`; the update
// and the schedule are those of `hybrid-run train`.
//
//===----------------------------------------------------------------------===//
#include "runtime/Session.h"
#include "tools/hybrid-run/ModelArgument.h"
#include "tools/hybrid-run/OptimizerArgument.h"
#include "tools/hybrid-run/ParameterFile.h"
#include "tools/hybrid-run/TensorArgument.h"
#include "training/SessionRunner.h"
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::tools {
namespace {

struct ReplayArguments {
  ModelArgument model;
  OptimizerArgument optimizer;
  std::string parameters, out;
  std::optional<uint64_t> seed;
  std::vector<std::string> inputs, perStep;
  int64_t steps = 1;
  std::optional<int64_t> scheduleSteps;
  bool trajectory = false;
  int threads = 0;
};

/// What an input of the program holds at every step.
struct Feed {
  std::string name;
  std::vector<std::byte> bytes;
  size_t stride = 0; // bytes from one step to the next; 0: the same at all
};

class Replay {
public:
  Replay(const ReplayArguments &arguments, rt::Session &session)
      : arguments(arguments), session(session) {}
  void run();

private:
  void chooseProgram();
  void readInputs();
  void fill(int64_t step);
  double lossOf(int64_t step);
  void writeScalars(const std::string &name, const std::vector<double> &values) const;
  void write(const std::string &name, rt::DType type, std::span<const int64_t> shape,
             std::span<const std::byte> bytes) const;
  void writeParameters(const std::vector<std::vector<std::byte>> &trajectories) const;

  const ReplayArguments &arguments;
  rt::Session &session;
  const rt::ProgramInfo *program = nullptr;
  std::vector<Feed> feeds;
};

void Replay::chooseProgram() {
  const rt::Executable &executable = session.executable();
  auto lossIn = [&](const char *name) -> const rt::ProgramInfo * {
    const rt::ProgramInfo *found = executable.findProgram(name);
    if (found)
      for (const rt::TensorInfo &output : found->outputs)
        if (output.name == "loss" && output.shape.empty() && output.differentiable)
          return found;
    return nullptr;
  };
  program = lossIn("vjp");
  if (!program)
    program = lossIn("train");
  if (!program)
    throw Failure(fmt::format("{} has nothing to train on: give the model a scalar output 'loss', "
                              "or an output 'logits', whose loss is attached when compiling",
                              executable.name()));
  require(rt::checkUpdateProgram(session));
}

void Replay::readInputs() {
  auto add = [&](const std::string &text, bool everyStep) {
    TensorArgument argument = TensorArgument::parse(text);
    const rt::TensorInfo &info = findTensor(program->inputs, argument.name, "", "input");
    for (const Feed &feed : feeds)
      if (feed.name == info.name)
        throw Failure(fmt::format("input '{}' is given twice", info.name));
    std::vector<int64_t> shape = info.shape;
    if (everyStep) {
      if (argument.array.shape.empty() || argument.array.shape[0] < arguments.steps)
        throw Failure(fmt::format("{}: --per-step {} needs {} rows, one a step; it has {}",
                                  argument.source, info.name, arguments.steps,
                                  argument.array.shape.empty() ? 0 : argument.array.shape[0]));
      shape.insert(shape.begin(), argument.array.shape[0]);
    }
    size_t stride =
        everyStep ? static_cast<size_t>(info.elements() * rt::bytesOf(info.dtype)) : size_t{0};
    feeds.push_back({info.name, argument.bytesFor(shape, info.dtype), stride});
  };
  for (const std::string &text : arguments.inputs)
    add(text, false);
  for (const std::string &text : arguments.perStep)
    add(text, true);
  for (const rt::TensorInfo &input : program->inputs) {
    bool given = input.name.starts_with("cotangent.");
    for (const Feed &feed : feeds)
      given |= feed.name == input.name;
    if (!given)
      throw Failure(fmt::format("input '{}' {} is not given: add --input {}=FILE.npy", input.name,
                                input.shapeText(), input.name));
  }
}

/// Inputs share memory with temporaries: they are filled before every run.
void Replay::fill(int64_t step) {
  for (const rt::TensorInfo &input : program->inputs)
    if (input.name.starts_with("cotangent.")) {
      std::span<std::byte> target = session.input(program->name, input.name);
      std::memset(target.data(), 0, target.size());
      if (input.name != "cotangent.loss")
        continue;
      if (input.dtype == rt::DType::F64)
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

double Replay::lossOf(int64_t step) {
  fill(step);
  require(session.run(program->name));
  const rt::TensorInfo &info = findTensor(program->outputs, "loss", "", "output");
  double loss = rt::numberAt(info.dtype, session.output(program->name, "loss"), 0);
  if (!std::isfinite(loss)) {
    fill(step);
    std::string op = session.findNonFinite(program->name);
    throw Failure(fmt::format("step {}: the loss is {}; {}", step + 1, loss,
                              op.empty() ? "no single operation could be found"
                                         : "the first value that is not finite came from " + op));
  }
  return loss;
}

void Replay::write(const std::string &name, rt::DType type, std::span<const int64_t> shape,
                   std::span<const std::byte> bytes) const {
  require(rt::writeNpy((std::filesystem::path(arguments.out) / (name + ".npy")).string(), type,
                       shape, bytes));
}

void Replay::writeScalars(const std::string &name, const std::vector<double> &values) const {
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  write(name, rt::DType::F64, shape, std::as_bytes(std::span(values)));
}

void Replay::writeParameters(const std::vector<std::vector<std::byte>> &trajectories) const {
  using Slot = rt::Session::Slot;
  const auto &parameters = session.executable().parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const rt::ParameterInfo &info = parameters[i];
    write("final." + info.name, info.dtype, info.shape, session.parameter(i));
    if (!info.trainable)
      continue;
    write("m." + info.name, info.dtype, info.shape, session.parameter(i, Slot::Moment1));
    write("v." + info.name, info.dtype, info.shape, session.parameter(i, Slot::Moment2));
    if (!arguments.trajectory)
      continue;
    std::vector<int64_t> shape = info.shape;
    shape.insert(shape.begin(), arguments.steps);
    write("trajectory." + info.name, info.dtype, shape, trajectories[i]);
  }
}

void Replay::run() {
  chooseProgram();
  readInputs();
  makeFolder(arguments.out);
  const auto &parameters = session.executable().parameters();
  std::vector<double> losses, norms, rates;
  std::vector<std::vector<std::byte>> trajectories(parameters.size());
  for (int64_t step = 0; step < arguments.steps; ++step) {
    losses.push_back(lossOf(step));
    rt::Hyper hyper = arguments.optimizer.at(step);
    rates.push_back(hyper.learningRate);
    norms.push_back(valueOf(rt::updateParameters(session, hyper)));
    if (!std::isfinite(norms.back()))
      throw Failure(fmt::format("step {}: the gradient's norm is {} although the loss is {}",
                                step + 1, norms.back(), losses.back()));
    for (size_t i = 0; arguments.trajectory && i < parameters.size(); ++i)
      if (parameters[i].trainable) {
        std::span<const std::byte> now = session.parameter(i);
        trajectories[i].insert(trajectories[i].end(), now.begin(), now.end());
      }
  }
  writeScalars("loss", losses);
  writeScalars("grad_norm", norms);
  writeScalars("lr", rates);
  writeParameters(trajectories);
}

void run(ReplayArguments &arguments) {
  arguments.optimizer.check();
  arguments.optimizer.schedule.total = arguments.scheduleSteps.value_or(arguments.steps);
  if (arguments.parameters.empty() == !arguments.seed)
    throw Failure("the parameters to start from: give --params FILE.safetensors or --init-seed N, "
                  "one of them");
  auto executable = arguments.model.load();
  auto session = valueOf(rt::Session::create(executable, {arguments.threads, true}));
  require(session->keepFirstActive());
  require(session->initialize(arguments.seed.value_or(0)));
  if (!arguments.parameters.empty())
    loadParameters(*session, arguments.parameters);
  Replay(arguments, *session).run();
}

} // namespace

void addReplay(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "replay", "train on given arrays and write losses, gradient norms and parameters as arrays");
  auto arguments = std::make_shared<ReplayArguments>();
  arguments->model.addTo(*verb);
  const CLI::Range count(int64_t{1}, int64_t{1} << 40);
  verb->add_option("--params", arguments->parameters, "parameters to start from (.safetensors)");
  verb->add_option("--init-seed", arguments->seed, "draw the parameters from this seed instead");
  verb->add_option("--input", arguments->inputs,
                   "NAME=FILE.npy or NAME=2x3xf32=1,2,...: the same at every step; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--per-step", arguments->perStep,
                   "NAME=FILE.npy, an array whose row i is the input of step i; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--steps", arguments->steps, "updates")->check(count)->capture_default_str();
  verb->add_option("--schedule-steps", arguments->scheduleSteps,
                   "steps that the schedule spans (default: --steps)")
      ->check(count);
  arguments->optimizer.addTo(*verb);
  verb->add_flag("--trajectory", arguments->trajectory,
                 "write trajectory.NAME too: the parameters after every step");
  verb->add_option("--out", arguments->out,
                   "folder for loss, grad_norm, lr and final.NAME, m.NAME, v.NAME (.npy)")
      ->required();
  verb->add_option("--threads", arguments->threads, "threads; 0: all")->check(CLI::Range(0, 4096));
  verb->callback([arguments] { run(*arguments); });
}

} // namespace hybrid::tools
