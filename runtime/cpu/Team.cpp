//===- Team.cpp - threads that work on one thing together ---------------------===//
#include "runtime/cpu/Team.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sched.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

// oneDNN comes linked with GNU's libgomp; this is its interface to programs.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace hybrid::rt {
namespace {

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `word` is not `old`. At first it looks again and again, as what it waits for is
/// mostly done soon; then it calls `beforeSleep` and sleeps, so that a core is free for whoever
/// holds things up. Where looking did not help it looks for less time the next time.
class Waiter {
public:
  template <typename BeforeSleep>
  void wait(const std::atomic<uint32_t> &word, uint32_t old, BeforeSleep &&beforeSleep) {
    for (int look = 0; look < patience; ++look) {
      if (word.load(std::memory_order_acquire) != old) {
        patience = std::min(longest, patience + patience / 8 + 1);
        return;
      }
      pause();
    }
    patience = std::max(shortest, patience / 2);
    beforeSleep();
    while (word.load(std::memory_order_acquire) == old)
      word.wait(old, std::memory_order_acquire);
  }
  void wait(const std::atomic<uint32_t> &word, uint32_t old) {
    wait(word, old, [] {});
  }

private:
  // Of looks, some 20 ns each: 10 to 100 us.
  static constexpr int shortest = 500, longest = 5000;
  int patience = longest;
};

thread_local Waiter waiter;
thread_local bool inRegion = false;

/// Counts for one share after another. The number of the share is in the same word, so that a
/// thread which was not running while the others went on changes nothing of theirs.
class Counter {
public:
  /// Adds to the count of `share` and returns what it was before; none when that share is over.
  std::optional<uint32_t> add(uint32_t share, uint32_t amount) {
    uint64_t seen = word.load(std::memory_order_relaxed);
    while (true) {
      const auto owner = static_cast<uint32_t>(seen >> 32);
      if (owner > share)
        return {};
      const uint32_t before = owner == share ? static_cast<uint32_t>(seen) : 0;
      if (word.compare_exchange_weak(seen, uint64_t{share} << 32 | (before + amount),
                                     std::memory_order_acq_rel, std::memory_order_relaxed))
        return before;
    }
  }
  void clear() { word.store(0, std::memory_order_relaxed); }

private:
  std::atomic<uint64_t> word{0};
};

/// What the others know of a member, in cache lines of its own.
struct alignas(64) Seat {
  Counter taken;                    // pieces of its part, by anyone
  std::atomic<bool> working{false}; // it has a piece, or is about to take one
  std::atomic<int> cpu{-1};         // where it ran when it last took one
  pid_t thread = 0;
};

/// Nanoseconds that a thread of this process has run so far.
int64_t runningTime(pid_t thread) {
  // The clock of a thread's time, as clock_getcpuclockid(3) and pthread_getcpuclockid(3) make it.
  const clockid_t clock = (~static_cast<clockid_t>(thread) << 3) | 6;
  timespec time{};
  return clock_gettime(clock, &time) ? -1 : time.tv_sec * int64_t{1000000000} + time.tv_nsec;
}

/// Puts a thread of this process on a core that it may run on. It stays there until the scheduler
/// moves it for reasons of its own. 0: the calling thread.
void moveTo(int cpu, pid_t thread) {
  cpu_set_t allowed, there;
  if (sched_getaffinity(thread, sizeof(allowed), &allowed) || !CPU_ISSET(cpu, &allowed))
    return;
  CPU_ZERO(&there);
  CPU_SET(cpu, &there);
  if (!sched_setaffinity(thread, sizeof(there), &there))
    sched_setaffinity(thread, sizeof(allowed), &allowed);
}

/// Threads of the whole machine that run or could, on average over the last times somebody asked.
class Runnable {
public:
  double average() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next)
      return mean;
    next = now + std::chrono::milliseconds(5);
    // "0.20 0.18 0.12 3/80 11206": the fourth word.
    char text[128] = {};
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof(text) - 1) < 0)
      text[0] = 0;
    if (file >= 0)
      close(file);
    int count = 0;
    if (std::sscanf(text, "%*s %*s %*s %d/", &count) == 1)
      mean += mean ? (count - mean) / 8 : count;
    return mean;
  }

private:
  std::chrono::steady_clock::time_point next{};
  double mean = 0;
};

thread_local Runnable runnable;

/// Lets a thread that waits for another process's turn on its core have the core of the calling
/// thread, which is about to sleep. The scheduler would do so by itself, but milliseconds later.
void offerCore(pid_t thread) {
  const int64_t before = runningTime(thread);
  for (int look = 0; look < 500; ++look)
    pause();
  if (runningTime(thread) == before) // it does not run
    moveTo(sched_getcpu(), thread);
}

} // namespace

/// Shares are numbered from 1. One is over when all its pieces are done, whoever did them: a member
/// that is not running, and has no piece, holds up nobody and finds those shares over later.
struct Region {
  explicit Region(int threads) : threads(threads), seats(static_cast<size_t>(threads)) {}

  /// For the next call: nobody is in it.
  void clear() {
    failed.store(false, std::memory_order_relaxed);
    over.store(0, std::memory_order_relaxed);
    done.clear();
    for (Seat &seat : seats)
      seat.taken.clear();
  }

  void waitForOver(uint32_t share, int self) {
    for (uint32_t now = over.load(std::memory_order_acquire); now < share;
         now = over.load(std::memory_order_acquire))
      waiter.wait(over, now, [&] {
        for (int other = 0; other < threads; ++other)
          if (other != self && seats[static_cast<size_t>(other)].working.load())
            offerCore(seats[static_cast<size_t>(other)].thread);
      });
  }

  /// Two members that share a core while another has none of them: one goes there. The scheduler
  /// may leave it so, as another process keeps that other core busy. Where there are others for
  /// every core nothing is won: taking turns on one costs less than waiting for turns on two.
  void spread(int self) const {
    const int here = sched_getcpu();
    cpu_set_t used;
    CPU_ZERO(&used);
    bool shared = false;
    int members = 1;
    for (int other = 0; other < threads; ++other) {
      const Seat &seat = seats[static_cast<size_t>(other)];
      const int cpu = seat.cpu.load(std::memory_order_relaxed);
      if (other == self || cpu < 0 || !seat.working.load(std::memory_order_relaxed))
        continue;
      CPU_SET(cpu, &used);
      shared |= cpu == here;
      ++members;
    }
    if (!shared)
      return;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) ||
        runnable.average() - members > CPU_COUNT(&allowed) - 0.5)
      return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed) && !CPU_ISSET(cpu, &used))
        return moveTo(cpu, 0);
  }

  const int threads;
  std::vector<Seat> seats;
  Counter done;                  // pieces of the current share
  std::atomic<uint32_t> over{0}; // the last share that is
  std::atomic<bool> failed{false};
};

bool Member::share(int64_t items, int64_t grain, Piece piece) {
  if (!region) {
    if (items > 0)
      piece(0, items);
    return !failedAlone;
  }
  const int64_t pieces = (items + grain - 1) / grain;
  if (!pieces)
    return !region->failed.load(std::memory_order_relaxed);
  ++shares;
  Seat &own = region->seats[static_cast<size_t>(index)];
  uint32_t finished = 0;
  region->spread(index);
  own.working.store(true);
  for (int turn = 0; turn < count; ++turn) {
    const int64_t part = (index + turn) % count;
    const int64_t first = pieces * part / count, size = pieces * (part + 1) / count - first;
    Counter &taken = region->seats[static_cast<size_t>(part)].taken;
    while (true) {
      const std::optional<uint32_t> next = taken.add(shares, 1);
      if (!next || *next >= size)
        break;
      own.cpu.store(sched_getcpu(), std::memory_order_relaxed);
      const int64_t at = first + *next;
      piece(at * grain, std::min(items, (at + 1) * grain));
      ++finished;
    }
  }
  own.working.store(false);
  if (finished) {
    const uint32_t before = *region->done.add(shares, finished);
    if (before + finished == pieces) {
      region->over.store(shares, std::memory_order_release);
      region->over.notify_all();
      return !region->failed.load(std::memory_order_relaxed);
    }
  }
  region->waitForOver(shares, index);
  return !region->failed.load(std::memory_order_relaxed);
}

void Member::fail() {
  if (region)
    region->failed.store(true, std::memory_order_relaxed);
  else
    failedAlone = true;
}

int64_t grainOf(int64_t items, int threads) {
  constexpr int64_t piecesOfAThread = 8;
  return std::max<int64_t>(1, items / (piecesOfAThread * threads));
}

namespace {

/// While it lives no handler of a signal runs on this thread; what comes meanwhile is handled at
/// its end. A handler in the middle of a product was seen to corrupt memory: generated code of the
/// library seems to keep data below the stack that signals are handled on.
class SignalsWait {
public:
  SignalsWait() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&blocked, fault);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  SignalsWait(const SignalsWait &) = delete;
  SignalsWait &operator=(const SignalsWait &) = delete;

private:
  sigset_t before;
};

/// The threads that serve one other thread.
class Team {
public:
  ~Team() {
    announce(stop);
    for (std::thread &worker : workers)
      worker.join();
  }

  void run(int threads, FunctionRef<void(Member &)> body) {
    if (!region || region->threads != threads)
      region = std::make_unique<Region>(threads);
    region->clear();
    while (static_cast<int>(workers.size()) < threads - 1)
      workers.emplace_back([this, index = static_cast<int>(workers.size()) + 1,
                            seen = call.load()] { serve(index, seen); });
    work = &body;
    running.store(static_cast<uint32_t>(threads - 1), std::memory_order_relaxed);
    announce(static_cast<uint32_t>(threads));
    inRegion = true;
    region->seats[0].thread = gettid();
    Member first(region.get(), 0, threads);
    body(first);
    inRegion = false;
    // What body refers to is gone after this.
    for (uint32_t left = running.load(std::memory_order_acquire); left;
         left = running.load(std::memory_order_acquire))
      waiter.wait(running, left);
  }

private:
  /// A call is one word, so that a thread it is not meant for sees no half of the next: how many
  /// take part, or `stop`, below a number that tells it from the one before.
  static constexpr uint32_t membersMask = (1u << 12) - 1, stop = membersMask;
  static_assert(mostThreads < stop);

  void announce(uint32_t members) {
    const uint32_t last = call.load(std::memory_order_relaxed);
    call.store(((last | membersMask) + 1) | members, std::memory_order_release);
    call.notify_all();
  }
  void serve(int index, uint32_t seen) {
    inRegion = true;
    SignalsWait signals;
    OneThreadOfLibraries one;
    while (true) {
      waiter.wait(call, seen);
      seen = call.load(std::memory_order_acquire);
      const uint32_t members = seen & membersMask;
      if (members == stop)
        return;
      if (static_cast<uint32_t>(index) >= members)
        continue;
      region->seats[static_cast<size_t>(index)].thread = gettid();
      Member member(region.get(), index, static_cast<int>(members));
      (*work)(member);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
        running.notify_all();
    }
  }

  std::vector<std::thread> workers;
  std::unique_ptr<Region> region;
  FunctionRef<void(Member &)> *work = nullptr;
  std::atomic<uint32_t> call{0}, running{0};
};

thread_local std::unique_ptr<Team> team;

} // namespace

OneThreadOfLibraries::OneThreadOfLibraries() : before(omp_get_max_threads()) {
  omp_set_num_threads(1);
}
OneThreadOfLibraries::~OneThreadOfLibraries() { omp_set_num_threads(before); }

void parallelRegion(int threads, FunctionRef<void(Member &)> body) {
  threads = std::min(threads, mostThreads);
  SignalsWait signals;
  OneThreadOfLibraries one;
  if (threads <= 1 || inRegion) {
    Member alone = Member::alone(0);
    body(alone);
    return;
  }
  if (!team)
    team = std::make_unique<Team>();
  team->run(threads, body);
}

} // namespace hybrid::rt
