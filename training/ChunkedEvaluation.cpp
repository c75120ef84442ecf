//===- ChunkedEvaluation.cpp - scoring sequences of any length ---------------===//
#include "training/ChunkedEvaluation.h"
#include "runtime/InputIds.h"
#include "training/Scorer.h"
#include "training/SessionRunner.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// The tensors of program `chunk`.
struct ChunkProgram {
  const TensorInfo *tokens = nullptr, *logits = nullptr;
  std::vector<const TensorInfo *> states;
};

Result<ChunkProgram> chunkProgramOf(const Executable &executable) {
  const ProgramInfo *program = executable.findProgram("chunk");
  if (!program)
    return Error{fmt::format("{} has no program 'chunk': compile it with hybridc --chunked",
                             executable.name())};
  ChunkProgram chunk;
  for (const TensorInfo &input : program->inputs)
    if (input.name.starts_with("state."))
      chunk.states.push_back(&input);
    else
      chunk.tokens = &input;
  for (const TensorInfo &output : program->outputs)
    if (output.name == "logits" && output.shape.size() == 3)
      chunk.logits = &output;
  if (!chunk.tokens || !chunk.logits)
    return Error{fmt::format("{}: program 'chunk' has no output 'logits' [batch, length, classes]",
                             executable.name())};
  return chunk;
}

/// Instances of one batch, as they go through the chunks.
class ChunkedBatch {
public:
  ChunkedBatch(Session &session, const ChunkProgram &chunk, size_t positions)
      : session(session), chunk(chunk), positions(positions),
        rows(static_cast<size_t>(chunk.tokens->shape[0])),
        length(static_cast<size_t>(chunk.tokens->shape[1])),
        logits(static_cast<size_t>(chunk.logits->shape[2])), inputs(rows * positions),
        targets(rows * positions), answers(rows), states(chunk.states.size()) {}

  size_t size() const { return rows; }
  std::span<int32_t> inputsOf(size_t row) {
    return std::span(inputs).subspan(row * positions, positions);
  }
  std::span<int32_t> targetsOf(size_t row) {
    return std::span(targets).subspan(row * positions, positions);
  }
  std::span<const Answer> answersOf(size_t row) const { return answers[row]; }

  /// Takes the first `used` rows through all chunks.
  Result<void> run(size_t used) {
    for (std::vector<Answer> &list : answers)
      list.clear();
    for (size_t i = 0; i < states.size(); ++i)
      states[i].assign(session.input("chunk", chunk.states[i]->name).size(), std::byte{0});
    for (size_t from = 0; from < positions; from += length)
      if (auto done = step(from, used); !done)
        return done;
    return {};
  }

private:
  Result<void> step(size_t from, size_t used) {
    size_t count = std::min(length, positions - from);
    std::span<int32_t> tokens = session.inputAs<int32_t>("chunk", chunk.tokens->name);
    std::fill(tokens.begin(), tokens.end(), 0);
    for (size_t row = 0; row < used; ++row)
      std::copy_n(inputsOf(row).begin() + static_cast<int64_t>(from), count,
                  tokens.begin() + static_cast<int64_t>(row * length));
    for (size_t i = 0; i < states.size(); ++i)
      std::memcpy(session.input("chunk", chunk.states[i]->name).data(), states[i].data(),
                  states[i].size());
    if (auto done = session.run("chunk"); !done)
      return done;
    for (size_t i = 0; i < states.size(); ++i) {
      std::span<const std::byte> state = session.output("chunk", chunk.states[i]->name);
      if (state.size() != states[i].size())
        return Error{fmt::format("the state '{}' could not be read", chunk.states[i]->name)};
      std::memcpy(states[i].data(), state.data(), state.size());
    }
    return score(from, count, used);
  }

  Result<void> score(size_t from, size_t count, size_t used) {
    std::span<const std::byte> values; // only where something is asked
    for (size_t row = 0; row < used; ++row)
      for (size_t t = 0; t < count; ++t) {
        int32_t target = targets[row * positions + from + t];
        if (target == ignoredTarget)
          continue;
        if (values.empty())
          values = session.output("chunk", chunk.logits->name);
        if (values.empty())
          return Error{"the logits could not be read"};
        size_t first = (row * length + t) * logits.size();
        for (size_t c = 0; c < logits.size(); ++c)
          logits[c] = numberAt(chunk.logits->dtype, values, first + c);
        answers[row].push_back(answerOf(logits, target));
      }
    return {};
  }

  Session &session;
  const ChunkProgram &chunk;
  size_t positions, rows, length;
  std::vector<double> logits; // of one position
  std::vector<int32_t> inputs, targets;
  std::vector<std::vector<Answer>> answers;
  std::vector<std::vector<std::byte>> states;
};

} // namespace

Result<int64_t> chunkLength(const Executable &executable) {
  auto chunk = chunkProgramOf(executable);
  if (!chunk)
    return chunk.error();
  return chunk->tokens->shape[1];
}

Result<EvaluationScore> evaluateInChunks(Session &session, const Source &source, uint64_t count) {
  auto chunk = chunkProgramOf(session.executable());
  if (!chunk)
    return chunk.error();
  int64_t classes = chunk->logits->shape[2];
  if (source.inputNumbers() > 0)
    return Error{"sequences of numbers cannot be scored in chunks"};
  const auto ids = idsOf(session.executable(), "chunk", chunk->tokens->name);
  if (auto fits = checkVocabulary(source, classes, ids ? ids->below : 0); !fits)
    return fits.error();
  count = examplesFor(source, count);
  Scorer scorer(classes);
  ChunkedBatch batch(session, *chunk, static_cast<size_t>(source.positions()));
  for (uint64_t first = 0; first < count; first += batch.size()) {
    size_t used = std::min<uint64_t>(batch.size(), count - first);
    for (size_t row = 0; row < used; ++row)
      source.test(first + row, count, batch.inputsOf(row), batch.targetsOf(row));
    if (auto done = batch.run(used); !done)
      return done.error();
    for (size_t row = 0; row < used; ++row)
      scorer.addInstance(batch.answersOf(row));
  }
  return scorer.finish();
}

} // namespace hybrid::rt
