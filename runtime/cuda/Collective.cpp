//===- Collective.cpp - a step that all ranks take together, on a GPU -------===//
#include "runtime/cuda/Collective.h"
#include <cstring>

namespace hybrid::rt::cuda {

Result<std::unique_ptr<Collective>> Collective::create(const fb::Step &step, const Gpu &gpu,
                                                       GpuRanks *ranks,
                                                       const DevicePlaces &places) {
  const fb::Exchange *exchange = step.operation_as_Exchange();
  if (exchange)
    if (auto fits = checkParts(ranks ? ranks->size() : 1, exchange->ranks()); !fits)
      return fits.error();
  if (!ranks)
    return std::unique_ptr<Collective>();
  std::unique_ptr<Collective> made(new Collective(step, gpu, *ranks));
  if (const fb::AllReduce *sum = step.operation_as_AllReduce()) {
    const auto element = static_cast<uint64_t>(bytesOf(static_cast<DType>(sum->dtype())));
    for (const fb::BufferRef *buffer : *sum->buffers())
      made->values.push_back({places.address(*buffer), buffer->bytes() / element});
    if (sum->weight())
      made->factor = places.address(*sum->weight());
  } else if (exchange)
    if (auto prepared = made->prepareExchange(places); !prepared)
      return prepared.error();
  return made;
}

Result<void> Collective::prepareExchange(const DevicePlaces &places) {
  const fb::Exchange &exchange = *step.operation_as_Exchange();
  own = sequenceRanksOf(ranks.rank(), exchange.ranks());
  if (exchange.send())
    send = places.address(*exchange.send());
  if (exchange.receive())
    receive = places.address(*exchange.receive());
  if (exchange.pattern() != fb::RankPattern::Place)
    return {};
  auto memory = PinnedMemory::allocate(gpu, sizeof(int32_t));
  if (!memory)
    return memory.error();
  place = std::move(*memory);
  const int32_t number = own.place;
  std::memcpy(place.data(), &number, sizeof(number));
  return {};
}

Result<void> Collective::run() const {
  if (const fb::AllReduce *sum = step.operation_as_AllReduce())
    return ranks.beginSum(values, static_cast<DType>(sum->dtype()), factor);
  return step.operation_as_Exchange() ? runExchange() : ranks.await();
}

Result<void> Collective::runExchange() const {
  const fb::Exchange &exchange = *step.operation_as_Exchange();
  const fb::RankPattern pattern = exchange.pattern();
  if (pattern == fb::RankPattern::Place)
    return gpu.copyIn(receive, place.data(), sizeof(int32_t));
  if (pattern == fb::RankPattern::All)
    return ranks.swap(own, send, receive, exchange.send()->bytes());
  const bool isNext = pattern == fb::RankPattern::ToNext || pattern == fb::RankPattern::FromNext;
  const int other = own.place + (isNext ? 1 : -1);
  const bool isThere = other >= 0 && other < own.size;
  if (exchange.send())
    return isThere ? ranks.send(own.first + other, send, exchange.send()->bytes()) : Result<void>();
  const uint64_t bytes = exchange.receive()->bytes();
  return isThere ? ranks.receive(own.first + other, receive, bytes) : gpu.zero(receive, bytes);
}

} // namespace hybrid::rt::cuda
