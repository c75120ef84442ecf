//===- Connections.h - threads for connections, so many at a time --------------------===//
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <httplib.h>
#include <mutex>
#include <thread>
#include <vector>

namespace hybrid::rt {

/// The library's own pool lets any number of connections wait; here whoever accepts them waits, and
/// the kernel holds a few more.
class Connections final : public httplib::TaskQueue {
public:
  explicit Connections(size_t most) {
    for (size_t i = 0; i < most; ++i)
      threads.emplace_back([this] { work(); });
  }

  void enqueue(std::function<void()> connection) override {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return queue.size() + busy < threads.size() || isOver; });
    queue.push_back(std::move(connection));
    changed.notify_all();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex);
      isOver = true;
      changed.notify_all();
    }
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return !queue.empty() || isOver; });
      if (queue.empty())
        return;
      std::function<void()> connection = std::move(queue.front());
      queue.pop_front();
      ++busy;
      lock.unlock();
      connection();
      lock.lock();
      --busy;
      changed.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  size_t busy = 0;
  bool isOver = false;
  std::vector<std::thread> threads; // made last
};

} // namespace hybrid::rt
