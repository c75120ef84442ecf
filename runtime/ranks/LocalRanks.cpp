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

/// Where the ranks meet: what each gives each lies there until it is taken.
struct Meeting {
  explicit Meeting(int size)
      : size(size), given(static_cast<size_t>(size * size)), isGone(static_cast<size_t>(size)) {}
  const int size;
  std::mutex mutex;
  std::condition_variable moved;
  std::vector<const std::span<const std::byte> *> given; // [from, to]; null: nothing
  std::vector<char> isGone; // of each rank: it does not take part any more
  int gone = -1;            // the first of them

  auto &from(int giver, int taker) { return given[static_cast<size_t>(giver * size + taker)]; }

  void abandon(int rank) {
    std::lock_guard lock(mutex);
    isGone[static_cast<size_t>(rank)] = true;
    if (gone < 0)
      gone = rank;
    moved.notify_all();
  }
};

class LocalRank final : public Transport {
public:
  LocalRank(std::shared_ptr<Meeting> meeting, int place)
      : meeting(std::move(meeting)), place(place) {}
  ~LocalRank() override { meeting->abandon(place); }
  int rank() const override { return place; }
  int size() const override { return meeting->size; }
  void abandon() override { meeting->abandon(place); }

protected:
  Result<void> pass(Sent send, Received receive) override {
    for (int other = 0; other < size(); ++other)
      if (other != place && !send[static_cast<size_t>(other)].empty())
        give(other, send[static_cast<size_t>(other)]);
    Result<void> done;
    for (int other = 0; other < size() && done; ++other)
      if (other != place && !receive[static_cast<size_t>(other)].empty())
        done = take(other, receive[static_cast<size_t>(other)]);
    for (int other = 0; other < size() && done; ++other)
      if (other != place && !waitFor(other, [&] { return !meeting->from(place, other); }))
        done = lost();
    if (!done) { // what was given here ends with this call, and others must not wait for it
      {
        std::lock_guard lock(meeting->mutex);
        for (int other = 0; other < size(); ++other)
          meeting->from(place, other) = nullptr;
      }
      abandon();
    }
    return done;
  }

private:
  void give(int other, const std::span<const std::byte> &bytes) {
    std::lock_guard lock(meeting->mutex);
    meeting->from(place, other) = &bytes;
    meeting->moved.notify_all();
  }

  Result<void> take(int other, std::span<std::byte> into) {
    const std::span<const std::byte> *from = nullptr;
    if (!waitFor(other, [&] { return (from = meeting->from(other, place)) != nullptr; }))
      return lost();
    if (from->size() != into.size())
      return Error{fmt::format("rank {} sent {} bytes, rank {} expected {}", other, from->size(),
                               place, into.size())};
    std::memcpy(into.data(), from->data(), into.size());
    std::lock_guard lock(meeting->mutex);
    meeting->from(other, place) = nullptr;
    meeting->moved.notify_all();
    return {};
  }

  /// For something that another rank does; false when that one is gone first.
  template <typename Predicate> bool waitFor(int other, Predicate predicate) {
    std::unique_lock lock(meeting->mutex);
    bool held = false;
    rt::waitFor(meeting->moved, lock, [&] {
      held = predicate();
      return held || meeting->isGone[static_cast<size_t>(other)];
    });
    return held;
  }

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
