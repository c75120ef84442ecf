//===- Collectives.cpp - sums, gathers and broadcasts over ranks ---------------===//
#include "runtime/ranks/Collectives.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

namespace hybrid::rt {
namespace {

/// Elements that are summed at once: their sums stay in the nearest cache.
constexpr size_t block = 512;

uint16_t roundedToBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) // a NaN stays one
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
float fromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

int64_t wireBytesOf(DType wire) { return wire == DType::BF16 ? 2 : bytesOf(wire); }

using Values = std::span<const std::span<std::byte>>;

/// The elements of some values, one behind the other, as they are sent, and back.
class Packing {
public:
  Packing(Values values, DType type, DType wire)
      : values(values), type(type), wire(wire), size(static_cast<uint64_t>(bytesOf(type))) {
    for (std::span<std::byte> each : values)
      total += each.size() / size;
  }
  uint64_t elements() const { return total; }
  uint64_t bytes() const { return total * static_cast<uint64_t>(wireBytesOf(wire)); }

  void pack(std::byte *to) const {
    forValues([&](std::byte *each, uint64_t elements, uint64_t at) {
      if (wire == type) {
        std::memcpy(to + at * size, each, elements * size);
        return;
      }
      for (uint64_t i = 0; i < elements; ++i)
        put16(to, at + i, roundedToBf16(static_cast<float>(valueAt(each, i))));
    });
  }

  void unpack(const std::byte *from) const {
    forValues([&](std::byte *each, uint64_t elements, uint64_t at) {
      if (wire == type) {
        std::memcpy(each, from + at * size, elements * size);
        return;
      }
      for (uint64_t i = 0; i < elements; ++i) {
        const auto value = static_cast<double>(fromBf16(get16(from, at + i)));
        if (type == DType::F64)
          reinterpret_cast<double *>(each)[i] = value;
        else
          reinterpret_cast<float *>(each)[i] = static_cast<float>(value);
      }
    });
  }

private:
  double valueAt(const std::byte *part, uint64_t i) const {
    return type == DType::F64 ? reinterpret_cast<const double *>(part)[i]
                              : static_cast<double>(reinterpret_cast<const float *>(part)[i]);
  }
  static void put16(std::byte *to, uint64_t i, uint16_t bits) { std::memcpy(to + 2 * i, &bits, 2); }
  static uint16_t get16(const std::byte *from, uint64_t i) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * i, 2);
    return bits;
  }
  /// function(elements of one of the values, how many, how many lie before them).
  template <typename Function> void forValues(Function &&function) const {
    uint64_t before = 0;
    for (std::span<std::byte> each : values) {
      if (!each.empty())
        function(each.data(), each.size() / size, before);
      before += each.size() / size;
    }
  }

  Values values;
  DType type, wire;
  uint64_t size, total = 0;
};

/// sums = Σ_r factor_r parts[r], in the order of ranks. Ranks whose factor is 0 are left out, so
/// that what is no number there stays there.
template <typename Read>
void sumBlock(std::span<const std::byte *const> parts, std::span<const double> factors,
              uint64_t first, size_t count, Read &&read, double *sums) {
  std::fill_n(sums, count, 0.0);
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    const double factor = factors[rank];
    if (factor == 0)
      continue;
    for (size_t i = 0; i < count; ++i)
      sums[i] += factor * read(parts[rank], first + i);
  }
}

/// The sum of packed parts, packed into `to`, which may be one of them.
void sumPacked(std::span<const std::byte *const> parts, std::span<const double> factors,
               uint64_t count, DType wire, std::byte *to) {
  double sums[block];
  for (uint64_t first = 0; first < count; first += block) {
    const auto some = static_cast<size_t>(std::min<uint64_t>(block, count - first));
    auto sum = [&]<typename T>(T, auto &&toNumber, auto &&fromNumber) {
      auto read = [&](const std::byte *part, uint64_t i) {
        T stored;
        std::memcpy(&stored, part + i * sizeof(T), sizeof(T));
        return static_cast<double>(toNumber(stored));
      };
      sumBlock(parts, factors, first, some, read, sums);
      for (size_t i = 0; i < some; ++i) {
        const T stored = fromNumber(sums[i]);
        std::memcpy(to + (first + i) * sizeof(T), &stored, sizeof(T));
      }
    };
    if (wire == DType::BF16)
      sum(uint16_t(), fromBf16, [](double x) { return roundedToBf16(static_cast<float>(x)); });
    else if (wire == DType::F64)
      sum(double(), [](double x) { return x; }, [](double x) { return x; });
    else
      sum(float(), [](float x) { return x; }, [](double x) { return static_cast<float>(x); });
  }
}

/// What the contribution of each rank is multiplied with.
std::vector<double> factorsOf(const Reduction &reduction, std::span<const double> weights) {
  std::vector<double> factors(weights.size(), 1.0);
  if (!reduction.isMean)
    return factors;
  double total = 0;
  for (double weight : weights)
    total += weight > 0 ? weight : 0;
  if (reduction.isWeighted) {
    std::ranges::fill(factors, total > 0 ? 1 / total : 0);
    return factors;
  }
  for (size_t rank = 0; rank < weights.size(); ++rank)
    factors[rank] = total > 0 ? std::max(0.0, weights[rank]) / total
                              : 1.0 / static_cast<double>(weights.size());
  return factors;
}

/// Where the part of a rank begins: parts are whole cache lines but for the last.
uint64_t partBegin(uint64_t elements, int size, int rank) {
  constexpr uint64_t grain = 16;
  const uint64_t grains = (elements + grain - 1) / grain;
  return std::min(elements,
                  grains * static_cast<uint64_t>(rank) / static_cast<uint64_t>(size) * grain);
}

bool isSmall(uint64_t bytes) { return bytes <= reducedAtOnce; }

} // namespace

uint64_t bytesToReduce(int size, uint64_t elements, uint64_t wireBytes) {
  if (size < 2)
    return 0;
  const auto others = static_cast<uint64_t>(size - 1);
  if (isSmall(elements * wireBytes))
    return others * (elements * wireBytes + sizeof(double));
  uint64_t most = 0;
  for (int rank = 0; rank < size; ++rank) {
    const uint64_t mine = partBegin(elements, size, rank + 1) - partBegin(elements, size, rank);
    most = std::max(most, (elements - mine) + others * mine);
  }
  return most * wireBytes + others * sizeof(double);
}

namespace {

/// Gives each rank r what parts[r] has; the own part becomes the sum of what all have of it. Parts
/// may be the same.
Result<void> reduceParts(Transport &transport, std::span<const Packing> parts,
                         const Reduction &how) {
  const auto ranks = static_cast<size_t>(transport.size()),
             own = static_cast<size_t>(transport.rank());
  // Each message begins with the weight of its sender. 8 bytes: the elements behind it are aligned.
  constexpr size_t head = sizeof(double);
  const uint64_t mine = parts[own].bytes();
  std::vector<std::vector<std::byte>> outgoing(ranks), incoming(ranks);
  std::vector<std::span<const std::byte>> send(ranks);
  std::vector<std::span<std::byte>> receive(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    outgoing[rank].resize(head + parts[rank].bytes());
    std::memcpy(outgoing[rank].data(), &how.weight, head);
    parts[rank].pack(outgoing[rank].data() + head);
    send[rank] = outgoing[rank];
    if (rank != own) {
      incoming[rank].resize(head + mine);
      receive[rank] = incoming[rank];
    }
  }
  if (auto done = transport.exchange(send, receive); !done)
    return done;
  std::vector<double> weights(ranks, how.weight);
  std::vector<const std::byte *> packed(ranks, outgoing[own].data() + head);
  for (size_t rank = 0; rank < ranks; ++rank)
    if (rank != own) {
      std::memcpy(&weights[rank], incoming[rank].data(), head);
      packed[rank] = incoming[rank].data() + head;
    }
  std::vector<std::byte> sum(mine);
  sumPacked(packed, factorsOf(how, weights), parts[own].elements(), how.wire, sum.data());
  parts[own].unpack(sum.data());
  return {};
}

/// Gives the first `receivers` ranks what the own part has.
Result<void> gatherParts(Transport &transport, std::span<const Packing> parts, int receivers) {
  const auto ranks = static_cast<size_t>(transport.size()),
             own = static_cast<size_t>(transport.rank());
  std::vector<std::byte> mine(parts[own].bytes());
  parts[own].pack(mine.data());
  std::vector<std::vector<std::byte>> incoming(ranks);
  std::vector<std::span<const std::byte>> send(ranks);
  std::fill_n(send.begin(), receivers, mine);
  std::vector<std::span<std::byte>> receive(ranks);
  const bool receives = own < static_cast<size_t>(receivers);
  for (size_t rank = 0; rank < ranks; ++rank) {
    incoming[rank].resize(rank == own || !receives ? 0 : parts[rank].bytes());
    receive[rank] = incoming[rank];
  }
  if (auto done = transport.exchange(send, receive); !done)
    return done;
  for (size_t rank = 0; receives && rank < ranks; ++rank)
    if (rank != own)
      parts[rank].unpack(incoming[rank].data());
  return {};
}

/// The elements of some values from the `first` one to that before `end`.
std::vector<std::span<std::byte>> cut(Values values, uint64_t first, uint64_t end, uint64_t size) {
  std::vector<std::span<std::byte>> parts;
  uint64_t begin = 0;
  for (std::span<std::byte> each : values) {
    const uint64_t count = each.size() / size;
    const uint64_t from = std::max(begin, first), to = std::min(begin + count, end);
    if (from < to)
      parts.push_back(each.subspan((from - begin) * size, (to - from) * size));
    begin += count;
  }
  return parts;
}

/// Does `work` with some of what ranks own after another, so that what is on its way at once is
/// bounded, however much there is.
Result<void> inRounds(const OwnedValues &values, DType type, DType wire,
                      const std::function<Result<void>(std::span<const Packing>)> &work) {
  uint64_t most = 0; // bytes of a rank's
  for (const std::vector<std::span<std::byte>> &owned : values) {
    uint64_t bytes = 0;
    for (std::span<std::byte> each : owned)
      bytes += each.size();
    most = std::max(most, bytes);
  }
  const auto size = static_cast<uint64_t>(bytesOf(type));
  const uint64_t step = std::max<uint64_t>(1, bytesAtOnce / values.size() / size);
  for (uint64_t first = 0; first * size < most; first += step) {
    OwnedValues some;
    for (const std::vector<std::span<std::byte>> &owned : values)
      some.push_back(cut(owned, first, first + step, size));
    std::vector<Packing> parts;
    for (const std::vector<std::span<std::byte>> &owned : some)
      parts.emplace_back(owned, type, wire);
    if (auto done = work(parts); !done)
      return done;
  }
  return {};
}

} // namespace

Result<void> allReduce(Transport &transport, const Reduction &reduction) {
  const int size = transport.size();
  if (size == 1)
    return {};
  const Packing all(reduction.values, reduction.type, reduction.wire);
  if (isSmall(all.bytes()))
    return reduceParts(transport, std::vector<Packing>(static_cast<size_t>(size), all), reduction);
  OwnedValues values;
  for (int rank = 0; rank < size; ++rank)
    values.push_back(cut(reduction.values, partBegin(all.elements(), size, rank),
                         partBegin(all.elements(), size, rank + 1),
                         static_cast<uint64_t>(bytesOf(reduction.type))));
  return inRounds(values, reduction.type, reduction.wire, [&](std::span<const Packing> parts) {
    auto done = reduceParts(transport, parts, reduction);
    return done ? gatherParts(transport, parts, size) : done;
  });
}

Result<void> reduceToOwners(Transport &transport, const OwnedValues &values, const Reduction &how) {
  if (transport.size() == 1)
    return {};
  return inRounds(values, how.type, how.wire, [&](std::span<const Packing> parts) {
    return reduceParts(transport, parts, how);
  });
}

static Result<void> gather(Transport &transport, const OwnedValues &values, int receivers) {
  if (transport.size() == 1)
    return {};
  return inRounds(values, DType::F32, DType::F32, [&](std::span<const Packing> parts) {
    return gatherParts(transport, parts, receivers);
  });
}

Result<void> gatherFromOwners(Transport &transport, const OwnedValues &values) {
  return gather(transport, values, transport.size());
}

Result<void> gatherToFirst(Transport &transport, const OwnedValues &values) {
  return gather(transport, values, 1);
}

Result<std::vector<std::vector<std::byte>>> gatherAll(Transport &transport,
                                                      std::span<const std::byte> mine) {
  const auto ranks = static_cast<size_t>(transport.size()),
             own = static_cast<size_t>(transport.rank());
  const uint64_t size = mine.size();
  std::vector<uint64_t> sizes(ranks, size);
  std::vector<std::span<const std::byte>> send(ranks, std::as_bytes(std::span(&size, 1)));
  std::vector<std::span<std::byte>> receive(ranks);
  for (size_t rank = 0; rank < ranks; ++rank)
    receive[rank] = std::as_writable_bytes(std::span(&sizes[rank], 1));
  if (auto done = transport.exchange(send, receive); !done)
    return done.error();
  std::vector<std::vector<std::byte>> all(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    all[rank].resize(sizes[rank]);
    send[rank] = mine;
    receive[rank] = all[rank];
  }
  if (auto done = transport.exchange(send, receive); !done)
    return done.error();
  all[own].assign(mine.begin(), mine.end());
  return all;
}

Result<void> broadcast(Transport &transport, std::span<std::byte> bytes) {
  const auto ranks = static_cast<size_t>(transport.size());
  const bool isFirst = transport.rank() == 0;
  std::vector<std::span<const std::byte>> send(ranks);
  std::vector<std::span<std::byte>> receive(ranks);
  for (size_t rank = 1; isFirst && rank < ranks; ++rank)
    send[rank] = bytes;
  if (!isFirst)
    receive[0] = bytes;
  return transport.exchange(send, receive);
}

Result<int64_t> largest(Transport &transport, int64_t mine) {
  const auto ranks = static_cast<size_t>(transport.size());
  std::vector<int64_t> values(ranks, mine);
  const std::vector<std::span<const std::byte>> send(ranks, std::as_bytes(std::span(&mine, 1)));
  std::vector<std::span<std::byte>> receive(ranks);
  for (size_t rank = 0; rank < ranks; ++rank)
    if (rank != static_cast<size_t>(transport.rank()))
      receive[rank] = std::as_writable_bytes(std::span(&values[rank], 1));
  if (auto done = transport.exchange(send, receive); !done)
    return done.error();
  return *std::max_element(values.begin(), values.end());
}

} // namespace hybrid::rt
