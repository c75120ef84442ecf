//===- Communicator.h - collectives beside the computation ---------------------===//
//
// A thread that does what ranks do together, in the order in which it was started: a program goes
// on computing while a reduction is on its way, and waits where it needs the result. As the order
// is that of the program, it is the same on every rank, whatever their speed.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/ranks/Transport.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace hybrid::rt {

class Communicator {
public:
  explicit Communicator(std::unique_ptr<Transport> transport);
  ~Communicator(); // waits for what was started
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  int rank() const { return place; }
  int size() const { return count; }
  bool isFirst() const { return place == 0; }

  using Work = std::function<Result<void>(Transport &)>;
  /// Does `work` behind all that was started before. After a failure nothing more is done.
  void start(Work work);
  /// Until all that was started is done; fails when some of it did.
  Result<void> wait();
  /// Both, with a value.
  template <typename Function> auto run(Function &&function) {
    using Outcome = decltype(function(std::declval<Transport &>()));
    std::optional<Outcome> outcome;
    start([&](Transport &transport) -> Result<void> {
      outcome.emplace(function(transport));
      return *outcome ? Result<void>() : Result<void>(outcome->error());
    });
    auto done = wait();
    return outcome && done ? *outcome : Outcome(done.error());
  }

  /// Ends all ranks, as this one cannot go on.
  void abandon() { transport->abandon(); }

  /// So far: bytes sent, seconds in which something was on its way, and seconds that wait() took
  /// of them.
  struct Traffic {
    uint64_t sentBytes = 0;
    double busySeconds = 0, waitedSeconds = 0;
  };
  Traffic traffic();

private:
  void serve();

  std::unique_ptr<Transport> transport;
  int place, count;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> queue;
  bool working = false, ended = false;
  std::optional<Error> failure;
  Traffic total;
  std::thread thread;
};

} // namespace hybrid::rt
