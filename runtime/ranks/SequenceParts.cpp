//===- SequenceParts.cpp - ranks that have the parts of one sequence ------------===//
#include "runtime/ranks/SequenceParts.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// What goes over the transport, an entry a rank of all.
struct Messages {
  explicit Messages(const Transport &transport)
      : send(static_cast<size_t>(transport.size())), receive(send.size()) {}
  std::vector<std::span<const std::byte>> send;
  std::vector<std::span<std::byte>> receive;
};

/// Part `part` of bytes that have one for each of so many.
template <typename Byte> std::span<Byte> partOf(std::span<Byte> bytes, int part, int parts) {
  const size_t size = bytes.size() / static_cast<size_t>(parts);
  return bytes.subspan(static_cast<size_t>(part) * size, size);
}

Result<void> swapParts(Transport &transport, const SequenceRanks &ranks,
                       std::span<const std::byte> send, std::span<std::byte> receive) {
  Messages messages(transport);
  for (int part = 0; part < ranks.size; ++part) {
    const auto other = static_cast<size_t>(ranks.first + part);
    messages.send[other] = partOf(send, part, ranks.size);
    messages.receive[other] = partOf(receive, part, ranks.size);
  }
  const auto own = static_cast<size_t>(transport.rank());
  std::ranges::copy(messages.send[own], messages.receive[own].begin());
  return transport.exchange(messages.send, messages.receive);
}

/// To or from the rank so many places behind this one, if there is one.
Result<void> passNeighbour(Transport &transport, const SequenceRanks &ranks, int distance,
                           std::span<const std::byte> send, std::span<std::byte> receive) {
  const int place = ranks.place + distance;
  if (place < 0 || place >= ranks.size) {
    std::ranges::fill(receive, std::byte());
    return {};
  }
  Messages messages(transport);
  const auto other = static_cast<size_t>(ranks.first + place);
  messages.send[other] = send;
  messages.receive[other] = receive;
  return transport.exchange(messages.send, messages.receive);
}

} // namespace

Result<void> checkParts(int ranks, int parts) {
  if (ranks == 1)
    return Error{
        fmt::format("this program is one rank's part of a sequence: start {} (or a multiple) "
                    "with `mpirun -n {} hybrid-run train ...` or srun",
                    parts, parts)};
  if (ranks % parts != 0)
    return Error{fmt::format("this program is one of {} ranks' parts of a sequence, and {} train "
                             "together: expected a multiple of {}",
                             parts, ranks, parts)};
  return {};
}

SequenceRanks sequenceRanksOf(int rank, int parts) {
  const int place = rank % parts;
  return {rank - place, parts, place};
}

Result<void> exchangeParts(Communicator *ranks, RankPattern pattern, int parts,
                           std::span<const std::byte> send, std::span<std::byte> receive) {
  if (auto fits = checkParts(ranks ? ranks->size() : 1, parts); !fits)
    return fits;
  const SequenceRanks own = sequenceRanksOf(ranks->rank(), parts);
  if (pattern == RankPattern::Place) {
    const int32_t place = own.place;
    std::memcpy(receive.data(), &place, std::min(receive.size(), sizeof(place)));
    return {};
  }
  ranks->start([=](Transport &transport) {
    if (pattern == RankPattern::All)
      return swapParts(transport, own, send, receive);
    const bool isNext = pattern == RankPattern::ToNext || pattern == RankPattern::FromNext;
    return passNeighbour(transport, own, isNext ? 1 : -1, send, receive);
  });
  return ranks->wait();
}

Result<std::vector<std::vector<std::byte>>> gatherParts(Communicator &ranks, int parts,
                                                        std::span<const std::byte> mine) {
  if (auto fits = checkParts(ranks.size(), parts); !fits)
    return fits.error();
  const SequenceRanks own = sequenceRanksOf(ranks.rank(), parts);
  std::vector<std::vector<std::byte>> all(static_cast<size_t>(parts),
                                          std::vector<std::byte>(mine.size()));
  ranks.start([&](Transport &transport) {
    Messages messages(transport);
    for (int part = 0; part < parts; ++part) {
      messages.send[static_cast<size_t>(own.first + part)] = mine;
      messages.receive[static_cast<size_t>(own.first + part)] = all[static_cast<size_t>(part)];
    }
    std::ranges::copy(mine, all[static_cast<size_t>(own.place)].begin());
    return transport.exchange(messages.send, messages.receive);
  });
  if (auto done = ranks.wait(); !done)
    return done.error();
  return all;
}

} // namespace hybrid::rt
