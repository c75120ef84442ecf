//===- Machine.h - runs PTX kernels on a CPU, and watches them --------------===//
//
// A grid is run a block after the other, a block's warps in turn from barrier to barrier, a warp
// lane by lane with lanes of a branch together again at its join. What a GPU would do differently
// from run to run is a finding, whether or not numbers change; README.md says what is found.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/cuda/ptx/ReuseDistances.h"
#include "test/cuda/ptx/Shadow.h"
#include "test/cuda/ptx/Warp.h"
#include <functional>
#include <set>

namespace hybrid::ptx {

/// Something that a kernel does wrong.
struct Finding {
  enum class Kind : uint8_t {
    Race,      ///< in shared or global memory, within a block
    BlockRace, ///< in global memory, between blocks
    Bounds,    ///< outside of the buffers that the address comes from
    Misaligned,
    Uninitialized, ///< decides by what was never written
    PendingCopy,   ///< uses what cp.async copies before it is waited for
    Warpgroup,     ///< a wgmma without the fences or the wait that it needs
    ReadOnly,      ///< ld.global.nc of what the launch writes
    Divergence,    ///< a barrier or an exchange that not all its lanes reach
    Barrier,       ///< threads return while others wait
    Early,         ///< touches memory that the launch before may still write
    Endless,       ///< more instructions than a launch may take
    Trap
  } kind = Kind::Trap;
  std::string kernel;
  int line = 0;        ///< of the PTX
  std::string message; ///< a sentence with block, warp or thread
};
const char *nameOf(Finding::Kind kind);

/// What a launch takes of a multiprocessor. A request is an instruction of a warp.
struct Counts {
  std::array<uint64_t, pipeCount> instructions{}; ///< of warps, by pipe
  std::array<uint64_t, pipeCount> lanes{};        ///< the same, of threads
  uint64_t loadRequests = 0, storeRequests = 0;   ///< of global memory
  uint64_t loadSectors = 0, storeSectors = 0;     ///< of 32 bytes that they touch
  uint64_t loadLines = 0, storeLines = 0;         ///< of 128 bytes: what the L2 cache is asked for
  Reaches sectorReaches{}, lineReaches{};         ///< of loads: how far back; with Options::reuse
  uint64_t sharedRequests = 0, sharedWavefronts = 0;
  uint64_t products = 0;      ///< mma of warps
  uint64_t groupProducts = 0; ///< of wgmma, each as much as an mma of 16 x 8 x 16
  uint64_t barriers = 0;      ///< of warps
  struct Traffic {
    uint64_t read = 0, written = 0; ///< bytes, as often as threads ask for them
    /// Different sectors that a block touches, summed over blocks; with Options::footprints.
    uint64_t readSectors = 0, writtenSectors = 0;
    /// Whether some read, and some write, is one that caches should keep (not .cs).
    std::array<bool, 2> isKept{};
  };
  std::vector<Traffic> traffic; ///< by parameter; the last one: variables of the module
  Cycles alone{};               ///< of the slowest block; with Options::timeline
  /// By instruction: warps that execute it, and wavefronts of shared memory that it takes; with
  /// Options::profile.
  std::vector<uint64_t> executed, wavefronts;

  void add(const Counts &other);
  uint64_t total() const;
};

/// Bytes that a kernel may reach through a parameter.
struct Extent {
  uint64_t begin = 0, bytes = 0;
  uint64_t rowStride = 0; ///< from a row of the grid to the next
};

struct Launch {
  unsigned blocksX = 1, blocksY = 1;
  unsigned someX = 0; ///< only so many blocks of each row, from its begin and its end; 0: all
  int threads = 32;
  unsigned sharedBytes = 0;
  bool overlaps =
      false; ///< the launch before may still run: global memory is behind griddepcontrol.wait
  std::vector<uint64_t> arguments; ///< of 8 bytes each
  /// By argument; none at all: each may reach the allocation that it lies in.
  std::vector<Extent> extents;
};

struct Options {
  bool races = true, counts = true, footprints = false, timeline = false, profile = false;
  bool reuse = false;      ///< how far back blocks last read what they load
  bool together = false;   ///< footprints are those of all blocks of a launch, not of each
  size_t mostFindings = 8; ///< of a launch
  uint64_t mostInstructions = 20'000'000'000; ///< of warps, of a launch
  bool reversed = false;                      ///< the order of blocks and warps
  /// Instructions of a warp before it is another one's turn.
  uint64_t turn = UINT64_MAX;
};

/// Kernels of a PTX text, with the module's variables.
class Image {
public:
  static std::unique_ptr<Image> load(std::string_view text, std::string &complaint);
  /// Decoded when first asked for. Null with a complaint, or without when there is no such kernel.
  const Program *find(const std::string &kernel, std::string &complaint);
  const std::vector<Extent> &variables() const { return extents; }
  const Module &module() const { return syntax; }
  /// A line of the text, without the space around it.
  std::string line(int number) const;

private:
  std::string text;
  Module syntax;
  std::vector<std::unique_ptr<std::byte[]>> storage;
  std::vector<Extent> extents;
  Addresses addresses;
  std::map<std::string, Program> programs;
};

/// Memory that a parameter may reach in the block that runs.
struct Region {
  uint64_t begin = 0, end = 0;
  Shadow *shadow = nullptr;
};

class Machine {
public:
  /// The allocation of device memory in which an address lies; no bytes when there is none.
  using FindAllocation = std::function<Extent(uint64_t address)>;
  explicit Machine(FindAllocation findAllocation) : findAllocation(std::move(findAllocation)) {}

  Options options;
  /// What went wrong; empty when nothing did. A finding that comes again at the same line is one.
  std::vector<Finding> run(const Image &image, const Program &program, const Launch &launch,
                           Counts &counts);
  /// An allocation is gone: what is known of its words is forgotten.
  void forget(uint64_t begin) { shadows.erase(begin); }

private:
  Shadow *shadowOf(const Extent &allocation);

  FindAllocation findAllocation;
  std::map<uint64_t, std::unique_ptr<Shadow>> shadows;
  std::vector<Warp> warps;
  uint32_t interval = 1;
};

/// The block that runs, with what its launch shares.
struct Block {
  const Program *program = nullptr;
  const Launch *launch = nullptr;
  const Options *options = nullptr;
  Counts *counts = nullptr;
  unsigned x = 0, y = 0;
  std::vector<Region> regions; ///< by parameter
  std::vector<Region> variables;
  std::byte *shared = nullptr;
  uint64_t sharedBytes = 0;
  Shadow *sharedShadow = nullptr;
  const std::byte *parameters = nullptr;
  Moment now; ///< without thread and epoch
  uint64_t issued = 0;
  bool stopped = false; ///< nothing more can be run
  std::vector<Finding> findings;
  std::set<std::pair<Finding::Kind, int>> seen;
  /// Sectors that it has read, and written, by parameter.
  std::vector<std::array<std::vector<uint64_t>, 2>> touched;
  ReuseDistances reuse;
  /// Of a thread, by Block::issued: its last fence.proxy.async, in which interval that was, and the
  /// last one in front of that interval.
  struct ProxyFence {
    uint64_t last = 0, before = 0;
    uint32_t interval = 0;
  };
  std::vector<ProxyFence> proxyFences; ///< by thread
  /// Who wrote each 2 bytes of shared memory last: Block::issued times 1024, and the thread. Only
  /// where races are looked for in programs with wgmma.
  std::vector<uint64_t> lastWrites;

  void report(Finding::Kind kind, const Instruction &in, std::string what);
  void stop(Finding::Kind kind, const Instruction &in, std::string what);
};

/// Finds warps of a group that have not multiplied the same, when all are done.
void requireSameProducts(Block &block, const std::vector<Warp> &warps);

} // namespace hybrid::ptx
