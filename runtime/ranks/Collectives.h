//===- Collectives.h - sums, gathers and broadcasts over ranks -----------------===//
//
// Made of exchanges. Sums are in the order of the ranks, in f64, whoever computes them: the same
// bits on every rank and in every run. Large ones go in two steps (each rank sums its part of the
// elements, then all get all parts), so that a rank sends 2 (N - 1) / N of the bytes however many
// there are; small ones in one.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/ranks/Transport.h"

namespace hybrid::rt {

/// What is to be reduced, in place: as if the values lay one behind the other.
struct Reduction {
  std::vector<std::span<std::byte>> values;
  DType type = DType::F32; // of the elements: F32 or F64
  DType wire = DType::F32; // in which they are sent: `type` or BF16
  /// Mean: Σ w_r x_r / Σ w_r over the ranks r whose weight is above 0, which is x where there is
  /// only one such; where there is none, the mean of all. Else the sum.
  bool isMean = false;
  /// With isMean: the values are w_r x_r already.
  bool isWeighted = false;
  double weight = 1;
};
/// Up to so many bytes a rank sends everything to everybody: a step less, and few bytes more.
constexpr uint64_t reducedAtOnce = 4096;
/// Larger ones go so many bytes at once.
constexpr uint64_t bytesAtOnce = uint64_t(16) << 20;
Result<void> allReduce(Transport &transport, const Reduction &reduction);

/// Of each rank the parts of some memory that it owns, one behind the other; of the same sizes on
/// all ranks.
using OwnedValues = std::vector<std::vector<std::span<std::byte>>>;
/// As allReduce() of all that ranks own (`how.values` is not looked at), but a rank gets its own
/// part only. Of the rest nothing is known then.
Result<void> reduceToOwners(Transport &transport, const OwnedValues &values, const Reduction &how);
/// What each rank owns, on all of them: whole words of 4 bytes.
Result<void> gatherFromOwners(Transport &transport, const OwnedValues &values);

/// The same, on rank 0 alone.
Result<void> gatherToFirst(Transport &transport, const OwnedValues &values);

/// What each rank has, on every rank.
Result<std::vector<std::vector<std::byte>>> gatherAll(Transport &transport,
                                                      std::span<const std::byte> mine);
/// Rank 0's bytes take the place of everybody's, which are of one size.
Result<void> broadcast(Transport &transport, std::span<std::byte> bytes);
/// The largest of all ranks' values.
Result<int64_t> largest(Transport &transport, int64_t mine);

/// Bytes that a rank of `size` sends to reduce `elements` of `wireBytes` each, as allReduce() does:
/// the most that any of them sends.
uint64_t bytesToReduce(int size, uint64_t elements, uint64_t wireBytes);

} // namespace hybrid::rt
