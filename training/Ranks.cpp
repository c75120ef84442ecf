//===- Ranks.cpp - the part of a rank in a training that several do together -----===//
#include "training/Ranks.h"
#include <cstring>
#include <type_traits>

namespace hybrid::rt {

RankPlace placeOf(const StepRunner &runner) {
  const Communicator *ranks = runner.ranks();
  const int64_t parts = runner.sequenceParts();
  return ranks
             ? RankPlace{ranks->rank() / parts, ranks->size() / parts, ranks->rank() % parts, parts}
             : RankPlace();
}

bool isFirst(const StepRunner &runner) { return !runner.ranks() || runner.ranks()->isFirst(); }

Result<int64_t> agree(const StepRunner &runner, int64_t mine) {
  Communicator *ranks = runner.ranks();
  if (!ranks)
    return mine;
  return ranks->run([mine](Transport &transport) { return largest(transport, mine); });
}

namespace {

static_assert(std::is_trivially_copyable_v<Answer> && std::is_trivially_copyable_v<BatchScore>);

template <typename T> void append(std::vector<std::byte> &bytes, const T *values, size_t count) {
  const auto *from = reinterpret_cast<const std::byte *>(values);
  bytes.insert(bytes.end(), from, from + count * sizeof(T));
}

/// Reads what append() wrote; ranks run the same program, so it is there.
class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : bytes(bytes) {}
  template <typename T> void read(T *values, size_t count) {
    const size_t size = count * sizeof(T);
    if (size > bytes.size()) {
      failed = true;
      return;
    }
    if (size > 0)
      std::memcpy(values, bytes.data(), size);
    bytes = bytes.subspan(size);
  }
  size_t left() const { return bytes.size(); }
  bool hasFailed() const { return failed; }

private:
  std::span<const std::byte> bytes;
  bool failed = false;
};

} // namespace

Result<std::vector<std::vector<Answer>>>
gatherAnswers(const StepRunner &runner, std::vector<std::vector<Answer>> mine, BatchScore &total) {
  Communicator *ranks = runner.ranks();
  if (!ranks)
    return mine;
  if (placeOf(runner).part > 0)
    mine.clear();
  const BatchScore own{total.weight > 0 ? total.loss * total.weight : 0, total.weight,
                       total.correct};
  std::vector<std::byte> bytes;
  append(bytes, &own, 1);
  for (const std::vector<Answer> &instance : mine) {
    const auto count = static_cast<uint64_t>(instance.size());
    append(bytes, &count, 1);
    append(bytes, instance.data(), instance.size());
  }
  auto all =
      ranks->run([&](Transport &transport) { return gatherAll(transport, std::span(bytes)); });
  if (!all)
    return all.error();
  total = {};
  std::vector<std::vector<Answer>> answers;
  for (const std::vector<std::byte> &part : *all) {
    Reader reader(part);
    BatchScore score;
    reader.read(&score, 1);
    total.loss += score.loss;
    total.weight += score.weight;
    total.correct += score.correct;
    while (reader.left() > 0 && !reader.hasFailed()) {
      uint64_t count = 0;
      reader.read(&count, 1);
      if (count * sizeof(Answer) > reader.left())
        return Error{"a rank sent answers that are no answers"};
      reader.read(answers.emplace_back(count).data(), count);
    }
    if (reader.hasFailed())
      return Error{"a rank sent answers that are no answers"};
  }
  total.loss = total.weight > 0 ? total.loss / total.weight : 0;
  return answers;
}

} // namespace hybrid::rt
