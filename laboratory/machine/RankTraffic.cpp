//===- RankTraffic.cpp - what ranks would send in a training step -------------------===//
#include "laboratory/machine/RankTraffic.h"
#include "executable/Executable_generated.h"
#include "executable/Limits.h"
#include "executable/OptimizerShards.h"
#include "executable/Spaces.h"
#include "runtime/ranks/Collectives.h"
#include "training/ModelFingerprint.h"
#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace hybrid::rt::lab {
namespace {

/// Numbers that ranks agree on between steps: whether one got a signal, whether to evaluate.
constexpr uint64_t agreements = 2;

/// In which so many bytes go.
uint64_t roundsOf(uint64_t bytes) { return (bytes + bytesAtOnce - 1) / bytesAtOnce; }

using Buffers = flatbuffers::Vector<const fb::BufferRef *>;

/// Of some buffers, what each rank owns.
std::vector<uint64_t> ownedBytes(const Buffers &buffers, int ranks) {
  std::vector<uint64_t> owned(static_cast<size_t>(ranks));
  for (const fb::BufferRef *buffer : buffers)
    forShards(buffer->offset(), buffer->bytes(), ranks, [&](uint64_t, uint64_t bytes, int rank) {
      owned[static_cast<size_t>(rank)] += bytes;
    });
  return owned;
}

using EachRank = std::vector<RankTraffic>;

void add(EachRank &each, const fb::AllReduce &reduction) {
  const int ranks = static_cast<int>(each.size());
  const auto element = static_cast<uint64_t>(bytesOf(static_cast<DType>(reduction.dtype()))),
             wire = reduction.wire() == fb::DType::BF16 ? 2 : element;
  uint64_t elements = 0;
  for (const fb::BufferRef *buffer : *reduction.buffers())
    elements += buffer->bytes() / element;
  if (reduction.to_owners()) {
    const std::vector<uint64_t> owned = ownedBytes(*reduction.buffers(), ranks);
    for (size_t rank = 0; rank < each.size(); ++rank) {
      each[rank].reduced +=
          (elements - owned[rank] / element) * wire + (each.size() - 1) * sizeof(double);
      each[rank].exchanges += roundsOf(elements * element);
    }
    return;
  }
  for (RankTraffic &traffic : each) {
    traffic.reduced += bytesToReduce(ranks, elements, wire);
    traffic.exchanges += elements * wire > reducedAtOnce ? 2 * roundsOf(elements * element) : 1;
  }
}

void add(EachRank &each, const fb::AllGather &gather) {
  uint64_t bytes = 0;
  for (const fb::BufferRef *buffer : *gather.buffers())
    bytes += buffer->bytes();
  const std::vector<uint64_t> owned = ownedBytes(*gather.buffers(), static_cast<int>(each.size()));
  for (size_t rank = 0; rank < each.size(); ++rank) {
    each[rank].gathered += (each.size() - 1) * owned[rank];
    each[rank].exchanges += roundsOf(bytes);
  }
}

void add(EachRank &each, const fb::Exchange &exchange) {
  if (!exchange.send())
    return;
  const uint64_t bytes = exchange.send()->bytes();
  const auto parts = static_cast<uint64_t>(exchange.ranks());
  for (RankTraffic &traffic : each) {
    ++traffic.exchanges;
    if (exchange.pattern() == fb::RankPattern::All)
      traffic.swapped += bytes / parts * (parts - 1);
    else
      traffic.states += bytes;
  }
}

} // namespace

double RankTraffic::seconds(const EmulatedLink &link) const {
  return static_cast<double>(exchanges) * link.delaySeconds +
         (link.bytesPerSecond > 0 ? static_cast<double>(total()) / link.bytesPerSecond : 0);
}

Result<RankTraffic> trafficOf(const Executable &executable, int64_t ranks, int64_t batches) {
  if (!reducesOverRanks(executable))
    return Error{fmt::format("{} was compiled for one rank: compile it with hybridc "
                             "--data-parallel or --sequence-parallel",
                             executable.name())};
  if (const int64_t parts = sequenceRanksOf(executable); ranks < 2 || ranks % parts != 0)
    return Error{fmt::format("{} is for ranks that have one of {} parts of each sequence, expected "
                             "a multiple of {} ranks, and 2 at least; {} were given",
                             executable.name(), parts, parts, ranks)};
  if (ranks > mostRanks)
    return Error{fmt::format("{} ranks, expected at most {}", ranks, mostRanks)};
  EachRank each(static_cast<size_t>(ranks));
  auto addProgram = [&](std::string_view name) {
    for (const fb::Program *program : *executable.format().programs())
      if (program->name()->string_view() == name && program->steps())
        for (const fb::Step *step : *program->steps()) {
          if (const auto *reduction = step->operation_as_AllReduce())
            add(each, *reduction);
          else if (const auto *gather = step->operation_as_AllGather())
            add(each, *gather);
          else if (const auto *exchange = step->operation_as_Exchange())
            add(each, *exchange);
        }
  };
  addProgram("train");
  for (RankTraffic &traffic : each)
    for (uint64_t *part : {&traffic.reduced, &traffic.gathered, &traffic.swapped, &traffic.states,
                           &traffic.exchanges})
      *part *= static_cast<uint64_t>(batches);
  addProgram("update");
  RankTraffic traffic = *std::ranges::max_element(each, {}, &RankTraffic::total);
  traffic.agreed = agreements * sizeof(int64_t) * static_cast<uint64_t>(ranks - 1);
  traffic.exchanges += agreements;
  traffic.least = std::ranges::min_element(each, {}, &RankTraffic::total)->total() + traffic.agreed;
  return traffic;
}

RankMemory memoryOf(const Executable &executable, int64_t ranks) {
  const fb::Executable &format = executable.format();
  RankMemory memory{
      spaceBytes(format, fb::Space::Parameters), spaceBytes(format, fb::Space::Gradients),
      spaceBytes(format, fb::Space::Moment1) + spaceBytes(format, fb::Space::Moment2)};
  if (!sharesOptimizer(executable) || ranks < 1 || ranks > mostRanks)
    return memory;
  uint64_t shared = 0;
  for (const fb::BufferRef *stretch : *format.shared())
    shared += stretch->bytes();
  const uint64_t others =
      shared - std::ranges::max(ownedBytes(*format.shared(), static_cast<int>(ranks)));
  memory.moments -= 2 * others;
  if (format.shares_parameters()) {
    memory.parameters -= others;
    memory.gradients -= others;
  }
  return memory;
}

} // namespace hybrid::rt::lab
