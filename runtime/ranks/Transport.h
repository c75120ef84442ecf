//===- Transport.h - bytes between the ranks of a job -------------------------===//
//
// A rank is one of `size()` processes (in tests: threads) that work on one thing. All that is asked
// of what lies between them is one exchange: every rank gives every other some bytes. Sums,
// gathers and broadcasts are made of it (runtime/ranks/Collectives.h), so a transport is two pages.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

class Transport {
public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Gives rank r send[r] and takes receive[r] from it; both have an entry a rank, of which their
  /// own is not looked at. What r is given must have the size that r takes. Between two ranks calls
  /// are paired in their order; who gives and takes nothing has no part. One thread at a time; back
  /// when all has been sent and received.
  Result<void> exchange(std::span<const std::span<const std::byte>> send,
                        std::span<const std::span<std::byte>> receive);
  /// Bytes that exchange() has given to others.
  uint64_t sentBytes() const { return sent; }

  /// Ends all ranks, as this one cannot go on: `why` has been told.
  virtual void abandon() = 0;

protected:
  virtual Result<void> pass(std::span<const std::span<const std::byte>> send,
                            std::span<const std::span<std::byte>> receive) = 0;

private:
  uint64_t sent = 0;
};

/// A link that is to be emulated. Each of the ranks has one, which carries what it sends.
struct EmulatedLink {
  double delaySeconds = 0;   // of an exchange
  double bytesPerSecond = 0; // 0: as fast as it is
};

} // namespace hybrid::rt
