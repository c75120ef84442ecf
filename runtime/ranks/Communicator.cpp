//===- Communicator.cpp - collectives beside the computation -------------------===//
#include "runtime/ranks/Communicator.h"
#include "runtime/ranks/Waiting.h"
#include <chrono>

namespace hybrid::rt {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Communicator::Communicator(std::unique_ptr<Transport> given)
    : transport(std::move(given)), place(transport->rank()), count(transport->size()),
      thread([this] { serve(); }) {}

Communicator::~Communicator() {
  {
    std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_all();
  thread.join();
}

void Communicator::serve() {
  std::unique_lock lock(mutex);
  while (true) {
    waitFor(changed, lock, [this] { return ended || !queue.empty(); });
    if (queue.empty())
      return;
    Work work = std::move(queue.front());
    queue.pop_front();
    if (!failure) {
      working = true;
      lock.unlock();
      const Clock::time_point start = Clock::now();
      Result<void> done = work(*transport);
      const double seconds = secondsSince(start);
      lock.lock();
      working = false;
      total.busySeconds += seconds;
      total.sentBytes = transport->sentBytes();
      if (!done)
        failure = done.error();
    }
    changed.notify_all();
  }
}

void Communicator::start(Work work) {
  {
    std::lock_guard lock(mutex);
    queue.push_back(std::move(work));
  }
  changed.notify_all();
}

Result<void> Communicator::wait() {
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex);
  waitFor(changed, lock, [this] { return queue.empty() && !working; });
  total.waitedSeconds += secondsSince(start);
  return failure ? Result<void>(*failure) : Result<void>();
}

Communicator::Traffic Communicator::traffic() {
  std::lock_guard lock(mutex);
  return total;
}

} // namespace hybrid::rt
