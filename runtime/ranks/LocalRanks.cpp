//===- LocalRanks.cpp - ranks that are threads of one process -------------------===//
#include "runtime/ranks/LocalRanks.h"
#include "runtime/ranks/Waiting.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <thread>

namespace hybrid::rt {
namespace {

using Clock = std::chrono::steady_clock;
using Sent = std::span<const std::span<const std::byte>>;
using Received = std::span<const std::span<std::byte>>;

/// Where the ranks meet. An exchange has two moments: all have come, so that what they give can be
/// read, and all have read.
struct Meeting {
  explicit Meeting(int size) : given(static_cast<size_t>(size)) {}
  std::mutex mutex;
  std::condition_variable moved;
  std::vector<Sent> given;
  int arrived = 0, left = 0;
  uint64_t round = 0;
  int gone = -1; // a rank that does not take part any more

  bool arrive(int rank, Sent send) {
    std::unique_lock lock(mutex);
    given[static_cast<size_t>(rank)] = send;
    return meet(lock, arrived);
  }

  bool leave() {
    std::unique_lock lock(mutex);
    return meet(lock, left);
  }

  void abandon(int rank) {
    std::lock_guard lock(mutex);
    if (gone < 0)
      gone = rank;
    moved.notify_all();
  }

private:
  /// Waits until all have come; false when one never will.
  bool meet(std::unique_lock<std::mutex> &lock, int &here) {
    const uint64_t mine = round;
    if (++here == static_cast<int>(given.size())) {
      here = 0;
      ++round;
      moved.notify_all();
    }
    waitFor(moved, lock, [&] { return round != mine || gone >= 0; });
    return round != mine;
  }
};

class LocalRank final : public Transport {
public:
  LocalRank(std::shared_ptr<Meeting> meeting, int place)
      : meeting(std::move(meeting)), place(place) {}
  ~LocalRank() override { meeting->abandon(place); }
  int rank() const override { return place; }
  int size() const override { return static_cast<int>(meeting->given.size()); }
  void abandon() override { meeting->abandon(place); }

protected:
  Result<void> pass(Sent send, Received receive) override {
    if (!meeting->arrive(place, send))
      return lost();
    for (size_t other = 0; other < receive.size(); ++other) {
      if (other == static_cast<size_t>(place))
        continue;
      const std::span<const std::byte> from = meeting->given[other][static_cast<size_t>(place)];
      if (from.size() != receive[other].size())
        return Error{fmt::format("rank {} sent {} bytes, rank {} expected {}", other, from.size(),
                                 place, receive[other].size())};
      if (!from.empty())
        std::memcpy(receive[other].data(), from.data(), from.size());
    }
    return meeting->leave() ? Result<void>() : lost();
  }

private:
  Error lost() const { return Error{fmt::format("rank {} is gone", meeting->gone)}; }
  std::shared_ptr<Meeting> meeting;
  int place;
};

class SlowerLink final : public Transport {
public:
  SlowerLink(std::unique_ptr<Transport> inner, const EmulatedLink &link)
      : inner(std::move(inner)), link(link) {}
  int rank() const override { return inner->rank(); }
  int size() const override { return inner->size(); }
  void abandon() override { inner->abandon(); }

protected:
  /// As a full-duplex link: what goes out takes the time, or what comes in where that is more.
  Result<void> pass(Sent send, Received receive) override {
    const Clock::time_point start = Clock::now();
    uint64_t out = 0, in = 0;
    for (size_t other = 0; other < send.size(); ++other)
      if (other != static_cast<size_t>(rank())) {
        out += send[other].size();
        in += receive[other].size();
      }
    auto done = inner->exchange(send, receive);
    double seconds = link.delaySeconds;
    if (link.bytesPerSecond > 0)
      seconds += static_cast<double>(std::max(out, in)) / link.bytesPerSecond;
    std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(seconds)));
    return done;
  }

private:
  std::unique_ptr<Transport> inner;
  EmulatedLink link;
};

} // namespace

std::vector<std::unique_ptr<Transport>> makeLocalRanks(int size, const EmulatedLink &link) {
  auto meeting = std::make_shared<Meeting>(size);
  std::vector<std::unique_ptr<Transport>> ranks;
  for (int rank = 0; rank < size; ++rank)
    ranks.push_back(emulate(std::make_unique<LocalRank>(meeting, rank), link));
  return ranks;
}

std::unique_ptr<Transport> emulate(std::unique_ptr<Transport> inner, const EmulatedLink &link) {
  if (link.delaySeconds <= 0 && link.bytesPerSecond <= 0)
    return inner;
  return std::make_unique<SlowerLink>(std::move(inner), link);
}

} // namespace hybrid::rt
