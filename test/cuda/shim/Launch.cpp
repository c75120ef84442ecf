//===- Launch.cpp - schedules the threads of a block as fibers --------------===//
//
// A warp runs in passes: each of its lanes in turn, from its last stop to its next. As all lanes
// must take part in every barrier and exchange, a pass in which they stop at different places is an
// error, and nothing can wait for ever. A warp at a block barrier rests until all warps are there.
//
// A thread that never stops leaves its stack to the thread after it: kernels without barriers run
// as plain calls, without a change of stacks.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/shim/Launch.h"
#include "test/cuda/shim/RaceCheck.h"
#include "test/cuda/shim/Stacks.h"
#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <unistd.h>
#include <vector>

using namespace hybrid::shim;
namespace context = boost::context::detail;

namespace {

constexpr uint32_t warpSize = 32;
constexpr int64_t guardBytes = 4096;
constexpr unsigned char guardByte = 0xa5, poisonByte = 0xff;

const char *describe(Stop stop) {
  switch (stop) {
  case Stop::Returned:
    return "has returned";
  case Stop::BlockBarrier:
    return "waits at a block barrier";
  case Stop::WarpBarrier:
    return "waits at a warp barrier";
  case Stop::Shuffle:
    return "waits at a shuffle";
  case Stop::Matrix:
    return "waits at a matrix product of its warp";
  case Stop::Misaligned:
    return "uses an address that is not a multiple of its type's alignment";
  case Stop::OutOfBounds:
    return "uses an element that its array does not have";
  case Stop::Race:
    return "has a race";
  }
  __builtin_unreachable();
}

/// Order of warps, and of lanes in a pass: lane (multiplier i + offset) % 32 is the i-th.
struct Order {
  bool shuffled = false;
  uint32_t multiplier = 1, offset = 0;
  uint64_t state = 0;

  /// False when the text is none of ours.
  bool parse(const char *text) {
    *this = Order();
    if (!text || !*text || !std::strcmp(text, "forward"))
      return true;
    if (!std::strcmp(text, "reverse")) {
      multiplier = offset = warpSize - 1;
      return true;
    }
    char *end;
    state = std::strtoull(text, &end, 10);
    return shuffled = !*end && *text >= '0' && *text <= '9';
  }
  bool reversed() const { return !shuffled && offset; }
  uint32_t random(uint32_t bound) { // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return static_cast<uint32_t>((z >> 32) * bound >> 32);
  }
};

struct Suspended {
  context::fcontext_t context = nullptr;
  SwitchRecord record;
};

/// Runs one block at a time on its CPU thread. The fibers and their stacks live as long as it does.
class BlockRunner {
public:
  BlockRunner();
  bool usable() const { return stacks.base(); }
  Block &block() { return *static_cast<Block *>(stacks.base()); }
  /// Runs a block; the message of a failure, or nothing.
  std::string run(const Grid &grid, int64_t index, int64_t row);
  std::string describePlace();
  Order order;

private:
  struct Warp {
    Stop stop;
    uint32_t phase; ///< which of its two exchanges is next
  };
  struct Copy {
    void *to;
    const void *from; ///< null: zeros
    uint32_t bytes, group;
  };
  struct Copies {
    std::vector<Copy> waiting;
    uint32_t group = 0; ///< that the next copy belongs to
  };

  Suspended &idleOne();
  static void enter(context::transfer_t from);
  static void stop(Block &block, Stop where);
  static void access(Block &block, const void *address, uint32_t bytes, bool write);
  void switchTo(Suspended &to, Suspended &from);
  static void arrive(context::transfer_t from);
  static void startCopy(Block &block, void *to, const void *from, uint32_t bytes);
  static void commitCopies(Block &block);
  static void waitCopies(Block &block, uint32_t pending);
  bool advance(Stop where);
  bool endPass();
  bool beginPass();
  bool refill();
  bool fail(std::string what);
  std::string checkGuards();

  const Grid *grid = nullptr;
  Stacks stacks;
  Suspended home;
  std::vector<Suspended> threads; ///< without a context: not begun, running, or returned
  std::vector<Suspended> idle;
  uint32_t idleCount = 0;
  std::vector<Exchange> exchanges; ///< two for each warp, taken in turn
  std::unique_ptr<unsigned char[]> memory;
  unsigned char *shared;
  std::array<Warp, maximumThreads / warpSize> warps;
  std::array<uint32_t, maximumThreads / warpSize>
      ready; ///< warps that can go on, the next one last
  uint32_t readyCount = 0, place = 0, warp = 0, position = 0;
  Stop passStop = Stop::Returned;
  RaceCheck races;
  std::vector<Copies> copies; ///< of each thread
  std::string failure;
};

BlockRunner::BlockRunner()
    : threads(maximumThreads), idle(maximumThreads), exchanges(2 * maximumThreads / warpSize),
      memory(new unsigned char[static_cast<size_t>(maximumSharedBytes + 2 * guardBytes + 128)]),
      copies(maximumThreads) {
  auto address = reinterpret_cast<uintptr_t>(memory.get());
  shared = memory.get() + (-address % 128) + guardBytes;
  if (usable())
    stacks.setOwner(this);
}

bool BlockRunner::fail(std::string what) {
  failure = std::move(what);
  return false;
}

/// A fiber that runs the next thread that has not begun.
Suspended &BlockRunner::idleOne() {
  if (idleCount)
    return idle[--idleCount];
  // Beyond the count: nobody else looks there.
  Suspended &fresh = idle[0];
  int stack = stacks.take();
  fresh.record = stacks.record(stack);
  fresh.context =
      context::make_fcontext(stacks.top(stack), stacks.usableBytes(stack), BlockRunner::enter);
  return fresh;
}

/// What the fiber that comes to run has to do for the one that left.
void BlockRunner::arrive(context::transfer_t from) {
  static_cast<Suspended *>(from.data)->context = from.fctx;
}

void BlockRunner::switchTo(Suspended &to, Suspended &from) {
  context::fcontext_t target = to.context;
  to.context = nullptr;
  from.record.leave(to.record);
  context::transfer_t back = context::jump_fcontext(target, &from);
  from.record.comeBack();
  arrive(back);
}

void BlockRunner::enter(context::transfer_t from) {
  Block &block = hybrid::shim::block();
  auto &runner = *static_cast<BlockRunner *>(Stacks::owner(&block));
  SwitchRecord own = runner.stacks.recordOfCaller();
  own.begin(static_cast<Suspended *>(from.data)->record);
  arrive(from);
  for (;;) {
    runner.grid->body(runner.grid->context, block.index);
    bool more = runner.advance(Stop::Returned);
    if (more && !runner.threads[block.thread].context)
      continue; // on this stack
    Suspended &self = runner.idle[runner.idleCount++];
    self.record = own;
    runner.switchTo(more ? runner.threads[block.thread] : runner.home, self);
  }
}

void BlockRunner::stop(Block &block, Stop where) {
  auto &runner = *static_cast<BlockRunner *>(Stacks::owner(&block));
  Suspended &self = runner.threads[block.thread];
  self.record = runner.stacks.recordOfCaller();
  if (!runner.advance(where))
    return runner.switchTo(runner.home, self);
  Suspended &next = runner.threads[block.thread];
  if (&next == &self)
    return; // all others are behind, in a shuffled order
  runner.switchTo(next.context ? next : runner.idleOne(), self);
}

void BlockRunner::access(Block &block, const void *address, uint32_t bytes, bool write) {
  auto &runner = *static_cast<BlockRunner *>(Stacks::owner(&block));
  int64_t byte = static_cast<const unsigned char *>(address) - runner.shared;
  if (byte < 0 || byte >= runner.grid->sharedBytes)
    return;
  std::string problem = runner.races.access(block.thread, byte, bytes, write);
  if (problem.empty())
    return;
  runner.fail(std::move(problem));
  stop(block, Stop::Race);
}

void BlockRunner::startCopy(Block &block, void *to, const void *from, uint32_t bytes) {
  auto &runner = *static_cast<BlockRunner *>(Stacks::owner(&block));
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % bytes)
    return stop(block, Stop::Misaligned);
  if (runner.races.active())
    access(block, to, bytes, true);
  Copies &own = runner.copies[block.thread];
  own.waiting.push_back({to, from, bytes, own.group});
}

void BlockRunner::commitCopies(Block &block) {
  auto &runner = *static_cast<BlockRunner *>(Stacks::owner(&block));
  ++runner.copies[block.thread].group;
}

void BlockRunner::waitCopies(Block &block, uint32_t pending) {
  auto &runner = *static_cast<BlockRunner *>(Stacks::owner(&block));
  Copies &own = runner.copies[block.thread];
  size_t done = 0;
  for (; done < own.waiting.size() && own.waiting[done].group + pending < own.group; ++done) {
    const Copy &copy = own.waiting[done];
    if (runner.races.active())
      access(block, copy.to, copy.bytes, true);
    if (copy.from)
      std::memcpy(copy.to, copy.from, copy.bytes);
    else
      std::memset(copy.to, 0, copy.bytes);
  }
  own.waiting.erase(own.waiting.begin(), own.waiting.begin() + static_cast<ptrdiff_t>(done));
}

/// The running thread has stopped: sets block().thread to the one that is next. False when there is
/// none, or the block has failed.
bool BlockRunner::advance(Stop where) {
  if (where == Stop::Race)
    return false; // access() has said which
  if (where == Stop::Misaligned || where == Stop::OutOfBounds)
    return fail("thread " + std::to_string(block().thread) + " " + describe(where));
  if (position == 0) {
    passStop = where;
  } else if (where != passStop) {
    uint32_t first = warp * warpSize + order.offset % warpSize;
    return fail("thread " + std::to_string(first) + " " + describe(passStop) + ", but thread " +
                std::to_string(block().thread) + " of its warp " + describe(where));
  }
  if (++position == warpSize && !endPass())
    return false;
  block().thread = warp * warpSize + (position * order.multiplier + order.offset) % warpSize;
  return true;
}

/// All lanes of a warp have come to the same stop.
bool BlockRunner::endPass() {
  warps[warp].stop = passStop;
  if (passStop == Stop::Returned || passStop == Stop::BlockBarrier) {
    ready[place] = ready[--readyCount];
    if (!readyCount && !refill())
      return false;
  } else {
    warps[warp].phase ^= 1;
    if (passStop == Stop::WarpBarrier)
      races.warpBarrier(warp);
  }
  return beginPass();
}

bool BlockRunner::beginPass() {
  if (order.shuffled) {
    place = order.random(readyCount);
    order.multiplier = 2 * order.random(warpSize / 2) + 1;
    order.offset = order.random(warpSize);
  } else {
    place = readyCount - 1;
  }
  warp = ready[place];
  position = 0;
  block().exchange = &exchanges[2 * warp + warps[warp].phase];
  return true;
}

/// No warp can go on: all are at a barrier, or all have returned.
bool BlockRunner::refill() {
  uint32_t count = block().threads / warpSize;
  for (uint32_t i = 1; i < count; ++i)
    if (warps[i].stop != warps[0].stop)
      return fail("thread 0 " + std::string(describe(warps[0].stop)) + ", but thread " +
                  std::to_string(i * warpSize) + " " + describe(warps[i].stop));
  if (warps[0].stop == Stop::Returned)
    return false;
  for (uint32_t i = 0; i < count; ++i)
    ready[i] = order.reversed() ? i : count - 1 - i;
  readyCount = count;
  races.blockBarrier();
  return true;
}

std::string BlockRunner::checkGuards() {
  auto changed = [](const unsigned char *guard) { // compares it with itself, moved by one byte
    return *guard != guardByte || std::memcmp(guard, guard + 1, guardBytes - 1);
  };
  const unsigned char *end = shared + grid->sharedBytes;
  if (changed(end)) {
    int64_t byte = grid->sharedBytes;
    while (shared[byte] == guardByte)
      ++byte;
    return "byte " + std::to_string(byte) + " of shared memory was written, and " +
           std::to_string(grid->sharedBytes) + " were asked for";
  }
  if (changed(shared - guardBytes)) {
    int64_t byte = -1;
    while (shared[byte] == guardByte)
      --byte;
    return "byte " + std::to_string(byte) + " of shared memory was written";
  }
  return "";
}

std::string BlockRunner::describePlace() {
  return "kernel '" + std::string(grid->kernel) + "', block " + std::to_string(block().index) +
         ", thread " + std::to_string(block().thread);
}

std::string BlockRunner::run(const Grid &toRun, int64_t index, int64_t row) {
  grid = &toRun;
  failure.clear();
  auto bytes = static_cast<size_t>(grid->sharedBytes);
  std::memset(shared - guardBytes, guardByte, guardBytes);
  std::memset(shared, poisonByte, bytes);
  std::memset(shared + bytes, guardByte, guardBytes);
  block() = {0,
             static_cast<uint32_t>(grid->threads),
             static_cast<uint32_t>(index),
             static_cast<uint32_t>(grid->blocks),
             static_cast<uint32_t>(row),
             static_cast<uint32_t>(grid->rows),
             shared,
             nullptr,
             &BlockRunner::stop,
             &BlockRunner::access,
             &BlockRunner::startCopy,
             &BlockRunner::commitCopies,
             &BlockRunner::waitCopies};
  for (Warp &each : warps)
    each = {Stop::BlockBarrier, 0};
  for (Copies &each : copies) {
    each.waiting.clear();
    each.group = 0;
  }
  refill();
  beginPass();
  block().thread = warp * warpSize + order.offset;
  switchTo(idleOne(), home);
  if (!failure.empty()) {
    // The threads stay where they are for ever; their stacks are used anew.
    for (Suspended &each : threads)
      each.context = nullptr;
    idleCount = 0;
    stacks.reset();
    return failure;
  }
  return checkGuards();
}

} // namespace

namespace {

/// While blocks run, a crash says where before the process ends as it would have.
class CrashReport {
public:
  explicit CrashReport(BlockRunner &runner) : outer(current) {
    current = &runner;
    if (outer || usesSanitizer)
      return;
    if (stack_t old; !sigaltstack(nullptr, &old) && (old.ss_flags & SS_DISABLE)) {
      static thread_local unsigned char stack[64 * 1024]; // a fiber's may have overflowed
      stack_t own = {stack, 0, sizeof(stack)};
      sigaltstack(&own, nullptr);
    }
    struct sigaction action = {};
    action.sa_handler = report;
    action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    for (size_t i = 0; i < std::size(signals); ++i)
      sigaction(signals[i], &action, &before[i]);
  }
  ~CrashReport() {
    current = outer;
    if (!outer && !usesSanitizer)
      for (size_t i = 0; i < std::size(signals); ++i)
        sigaction(signals[i], &before[i], nullptr);
  }

  static thread_local BlockRunner *current;

private:
#if __has_feature(address_sanitizer)
  static constexpr bool usesSanitizer = true; // it reports more
#else
  static constexpr bool usesSanitizer = false;
#endif
  static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

  /// The faulting instruction runs again after this, without a handler.
  static void report(int signal) {
    if (!current)
      return;
    std::string where = current->describePlace() + ": " +
                        (signal == SIGFPE   ? "a division that has no result"
                         : signal == SIGILL ? "an illegal instruction"
                                            : "an access of memory that is not there, is not "
                                              "aligned, or is beyond a thread's stack") +
                        "\n";
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, where.data(), where.size());
  }

  BlockRunner *outer;
  struct sigaction before[4];
};
thread_local BlockRunner *CrashReport::current = nullptr;

} // namespace

hybrid::shim::Block *hybrid::shim::runningBlock() {
  return CrashReport::current ? &CrashReport::current->block() : nullptr;
}

std::string hybrid::shim::run(const Grid &grid) {
  auto refuse = [&](const std::string &what) {
    return "kernel '" + std::string(grid.kernel) + "': " + what;
  };
  if (grid.threads < 1 || grid.threads > maximumThreads ||
      static_cast<uint32_t>(grid.threads) % warpSize)
    return refuse("a block of " + std::to_string(grid.threads) +
                  " threads; it takes a multiple of 32 up to 1024");
  if (grid.sharedBytes < 0 || grid.sharedBytes > maximumSharedBytes)
    return refuse(std::to_string(grid.sharedBytes) +
                  " bytes of shared memory; a block has at most " +
                  std::to_string(maximumSharedBytes));
  if (grid.blocks < 1 || grid.blocks > INT32_MAX || grid.rows < 1 || grid.rows > UINT16_MAX)
    return refuse("a grid of " + std::to_string(grid.blocks) + " x " + std::to_string(grid.rows) +
                  " blocks");
  static thread_local BlockRunner runner;
  if (!runner.usable())
    return refuse("no address space for the stacks of a block");
  const char *order = std::getenv("HYBRID_SHIM_ORDER");
  if (!runner.order.parse(order))
    return refuse("HYBRID_SHIM_ORDER is '" + std::string(order) +
                  "'; it takes forward, reverse, or a number");
  CrashReport report(runner);
  for (int64_t row = 0; row < grid.rows; ++row)
    for (int64_t i = 0; i < grid.blocks; ++i)
      if (std::string problem = runner.run(grid, i, row); !problem.empty())
        return "kernel '" + std::string(grid.kernel) + "', block " + std::to_string(i) +
               (grid.rows > 1 ? ", " + std::to_string(row) : "") + ": " + problem;
  return "";
}
