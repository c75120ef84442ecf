//===- Collectives.cpp - sums, gathers and broadcasts over ranks ---------------===//
#include "runtime/ranks/Collectives.h"
#include <algorithm>
#include <bit>
#include <cstring>

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

/// Elements [first, first + count) of the values as they are sent, and back.
class Packing {
public:
  explicit Packing(const Reduction &reduction)
      : reduction(reduction), size(static_cast<uint64_t>(bytesOf(reduction.type))) {
    for (std::span<std::byte> values : reduction.values)
      total += values.size() / size;
  }
  uint64_t elements() const { return total; }

  void pack(uint64_t first, uint64_t count, std::byte *to) const {
    forParts(first, count, [&](std::byte *part, uint64_t elements, uint64_t at) {
      if (reduction.wire == reduction.type) {
        std::memcpy(to + at * size, part, elements * size);
        return;
      }
      for (uint64_t i = 0; i < elements; ++i)
        put16(to, at + i, roundedToBf16(static_cast<float>(valueAt(part, i))));
    });
  }

  void unpack(uint64_t first, uint64_t count, const std::byte *from) const {
    forParts(first, count, [&](std::byte *part, uint64_t elements, uint64_t at) {
      if (reduction.wire == reduction.type) {
        std::memcpy(part, from + at * size, elements * size);
        return;
      }
      for (uint64_t i = 0; i < elements; ++i) {
        const auto value = static_cast<double>(fromBf16(get16(from, at + i)));
        if (reduction.type == DType::F64)
          reinterpret_cast<double *>(part)[i] = value;
        else
          reinterpret_cast<float *>(part)[i] = static_cast<float>(value);
      }
    });
  }

private:
  double valueAt(const std::byte *part, uint64_t i) const {
    return reduction.type == DType::F64
               ? reinterpret_cast<const double *>(part)[i]
               : static_cast<double>(reinterpret_cast<const float *>(part)[i]);
  }
  static void put16(std::byte *to, uint64_t i, uint16_t bits) { std::memcpy(to + 2 * i, &bits, 2); }
  static uint16_t get16(const std::byte *from, uint64_t i) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * i, 2);
    return bits;
  }
  /// function(elements of one of the values, how many, their place behind `first`).
  template <typename Function>
  void forParts(uint64_t first, uint64_t count, Function &&function) const {
    uint64_t begin = 0; // of the values, over all
    for (std::span<std::byte> values : reduction.values) {
      const uint64_t end = begin + values.size() / size;
      const uint64_t from = std::max(begin, first), to = std::min(end, first + count);
      if (from < to)
        function(values.data() + (from - begin) * size, to - from, from - first);
      begin = end;
    }
  }

  const Reduction &reduction;
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

Result<void> allReduce(Transport &transport, const Reduction &reduction) {
  const int size = transport.size(), self = transport.rank();
  if (size == 1)
    return {};
  const Packing packing(reduction);
  const uint64_t elements = packing.elements();
  const auto wire = static_cast<uint64_t>(wireBytesOf(reduction.wire));
  const auto ranks = static_cast<size_t>(size), own = static_cast<size_t>(self);
  const bool small = isSmall(elements * wire);
  auto begin = [&](int rank) { return small ? 0 : partBegin(elements, size, rank); };
  auto end = [&](int rank) { return small ? elements : partBegin(elements, size, rank + 1); };
  const uint64_t mine = end(self) - begin(self);

  // Each message begins with the weight of its sender. 8 bytes: the elements behind it are aligned.
  constexpr size_t head = sizeof(double);
  std::vector<std::vector<std::byte>> outgoing(ranks), incoming(ranks);
  std::vector<std::span<const std::byte>> send(ranks);
  std::vector<std::span<std::byte>> receive(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    const auto to = static_cast<int>(rank);
    const uint64_t count = end(to) - begin(to);
    outgoing[rank].resize(head + count * wire);
    std::memcpy(outgoing[rank].data(), &reduction.weight, head);
    packing.pack(begin(to), count, outgoing[rank].data() + head);
    send[rank] = outgoing[rank];
    if (rank != own) {
      incoming[rank].resize(head + mine * wire);
      receive[rank] = incoming[rank];
    }
  }
  if (auto done = transport.exchange(send, receive); !done)
    return done;
  std::vector<double> weights(ranks, reduction.weight);
  std::vector<const std::byte *> parts(ranks, outgoing[own].data() + head);
  for (size_t rank = 0; rank < ranks; ++rank)
    if (rank != own) {
      std::memcpy(&weights[rank], incoming[rank].data(), head);
      parts[rank] = incoming[rank].data() + head;
    }
  std::vector<std::byte> sum(mine * wire);
  sumPacked(parts, factorsOf(reduction, weights), mine, reduction.wire, sum.data());
  packing.unpack(begin(self), mine, sum.data());
  if (small)
    return {};

  for (size_t rank = 0; rank < ranks; ++rank) {
    send[rank] = sum;
    incoming[rank].resize(
        rank == own ? 0 : (end(static_cast<int>(rank)) - begin(static_cast<int>(rank))) * wire);
    receive[rank] = incoming[rank];
  }
  if (auto done = transport.exchange(send, receive); !done)
    return done;
  for (size_t rank = 0; rank < ranks; ++rank)
    if (rank != own)
      packing.unpack(begin(static_cast<int>(rank)),
                     end(static_cast<int>(rank)) - begin(static_cast<int>(rank)),
                     incoming[rank].data());
  return {};
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
