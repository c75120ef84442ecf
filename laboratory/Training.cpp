//===- Training.cpp - a single training with its page -----------------------------===//
#include "laboratory/Training.h"
#include "executable/Executable_generated.h"
#include "laboratory/TrainingPreset.h"
#include "laboratory/report/TrainingReport.h"
#include "runtime/cpu/Threads.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "runtime/ranks/Collectives.h"
#include "training/SessionRunner.h"
#include "training/compile/OpenModel.h"
#include "training/compile/Process.h"
#include "training/data/RenumberedSource.h"
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt::lab {
namespace {

constexpr int64_t ignoredByProfile = 3; // steps that warm caches

std::string defaultFolder(const std::string &model, const Source &source) {
  std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  return fmt::format("runs/{}-{}-{}", std::filesystem::path(model).stem().string(),
                     source.shortName(), stamp);
}

/// What config.json says of where the numbers came from.
nlohmann::json provenance(const TrainingOptions &options, const Session &session) {
  const fb::Executable &format = session.executable().format();
  nlohmann::json settings = nlohmann::json::object();
  if (format.settings())
    for (const fb::Setting *setting : *format.settings())
      settings[setting->name()->str()] = setting->value() ? setting->value()->str() : "";
  auto text = [](const flatbuffers::String *value) { return value ? value->str() : std::string(); };
  return {{"model", options.model.path},         {"model_name", text(format.model())},
          {"model_settings", settings},          {"model_source", text(format.source())},
          {"compiler", text(format.compiler())}, {"runtime", options.version},
          {"threads", session.threads()}};
}

int64_t stepsOf(const TrainingOptions &options, const Source &source, int64_t batch) {
  if (options.steps)
    return *options.steps;
  if (options.epochs)
    return std::max<int64_t>(
        1, std::llround(std::ceil(*options.epochs * static_cast<double>(source.epochExamples()) /
                                  static_cast<double>(batch))));
  return options.run.timeLimit > 0 ? options.run.steps : 1000;
}

uint64_t parametersOf(const Session &session) {
  uint64_t count = 0;
  for (const ParameterInfo &parameter : session.executable().parameters())
    count += static_cast<uint64_t>(parameter.elements());
  return count;
}

/// The first line of a run: what computes, and why with so much of the machine.
void announce(const TrainingOptions &options, const Session &session) {
  if (options.run.quiet)
    return;
  const std::string where =
      session.isAsynchronous()
          ? std::string("a GPU")
          : fmt::format("{} {} ({})", session.threads(),
                        session.threads() == 1 ? "thread" : "threads",
                        options.threads > 0 ? "--threads" : chooseThreads().reason);
  say(stderr, "{} on {}, to '{}'\n", options.model.path, where, options.run.out);
}

/// A model of a text that sees the next token says it, and has learned nothing.
void warnOfTargets(const Executable &executable, const Source &source) {
  const auto *cost = executable.format().cost();
  const nlohmann::json counted = cost ? parseJsonOrNull(cost->str()) : nlohmann::json();
  auto causality = counted.is_object() ? counted.find("causality") : counted.end();
  if (!source.predictsNext() || causality == counted.end() || !causality->is_object() ||
      jsonField<bool>(*causality, "causal").value_or(true))
    return;
  const auto ahead = jsonField<int64_t>(*causality, "sees_ahead");
  const std::string place = jsonField<std::string>(*causality, "location").value_or("");
  say(stderr,
      "warning: the model can see the tokens that it is to predict: its output '{}' at a position "
      "depends on {} of the input{}\n",
      jsonField<std::string>(*causality, "output").value_or(""),
      !ahead        ? "all later positions"
      : *ahead == 1 ? "the next position"
                    : fmt::format("the next {} positions", *ahead),
      place.empty() ? "" : ", by " + place);
}

void printSummary(const TrainingOptions &options, const nlohmann::json &summary) {
  if (options.json) {
    say("{}\n", jsonText(summary));
    return;
  }
  std::string text = fmt::format("eval loss {:.4f}", summary["eval_loss"].get<double>());
  if (summary.contains("eval_relative_loss"))
    text += fmt::format(", {:.4f} of what saying 0 would cost, least squares {:.4f}",
                        summary["eval_relative_loss"].get<double>(),
                        summary["eval_least_squares_loss"].get<double>());
  else
    text += fmt::format(", accuracy {:.4f}", summary["eval_accuracy"].get<double>());
  if (summary.contains("eval_bits_per_byte"))
    text += fmt::format(", {:.4f} bits per byte", summary["eval_bits_per_byte"].get<double>());
  text += fmt::format(" over {} test instances\n", summary["eval_examples"].get<uint64_t>());
  text += fmt::format("{} steps in {:.1f} s", summary["steps"].get<int64_t>(),
                      summary["train_seconds"].get<double>());
  if (summary["tokens_per_second"].is_number())
    text += fmt::format(", {:.0f} tokens/s", summary["tokens_per_second"].get<double>());
  text += fmt::format(", peak memory {:.0f} MB\n{}\n",
                      static_cast<double>(summary["peak_bytes"].get<uint64_t>()) / 1e6,
                      options.run.out);
  say("{}", text);
}

} // namespace

namespace {

/// Compiles or loads the model. The first rank compiles, so that the others find what it has made;
/// then all make their sessions, in which ranks on GPUs meet.
Result<std::unique_ptr<Session>> openFor(const ModelSpec &model, int threads,
                                         const std::shared_ptr<Communicator> &ranks) {
  const SessionOptions wanted{threads, true, ranks};
  if (!ranks)
    return openModel(model, wanted);
  auto nothing = [](Transport &transport) { return largest(transport, 0); };
  if (!ranks->isFirst())
    if (auto ready = ranks->run(nothing); !ready)
      return ready.error();
  auto executable = model.load();
  if (!executable)
    return executable.error();
  if (ranks->isFirst())
    if (auto ready = ranks->run(nothing); !ready)
      return ready.error();
  return Session::create(*executable, wanted);
}

/// Ranks whose models differ would drift apart: machine code too, as it sums in its own order.
Result<void> checkAllHaveOneModel(const Session &session, Communicator &ranks) {
  const uint64_t mine = session.executable().fingerprint();
  auto all = ranks.run([&](Transport &transport) {
    return gatherAll(transport, std::as_bytes(std::span(&mine, 1)));
  });
  if (!all)
    return all.error();
  for (size_t rank = 1; rank < all->size(); ++rank)
    if ((*all)[rank] != all->front())
      return Error{fmt::format("rank {} has another executable than rank 0: compile once, for the "
                               "oldest machine, with hybridc --data-parallel --target=cpu:LEVEL, "
                               "and give all of them the .hyx",
                               rank)};
  return {};
}

Result<std::unique_ptr<Session>> openSession(const ModelSpec &model, int threads,
                                             const std::shared_ptr<Communicator> &ranks) {
  auto session = openFor(model, threads, ranks);
  if (session && ranks)
    if (auto done = checkAllHaveOneModel(**session, *ranks); !done)
      return done.error();
  return session;
}

/// Gives a session its runner and the data for its length.
Result<void> complete(OpenStage &stage, const TrainingOptions &options,
                      const std::shared_ptr<Communicator> &ranks) {
  auto runner =
      makeSessionRunner(*stage.session, true, longestBurst, options.accumulate, ranks.get());
  if (!runner)
    return runner.error();
  stage.runner = std::move(*runner);
  auto source = options.data.open(stage.runner->length(), options.run.seed);
  if (!source)
    return source.error();
  stage.source = std::move(*source);
  if (options.overfitBatch)
    stage.source = repeatFirstBatch(std::move(stage.source),
                                    static_cast<uint64_t>(stage.runner->stepSequences()));
  return {};
}

Result<void> trainOnRanks(TrainingOptions options, const std::shared_ptr<Communicator> &ranks) {
  TrainOptions &run = options.run;
  if (options.steps && options.epochs)
    return Error{"give --steps or --epochs, not both"};
  if (run.resume && run.out.empty())
    return Error{"--resume needs --out, the folder of the run"};
  if (auto done = options.data.chooseLength(options.model); !done)
    return done;
  const bool tells = !ranks || ranks->isFirst();
  if (ranks && options.model.isSource()) {
    options.model.reduction = options.ranks.wire;
    options.model.sequenceRanks = options.ranks.sequenceParallel;
    options.model.shards = options.ranks.shards;
  }
  run.quiet |= !tells;
  options.model.quiet |= !tells;
  auto opened = openSession(options.model, options.threads, ranks);
  if (!opened)
    return opened.error();
  OpenStage whole{std::move(*opened), nullptr, nullptr};
  Session *session = whole.session.get();
  const TensorInfo *tokens = nullptr;
  if (const ProgramInfo *train = session->executable().findProgram("train"))
    for (const TensorInfo &input : train->inputs)
      if (input.name != "targets" && input.shape.size() >= 2)
        tokens = &input;
  if (tokens)
    if (auto done =
            applyPreset(options, parametersOf(*session), tokens->shape[0], tokens->shape[1]);
        !done)
      return done;
  if (auto done = run.check(); !done)
    return done;
  if (auto done = run.checkTaken(session->executable()); !done)
    return done;
  if (auto done = complete(whole, options, ranks); !done)
    return done;
  run.steps = stepsOf(options, *whole.source, whole.runner->stepSequences());
  applyPresetWarmup(options);
  if (auto done = run.checkSteps(run.steps); !done)
    return done;
  if (!tells) // the first rank keeps the run
    run.out.clear();
  else if (run.out.empty())
    run.out = defaultFolder(options.model.path, *whole.source);
  run.config = provenance(options, *session);
  if (!run.warmStart.path.empty())
    if (auto done = run.warmStart.identify(); !done)
      return done;
  run.config["command"] = options.command.empty() ? commandLine() : options.command;
  run.config["arguments"] = options.kept;
  std::error_code error;
  run.config["directory"] = std::filesystem::current_path(error).string();
  if (!options.repeated.empty())
    run.config["repeats"] = options.repeated;
  const bool refused = tells && !run.resume && std::filesystem::exists(run.out, error) &&
                       !std::filesystem::is_empty(run.out, error); // a folder not ours
  announce(options, *session);
  if (tells)
    warnOfTargets(session->executable(), *whole.source);
  if (options.samples.prompts.empty())
    run.sampleEvery = 0;
  if (tells && run.sampleEvery > 0) {
    auto sampler = makeSampler(options.model, *whole.source, options.samples, options.threads);
    if (!sampler)
      return sampler.error();
    run.sampler = std::move(*sampler);
  }
  if (!options.profile.empty()) {
    run.trace = std::make_shared<Trace>(ignoredByProfile, options.profileSteps);
    if (tells) // that it can be written is known before the first step
      if (auto done = run.trace->write(options.profile); !done)
        return done;
  }
  Result<TrainOutcome> trained = TrainOutcome();
  if (options.lengthWarmup.isEmpty())
    trained = trainModel(*whole.runner, *whole.source, run);
  else
    trained = trainByLength(
        options.lengthWarmup, options.model, std::move(whole),
        [&](const ModelSpec &model) -> Result<OpenStage> {
          auto stage = openSession(model, options.threads, ranks);
          if (!stage)
            return stage.error();
          OpenStage open{std::move(*stage), nullptr, nullptr};
          auto done = complete(open, options, ranks);
          return done ? Result<OpenStage>(std::move(open)) : done.error();
        },
        run);
  Result<void> traced;
  if (run.trace && tells)
    traced = run.trace->write(options.profile);
  // Also of a run that failed: its curves show where. What it failed of is what is told.
  Result<void> reported;
  if (tells && !refused)
    reported = writeTrainingReport(run.out);
  if (!trained)
    return trained.error();
  if (!reported)
    return reported;
  if (!traced)
    return traced;
  if (trained->interrupted.empty() && tells)
    printSummary(options, trained->summary);
  return {};
}

} // namespace

Result<void> trainAndReport(TrainingOptions options) {
  auto ranks = joinRanks(options.ranks);
  if (!ranks)
    return ranks.error();
  return endTogether(*ranks, trainOnRanks(std::move(options), *ranks));
}

} // namespace hybrid::rt::lab
