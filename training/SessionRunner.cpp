//===- SessionRunner.cpp - a session as the trainer sees it ------------------===//
#include "training/SessionRunner.h"
#include "executable/OptimizerShards.h"
#include "runtime/InputIds.h"
#include "runtime/Optimizer.h"
#include "runtime/cpu/Team.h"
#include "runtime/cpu/Threads.h"
#include "runtime/ranks/Collectives.h"
#include "runtime/ranks/SequenceParts.h"
#include "training/GradientSum.h"
#include "training/ModelFingerprint.h"
#include "training/ParameterFile.h"
#include "training/Ranks.h"
#include "training/Rng.h"
#include "training/record/Trace.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace hybrid::rt {

namespace {

constexpr std::string_view stepPrograms[] = {"train", "update"};

/// What a program's random numbers depend on.
bool isSeed(const TensorInfo &input) {
  return input.name == "seed" && input.dtype == DType::I32 &&
         input.shape == std::vector<int64_t>{2};
}

class SessionRunner final : public StepRunner {
public:
  SessionRunner(Session &session, int64_t batches, Communicator *others)
      : session(session), batches(batches), parts(sequenceRanksOf(session.executable())),
        others(others), gradients(session, availableThreads()) {}
  Result<void> prepare(bool training, int64_t longest);

  int64_t batch() const override { return tokenShape[0]; }
  int64_t length() const override { return tokenShape[1] * parts; }
  Communicator *ranks() const override { return others; }
  int64_t sequenceParts() const override { return parts; }
  int64_t stepSequences() const override { return batches * batch() * placeOf(*this).count; }
  int64_t vocabulary() const override { return logitsInfo ? logitsInfo->shape.back() : 0; }
  int64_t tokenIds() const override { return idsBelow; }
  int64_t inputNumbers() const override { return tokenShape.size() == 3 ? tokenShape[2] : 0; }
  int64_t replicas() const override { return session.replicas(); }
  bool drawsByBatch() const override { return draws; }
  Result<void> initialize(std::span<const uint64_t> seeds) override {
    averages.clear(); // of what was before
    drawSeeds.assign(seeds.begin(), seeds.end());
    return session.initialize(seeds);
  }
  Result<void> setActive(int64_t replica, bool active) override {
    return session.setActive(replica, active);
  }

  int64_t burstSteps() const override { return stepsAreAlone() ? 1 : mostSteps; }
  int burstsAhead() const override { return runsAhead() ? Session::mostStarted : 0; }
  BatchMemory trainingBatch(int64_t replica, int64_t step) override {
    if (keepsInputs()) {
      StepInputs &inputs = stepInputs[static_cast<size_t>(replica)];
      return {inputs.tokens, inputs.targets};
    }
    return {session.inputAs<int32_t>("train", tokensName, replica, step),
            session.inputAs<int32_t>("train", "targets", replica, step)};
  }
  Result<bool> holdExamples(const Examples &examples) override {
    if (keepsInputs() || stepsAreAlone())
      return false;
    auto held = session.holdExamples(examples);
    holdsExamples = held && *held;
    return held;
  }
  bool takeExamples(int64_t replica, int64_t step, uint64_t first) override {
    if (!holdsExamples)
      return false;
    if (auto done = session.takeExamples(replica, step, first); !done)
      notTaken = done.error();
    return true;
  }
  void setHyper(int64_t replica, int64_t step, const Hyper &hyper) override {
    if (keepsInputs())
      stepInputs[static_cast<size_t>(replica)].hyper = hyper;
    else
      writeHyper(session, hyper, replica, step);
    if (draws && !keepsInputs())
      writeSeed(hyper.step, 0, replica, step);
  }
  Result<void> startBurst(int64_t steps) override;
  Result<std::vector<StepScore>> finishBurst() override;

  BatchMemory evaluationBatch(int64_t replica) override {
    if (parts > 1)
      return {wholeEvaluation.tokens, wholeEvaluation.targets};
    return {session.inputAs<int32_t>("eval", tokensName, replica),
            session.inputAs<int32_t>("eval", "targets", replica)};
  }
  Result<std::vector<BatchScore>> evaluate() override;
  int threads() const override {
    return session.isAsynchronous() ? availableThreads() : session.threads();
  }
  Result<void> showLogits(int64_t replica) override;
  void logits(int64_t row, std::span<double> out) const override;
  std::string findNonFinite(int64_t replica, const std::function<void()> &fill) override;
  Result<void> keepAverage(int64_t replica) override;
  void average(int64_t replica, double weight) override;
  std::vector<StateTensor> state(int64_t replica) override;
  Result<void> setState(int64_t replica, size_t index, std::span<const std::byte> bytes) override;
  Result<void> collectState() override { return session.collectShares(); }
  void releaseState() override { session.releaseShares(); }
  /// Of ranks that share a batch, what does not depend on how many they are.
  uint64_t fingerprint() const override {
    return reducesOverRanks(session.executable()) ? modelFingerprint(session.executable())
                                                  : session.executable().fingerprint();
  }
  uint64_t parameterCount() const override;
  uint64_t allocatedBytes() const override { return session.allocatedBytes(); }
  Result<void> askBeforeUpdates(Judge asked) override {
    judge = std::move(asked);
    return {};
  }
  Result<void> measureInto(Trace &into) override {
    trace = &into;
    return {};
  }

private:
  struct StatePlace {
    size_t parameter;
    Session::Slot slot;
    std::string name;
  };
  std::vector<StatePlace> statePlaces() const;
  Result<void> checkProgram(std::string_view name);
  /// Whether each step is looked at before the next.
  bool stepsAreAlone() const { return judge || trace; }
  /// Whether what a step's batches hold is kept here, and copied to the program's inputs in parts.
  bool keepsInputs() const { return batches > 1 || parts > 1; }
  Result<void> run(const char *program, const char *name);
  /// Whether steps are started and looked at later.
  bool runsAhead() const { return session.isAsynchronous() && !keepsInputs() && !stepsAreAlone(); }
  Result<std::vector<StepScore>> takeStep();
  Result<bool> isToUpdate(int64_t replica, StepScore &score);
  Result<double> gradientNorm(int64_t replica);
  Result<std::vector<BatchScore>> runTrain();
  Result<std::vector<BatchScore>> runTrainOnce();
  Result<std::vector<BatchScore>> runTrainOften();
  struct StepInputs {
    std::vector<int32_t> tokens, targets;
    Hyper hyper;
  };
  StepInputs makeInputs(const char *program, int64_t times);
  void showPart(const char *program, int64_t replica, const StepInputs &inputs, int64_t batch);
  void showBatch(int64_t replica, int64_t batch);
  void writeSeed(int64_t update, int64_t batch, int64_t replica, int64_t step);
  double scalar(std::string_view program, std::string_view name, int64_t replica,
                int64_t step) const;
  BatchScore score(std::string_view program, int64_t replica, int64_t step = 0) const;

  Session &session;
  int64_t batches; // whose gradients an update is of
  int64_t parts;   // of a sequence, of which the programs are for one
  Communicator *others;
  GradientSum gradients;
  Judge judge;                        // of updates; none: all are made
  Trace *trace = nullptr;             // of where the time goes; null: nobody asks
  std::vector<StepInputs> stepInputs; // a replica each, where they are kept
  StepInputs wholeEvaluation;         // where a program is for a part of a sequence
  std::vector<std::byte> wholeLogits; // the same
  bool draws = false;                 // program `train` has an input `seed`: dropout
  std::vector<uint64_t> drawSeeds;
  std::string tokensName;
  std::vector<int64_t> tokenShape;
  int64_t idsBelow = 0; // of tokens
  const TensorInfo *logitsInfo = nullptr;
  int64_t mostSteps = 1;
  bool holdsExamples = false;
  std::optional<Error> notTaken; // what takeExamples() failed with
  std::span<const std::byte> shownLogits;
  std::deque<int64_t> stepsOnTheirWay;
  std::vector<StepScore> taken; // by a device that does not run ahead
  std::map<int64_t, std::vector<std::vector<std::byte>>> averages; // of a replica's parameters
};

Result<void> SessionRunner::checkProgram(std::string_view name) {
  const std::string &file = session.executable().name();
  const ProgramInfo *program = session.executable().findProgram(name);
  if (!program)
    return Error{fmt::format("{} has no program '{}': compile it with hybridc from a model with an "
                             "output 'logits' or 'prediction'",
                             file, name)};
  const TensorInfo *tokens = nullptr;
  for (const TensorInfo &input : program->inputs) {
    if (input.name == "targets" || (name == "train" && isSeed(input)))
      continue;
    bool ofTokens = input.dtype == DType::I32 && input.shape.size() == 2;
    bool ofNumbers = input.dtype == DType::F32 && input.shape.size() == 3;
    if (tokens || !(ofTokens || ofNumbers))
      return Error{fmt::format("{}: program '{}' has input '{}' {}; training needs one input of "
                               "integers [batch, length] or of f32 numbers [batch, length, n]",
                               file, name, input.name, input.shapeText())};
    tokens = &input;
  }
  const TensorInfo *targets = program->findInput("targets");
  if (!tokens || !targets)
    return Error{fmt::format("{}: program '{}' has no input '{}'", file, name,
                             tokens ? "targets" : "tokens")};
  std::vector<int64_t> wanted = tokens->shape;
  if (tokens->dtype == DType::F32)
    wanted.back() = 2; // a number and its weight
  if (targets->dtype != tokens->dtype || targets->shape != wanted)
    return Error{fmt::format(
        "{}: program '{}' has targets {} for inputs {}; integers [batch, length] go with logits "
        "[batch, length, classes], numbers with a prediction [batch, length, 1]",
        file, name, targets->shapeText(), tokens->shapeText())};
  if (!tokenShape.empty() && (tokenShape != tokens->shape || tokensName != tokens->name))
    return Error{fmt::format("{}: its programs 'train' and 'eval' differ in their inputs", file)};
  for (const char *output : {"loss", "weight", "correct"})
    if (!program->findOutput(output))
      return Error{fmt::format("{}: program '{}' has no output '{}'", file, name, output)};
  tokenShape = tokens->shape;
  tokensName = tokens->name;
  const auto ids = idsOf(session.executable(), name, tokensName);
  idsBelow = ids ? ids->below : 0;
  return {};
}

Result<void> SessionRunner::prepare(bool training, int64_t longest) {
  if (auto done = checkProgram("eval"); !done)
    return done;
  for (const TensorInfo &output : session.executable().findProgram("eval")->outputs) {
    bool shaped = inputNumbers() == 0 && output.shape.size() == 3 && output.shape[0] == batch() &&
                  output.shape[1] == tokenShape[1] && output.dtype != DType::I32;
    if (shaped && (!logitsInfo || output.name == "logits"))
      logitsInfo = &output;
  }
  if (parts > 1) {
    if (replicas() != 1)
      return Error{fmt::format("{} trains {} models at once, each on parts of its sequences: "
                               "expected one",
                               session.executable().name(), replicas())};
    wholeEvaluation = makeInputs("eval", 1);
  }
  if (!training)
    return {};
  if (auto done = checkProgram("train"); !done)
    return done;
  if (auto done = checkUpdateProgram(session); !done)
    return done;
  const TensorInfo *seed = session.executable().findProgram("train")->findInput("seed");
  draws = seed && isSeed(*seed);
  if (keepsInputs()) {
    stepInputs.assign(static_cast<size_t>(replicas()), makeInputs("train", batches));
    return {};
  }
  auto reserved = session.reserveSteps(stepPrograms, longest);
  if (!reserved)
    return reserved.error();
  mostSteps = *reserved;
  return {};
}

double SessionRunner::scalar(std::string_view program, std::string_view name, int64_t replica,
                             int64_t step) const {
  const TensorInfo *info = session.executable().findProgram(program)->findOutput(name);
  return numberAt(info->dtype, session.output(program, name, replica, step), 0);
}

BatchScore SessionRunner::score(std::string_view program, int64_t replica, int64_t step) const {
  return {scalar(program, "loss", replica, step), scalar(program, "weight", replica, step),
          scalar(program, "correct", replica, step)};
}

Result<void> SessionRunner::startBurst(int64_t steps) {
  if (notTaken)
    return *std::exchange(notTaken, std::nullopt);
  if (runsAhead()) {
    stepsOnTheirWay.push_back(steps);
    return session.start(stepPrograms, steps);
  }
  if (steps != 1)
    return Error{"steps are taken one by one"};
  auto scores = takeStep();
  if (!scores)
    return scores.error();
  taken = std::move(*scores);
  return {};
}

/// A program of a step, measured where that is wanted; `name` is what it does.
Result<void> SessionRunner::run(const char *program, const char *name) {
  if (!trace)
    return session.run(program);
  const Trace::Clock::time_point begin = Trace::Clock::now();
  if (!trace->wantsOperations()) {
    auto done = session.run(program);
    trace->add(name, begin);
    return done;
  }
  auto times = session.profile(program);
  if (!times)
    return times.error();
  trace->addProgram(name, begin, *times);
  return {};
}

/// The scores of all replicas, those that are not active without meaning.
Result<std::vector<BatchScore>> SessionRunner::runTrain() {
  if (auto done = run("train", "forward and backward"); !done)
    return done.error();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<BatchScore> scores(static_cast<size_t>(replicas()), {none, none, none});
  for (int64_t replica = 0; replica < replicas(); ++replica)
    if (session.isActive(replica))
      scores[static_cast<size_t>(replica)] = score("train", replica);
  return scores;
}

/// Memory for so many whole batches of a program.
SessionRunner::StepInputs SessionRunner::makeInputs(const char *program, int64_t times) {
  StepInputs inputs;
  const auto often = static_cast<size_t>(times * parts);
  inputs.tokens.resize(often * session.inputAs<int32_t>(program, tokensName).size());
  inputs.targets.resize(often * session.inputAs<int32_t>(program, "targets").size());
  return inputs;
}

/// A batch of those as the input of a program: of each sequence this rank's part.
void SessionRunner::showPart(const char *program, int64_t replica, const StepInputs &inputs,
                             int64_t batch) {
  const int64_t part = placeOf(*this).part;
  const std::pair<const std::string, const std::vector<int32_t> &> arrays[] = {
      {tokensName, inputs.tokens}, {"targets", inputs.targets}};
  for (const auto &[name, all] : arrays) {
    std::span<int32_t> input = session.inputAs<int32_t>(program, name, replica);
    const int64_t words = std::ssize(input) / this->batch(); // of a part
    for (int64_t row = 0; row < this->batch(); ++row)
      std::copy_n(all.begin() + ((batch * this->batch() + row) * parts + part) * words, words,
                  input.begin() + row * words);
  }
}

/// A batch of the step as the input of program `train`.
void SessionRunner::showBatch(int64_t replica, int64_t batch) {
  const StepInputs &inputs = stepInputs[static_cast<size_t>(replica)];
  showPart("train", replica, inputs, batch);
  if (draws)
    writeSeed(inputs.hyper.step, batch, replica, 0);
}

/// Random numbers of a batch are those of the run's seed, the update and the batch's place in it
/// (of all ranks' batches), so that a run that is resumed draws what it would have drawn.
void SessionRunner::writeSeed(int64_t update, int64_t batch, int64_t replica, int64_t step) {
  const RankPlace place = placeOf(*this);
  const uint64_t seed =
      mixBits(mixBits(drawSeeds[static_cast<size_t>(replica)]) ^ static_cast<uint64_t>(update)) +
      static_cast<uint64_t>((batch * place.count + place.rank) * place.parts + place.part);
  std::span<int32_t> words = session.inputAs<int32_t>("train", "seed", replica, step);
  words[0] = static_cast<int32_t>(static_cast<uint32_t>(seed));
  words[1] = static_cast<int32_t>(static_cast<uint32_t>(seed >> 32));
}

/// The step's only batch, from where it is kept.
Result<std::vector<BatchScore>> SessionRunner::runTrainOnce() {
  for (int64_t replica = 0; replica < replicas(); ++replica)
    showBatch(replica, 0);
  auto scores = runTrain();
  for (int64_t replica = 0; replica < replicas(); ++replica)
    writeHyper(session, stepInputs[static_cast<size_t>(replica)].hyper, replica);
  return scores;
}

/// Batch after batch, with the gradients of all of them at the end.
Result<std::vector<BatchScore>> SessionRunner::runTrainOften() {
  std::vector<BatchScore> sums(static_cast<size_t>(replicas()));
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t replica = 0; replica < replicas(); ++replica)
      showBatch(replica, batch);
    auto scores = runTrain();
    if (!scores)
      return scores.error();
    for (int64_t replica = 0; replica < replicas(); ++replica) {
      const BatchScore &score = (*scores)[static_cast<size_t>(replica)];
      BatchScore &sum = sums[static_cast<size_t>(replica)];
      if (session.isActive(replica))
        if (auto done = gradients.add(replica, score.weight); !done)
          return done.error();
      // A loss that is no number stays one, also of a batch in which nothing is scored.
      sum.loss += score.weight > 0 ? score.loss * score.weight : 0 * score.loss;
      sum.weight += score.weight;
      sum.correct += score.correct;
    }
  }
  for (int64_t replica = 0; replica < replicas(); ++replica) {
    BatchScore &sum = sums[static_cast<size_t>(replica)];
    sum.loss = sum.weight > 0 ? sum.loss / sum.weight : sum.loss;
    if (session.isActive(replica))
      if (auto done = gradients.store(replica); !done)
        return done.error();
    writeHyper(session, stepInputs[static_cast<size_t>(replica)].hyper, replica);
  }
  return sums;
}

template <typename T> static double sumOfSquares(std::span<const std::byte> bytes, int threads) {
  constexpr int64_t chunk = 1 << 15; // sums do not depend on the threads
  const T *values = reinterpret_cast<const T *>(bytes.data());
  const auto count = static_cast<int64_t>(bytes.size() / sizeof(T));
  std::vector<double> sums(static_cast<size_t>((count + chunk - 1) / chunk));
  parallelFor(std::ssize(sums), threads, [&](int64_t low, int64_t high, int) {
    for (int64_t i = low; i < high; ++i)
      for (int64_t at = i * chunk; at < std::min(count, (i + 1) * chunk); ++at)
        sums[static_cast<size_t>(i)] +=
            static_cast<double>(values[at]) * static_cast<double>(values[at]);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// As the session holds them now; on a GPU they are copied. Ranks that have shares of them each sum
/// their own, and the first one what all have.
Result<double> SessionRunner::gradientNorm(int64_t replica) {
  const std::vector<ParameterInfo> &parameters = session.executable().parameters();
  const int own = others ? others->rank() : 0, ranks = others ? others->size() : 1;
  double sum = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].trainable)
      continue;
    std::span<const std::byte> gradient = session.parameter(i, Session::Slot::Gradient, replica);
    if (gradient.empty() && parameters[i].elements() > 0)
      return Error{
          fmt::format("the gradient of '{}' cannot be read from the device", parameters[i].name)};
    auto add = [&](std::span<const std::byte> part) {
      sum += parameters[i].dtype == DType::F64 ? sumOfSquares<double>(part, availableThreads())
                                               : sumOfSquares<float>(part, availableThreads());
    };
    const uint64_t begin = parameters[i].offset;
    if (isShared(session.executable(), begin, gradient.size()))
      forShards(begin, gradient.size(), ranks, [&](uint64_t at, uint64_t bytes, int owner) {
        if (owner == own)
          add(gradient.subspan(at - begin, bytes));
      });
    else if (own == 0 || !sharesOptimizer(session.executable()))
      add(gradient);
  }
  if (others && sharesOptimizer(session.executable())) {
    auto done = others->run([&](Transport &transport) {
      return allReduce(transport, {.values = {std::as_writable_bytes(std::span(&sum, 1))},
                                   .type = DType::F64,
                                   .wire = DType::F64});
    });
    if (!done)
      return done.error();
  }
  return std::sqrt(sum);
}

/// A loss that is no number leaves the parameters alone; such a norm is the update's to refuse.
Result<bool> SessionRunner::isToUpdate(int64_t replica, StepScore &score) {
  if (!std::isfinite(score.batch.loss))
    return false;
  if (!judge)
    return true;
  auto norm = gradientNorm(replica);
  if (!norm)
    return norm.error();
  score.gradientNorm = *norm;
  score.isLeftOut = std::isfinite(*norm) && !judge(replica, score);
  return !score.isLeftOut;
}

/// Gradients and update one after the other: a loss that is no number leaves the parameters alone.
Result<std::vector<StepScore>> SessionRunner::takeStep() {
  auto losses = batches > 1 ? runTrainOften() : keepsInputs() ? runTrainOnce() : runTrain();
  if (!losses)
    return losses.error();
  std::vector<StepScore> scores;
  std::vector<int64_t> updating, leftOut;
  for (int64_t replica = 0; replica < replicas(); ++replica) {
    const BatchScore &batch = (*losses)[static_cast<size_t>(replica)];
    scores.push_back({batch, std::numeric_limits<double>::quiet_NaN()});
    if (!session.isActive(replica))
      continue;
    auto updates = isToUpdate(replica, scores.back());
    if (!updates)
      return updates.error();
    (*updates ? updating : leftOut).push_back(replica);
  }
  if (updating.empty())
    return scores;
  for (int64_t replica : leftOut)
    if (auto done = session.setActive(replica, false); !done)
      return done.error();
  if (auto done = run("update", "update"); !done)
    return done.error();
  for (int64_t replica : leftOut)
    if (auto done = session.setActive(replica, true); !done)
      return done.error();
  for (int64_t replica : updating)
    scores[static_cast<size_t>(replica)].gradientNorm =
        scalar("update", "gradient_norm", replica, 0);
  return scores;
}

Result<std::vector<StepScore>> SessionRunner::finishBurst() {
  if (!runsAhead())
    return std::exchange(taken, {});
  if (auto done = session.finish(); !done)
    return done.error();
  const int64_t steps = stepsOnTheirWay.front();
  stepsOnTheirWay.pop_front();
  std::vector<StepScore> scores;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t replica = 0; replica < replicas(); ++replica)
      scores.push_back(
          {score("train", replica, step), scalar("update", "gradient_norm", replica, step)});
  return scores;
}

Result<std::vector<BatchScore>> SessionRunner::evaluate() {
  if (parts > 1)
    showPart("eval", 0, wholeEvaluation, 0);
  if (auto done = session.run("eval"); !done)
    return done.error();
  std::vector<BatchScore> scores;
  for (int64_t replica = 0; replica < replicas(); ++replica)
    scores.push_back(score("eval", replica));
  return scores;
}

Result<void> SessionRunner::showLogits(int64_t replica) {
  shownLogits = session.output("eval", logitsInfo->name, replica);
  if (parts == 1)
    return {};
  auto all = gatherParts(*others, static_cast<int>(parts), shownLogits);
  if (!all)
    return all.error();
  // [parts, batch, length / parts, classes] -> [batch, length, classes]
  const size_t rows = static_cast<size_t>(batch()), size = shownLogits.size() / rows;
  wholeLogits.resize(shownLogits.size() * all->size());
  for (size_t part = 0; part < all->size(); ++part)
    for (size_t row = 0; row < rows; ++row)
      std::copy_n((*all)[part].begin() + static_cast<ptrdiff_t>(row * size), size,
                  wholeLogits.begin() + static_cast<ptrdiff_t>((row * all->size() + part) * size));
  shownLogits = wholeLogits;
  return {};
}

void SessionRunner::logits(int64_t row, std::span<double> out) const {
  if (shownLogits.empty()) { // the device failed after the run: no number must look like one
    std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = numberAt(logitsInfo->dtype, shownLogits, static_cast<size_t>(row) * out.size() + i);
}

std::string SessionRunner::findNonFinite(int64_t replica, const std::function<void()> &fill) {
  std::string first;
  for (int64_t batch = 0; batch < batches; ++batch) { // all of them: other ranks wait for this one
    // The program reuses its inputs' memory: they are written for each of its two runs.
    auto write = [&] {
      fill();
      if (keepsInputs())
        showBatch(replica, batch);
    };
    write();
    if (!session.run("train") || !session.gatherParameters())
      return first;
    write();
    if (first.empty())
      first = session.findNonFinite("train", replica);
    session.releaseShares();
  }
  return first;
}

std::vector<SessionRunner::StatePlace> SessionRunner::statePlaces() const {
  std::vector<StatePlace> places;
  const std::vector<ParameterInfo> &parameters = session.executable().parameters();
  const std::pair<Session::Slot, const char *> slots[] = {{Session::Slot::Parameter, ""},
                                                          {Session::Slot::Moment1, "moment1."},
                                                          {Session::Slot::Moment2, "moment2."}};
  for (auto [slot, prefix] : slots)
    for (size_t i = 0; i < parameters.size(); ++i)
      if (slot == Session::Slot::Parameter || parameters[i].trainable)
        places.push_back({i, slot, prefix + parameters[i].name});
  return places;
}

Result<void> SessionRunner::keepAverage(int64_t replica) {
  if (session.executable().format().shares_parameters())
    return Error{"--ema: an average takes whole parameters, of which ranks have shares; give "
                 "--shard-optimizer=state"};
  std::vector<std::vector<std::byte>> &kept = averages[replica];
  kept.clear();
  for (size_t i = 0; i < session.executable().parameters().size(); ++i) {
    std::span<const std::byte> now = session.parameter(i, Session::Slot::Parameter, replica);
    if (now.empty())
      return Error{fmt::format("parameter '{}' cannot be read from the device",
                               session.executable().parameters()[i].name)};
    kept.emplace_back(now.begin(), now.end());
  }
  return {};
}

template <typename T>
static void moveTowards(std::span<std::byte> average, std::span<const std::byte> now,
                        double weight) {
  T *to = reinterpret_cast<T *>(average.data());
  const T *from = reinterpret_cast<const T *>(now.data());
  for (size_t i = 0; i < std::min(average.size(), now.size()) / sizeof(T); ++i)
    to[i] = static_cast<T>((1 - weight) * static_cast<double>(to[i]) +
                           weight * static_cast<double>(from[i]));
}

void SessionRunner::average(int64_t replica, double weight) {
  std::vector<std::vector<std::byte>> &kept = averages[replica];
  for (size_t i = 0; i < kept.size(); ++i) {
    const bool wide = session.executable().parameters()[i].dtype == DType::F64;
    (wide ? moveTowards<double>
          : moveTowards<float>)(kept[i], session.parameter(i, Session::Slot::Parameter, replica),
                                weight);
  }
}

std::vector<StateTensor> SessionRunner::state(int64_t replica) {
  std::vector<StateTensor> tensors;
  for (const StatePlace &place : statePlaces()) {
    const ParameterInfo &info = session.executable().parameters()[place.parameter];
    tensors.push_back({place.name, info.dtype, info.shape,
                       session.parameter(place.parameter, place.slot, replica)});
  }
  if (auto kept = averages.find(replica); kept != averages.end())
    for (size_t i = 0; i < kept->second.size(); ++i) {
      const ParameterInfo &info = session.executable().parameters()[i];
      tensors.push_back({averagePrefix + info.name, info.dtype, info.shape, kept->second[i]});
    }
  return tensors;
}

Result<void> SessionRunner::setState(int64_t replica, size_t index,
                                     std::span<const std::byte> bytes) {
  const std::vector<StatePlace> places = statePlaces();
  if (index >= places.size()) {
    averages[replica][index - places.size()].assign(bytes.begin(), bytes.end());
    return {};
  }
  const StatePlace &place = places[index];
  return session.setParameter(place.parameter, bytes, place.slot, replica);
}

uint64_t SessionRunner::parameterCount() const {
  uint64_t count = 0;
  for (const ParameterInfo &parameter : session.executable().parameters())
    count += static_cast<uint64_t>(parameter.elements());
  return count;
}

} // namespace

Result<std::unique_ptr<StepRunner>> makeSessionRunner(Session &session, bool training,
                                                      int64_t longest, int64_t batches,
                                                      Communicator *ranks) {
  if (ranks && !reducesOverRanks(session.executable()))
    return Error{fmt::format("{} was compiled for one rank, and {} train together: compile it with "
                             "hybridc --data-parallel",
                             session.executable().name(), ranks->size())};
  if (const int64_t parts = sequenceRanksOf(session.executable());
      parts > 1 && (!ranks || ranks->size() % parts != 0))
    return Error{fmt::format("{} is for ranks that have one of {} parts of each sequence, and {} "
                             "train together: expected a multiple of {}",
                             session.executable().name(), parts, ranks ? ranks->size() : 1, parts)};
  auto runner = std::make_unique<SessionRunner>(session, batches, ranks);
  if (auto done = runner->prepare(training, longest); !done)
    return done.error();
  return std::unique_ptr<StepRunner>(std::move(runner));
}

} // namespace hybrid::rt
