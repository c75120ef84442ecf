//===- RankTraffic.cpp - what ranks would send in a training step -------------------===//
#include "laboratory/machine/RankTraffic.h"
#include "executable/Executable_generated.h"
#include "executable/Limits.h"
#include "runtime/ranks/Collectives.h"
#include "training/ModelFingerprint.h"
#include <fmt/format.h>

namespace hybrid::rt::lab {
namespace {

/// Numbers that ranks agree on between steps: whether one got a signal, whether to evaluate.
constexpr uint64_t agreements = 2;

void add(RankTraffic &traffic, const fb::AllReduce &reduction, int ranks) {
  const auto element = static_cast<uint64_t>(bytesOf(static_cast<DType>(reduction.dtype()))),
             wire = reduction.wire() == fb::DType::BF16 ? 2 : element;
  uint64_t elements = 0;
  for (const fb::BufferRef *buffer : *reduction.buffers())
    elements += buffer->bytes() / element;
  traffic.reduced += bytesToReduce(ranks, elements, wire);
  traffic.exchanges += elements * wire > reducedAtOnce ? 2 : 1;
}

void add(RankTraffic &traffic, const fb::Exchange &exchange) {
  if (!exchange.send())
    return;
  const uint64_t bytes = exchange.send()->bytes();
  const auto parts = static_cast<uint64_t>(exchange.ranks());
  ++traffic.exchanges;
  if (exchange.pattern() == fb::RankPattern::All)
    traffic.swapped += bytes / parts * (parts - 1);
  else
    traffic.states += bytes;
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
  RankTraffic traffic;
  for (const fb::Program *program : *executable.format().programs())
    if (program->name()->string_view() == "train" && program->steps())
      for (const fb::Step *step : *program->steps()) {
        if (const auto *reduction = step->operation_as_AllReduce())
          add(traffic, *reduction, static_cast<int>(ranks));
        else if (const auto *exchange = step->operation_as_Exchange())
          add(traffic, *exchange);
      }
  for (uint64_t *each : {&traffic.reduced, &traffic.swapped, &traffic.states, &traffic.exchanges})
    *each *= static_cast<uint64_t>(batches);
  traffic.agreed = agreements * sizeof(int64_t) * static_cast<uint64_t>(ranks - 1);
  traffic.exchanges += agreements;
  return traffic;
}

} // namespace hybrid::rt::lab
