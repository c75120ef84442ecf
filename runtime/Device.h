//===- Device.h - what a session needs of the machine it runs on ------------===//
//
// Memory by spaces, programs by their number in the executable. The CPU shows its memory as it is
// (spans into the spaces); a device with memory of its own shows staging memory, which it copies
// when a program starts and when something is read.
//
// An executable may be for several replicas (0 <= replica < executable.replicas()): each has its
// own parameters and their like, inputs and outputs. A run is of all replicas that are active.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Spaces.h"
#include "runtime/Examples.h"
#include "runtime/Executable.h"
#include "runtime/Result.h"
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace hybrid::rt {

class Device {
public:
  virtual ~Device() = default;
  virtual int threads() const = 0;
  virtual uint64_t allocatedBytes() const = 0;

  /// Which replicas run; all do at first. The others keep what they have.
  virtual Result<void> setActive(int64_t replica, bool active) = 0;
  virtual bool isActive(int64_t replica) const = 0;

  /// Allocates a space for all replicas, zeroed, when it is not there yet.
  virtual Result<void> allocate(fb::Space space) = 0;
  virtual bool has(fb::Space space) const = 0;
  /// Zeroes a replica's part of a space that is there; all of a space that replicas share.
  virtual Result<void> zero(fb::Space space, int64_t replica) = 0;
  virtual Result<void> zeroTiles() = 0;
  /// A place of a space that is there (or of the tile that ran last, in walk()). Places in the
  /// parameters and their like stay readable until the next run, others until the next read.
  virtual Result<std::span<const std::byte>> read(const fb::BufferRef &place, int64_t replica) = 0;
  virtual Result<void> write(const fb::BufferRef &place, std::span<const std::byte> bytes,
                             int64_t replica) = 0;

  /// Memory for an input, to be written before every run; `step` of a burst (start()).
  virtual Result<std::span<std::byte>> input(size_t program, const fb::Tensor &tensor,
                                             int64_t replica, int64_t step) = 0;
  /// An output of the last run. Those that exceed keptOutputBytes (executable/PortLayout.h) are
  /// gone when another program runs, or the next step of a burst.
  virtual Result<std::span<const std::byte>> output(size_t program, const fb::Tensor &tensor,
                                                    int64_t replica, int64_t step) = 0;

  /// Runs a program whose spaces are there. With `seconds`, measures every step (of all replicas
  /// together).
  virtual Result<void> run(size_t program, std::vector<double> *seconds) = 0;

  /// Runs a part of a program that pauses; what is behind the pause only where the part before it
  /// was the last run of this device.
  virtual Result<void> runPart(size_t program, Part part);
  /// Has the next run of a program, or of its parts one after the other, read this input from
  /// memory of the caller's, or write this output there. False: the device does not, and input()
  /// and output() are to be used.
  virtual bool lend(size_t, const fb::Tensor &, std::byte *) { return false; }

  /// Whether start() and finish() work. Only a device with memory of its own runs beside the host.
  virtual bool isAsynchronous() const { return false; }
  /// Makes room for bursts of these programs: returns the steps, at most `most`, that one may have
  /// from then on. Their inputs are to be written anew. 1 where there are no bursts.
  virtual Result<int64_t> reserveSteps(std::span<const size_t> programs, int64_t most);
  /// Holds sets of examples, in place of those held before, of which bursts then take batches by
  /// number; without sets gives them up. Their order changes nothing but who draws the batches.
  /// False: the device holds none, as they are too many for it or it never does.
  virtual Result<bool> holdExamples(const Examples &examples);
  /// In place of writing the inputs of a step of a burst: its batch is the examples number `first`,
  /// first + 1, ... of the replica. Where one is taken so, all of the burst are.
  virtual Result<void> takeExamples(int64_t replica, int64_t step, uint64_t first);
  /// Starts a burst: `steps` times these programs one after another, each time with the inputs of
  /// that step as they are now, as one unit of work. The next run has other memory for inputs. At
  /// most `mostStarted` runs are on their way.
  virtual Result<void> start(std::span<const size_t> programs, int64_t steps);
  /// Waits for the oldest run on its way; output() then shows its outputs.
  virtual Result<void> finish();

  /// Runs a burst `runs` times with the inputs as they are now, and appends the seconds that each
  /// took on the device, without its inputs' way there.
  virtual Result<void> measure(std::span<const size_t> programs, int64_t steps, size_t runs,
                               std::vector<double> &seconds);

  /// Where ranks have shares of what belongs to parameters: all of them together bring it to the
  /// first one, or the parameters to all. Elsewhere there is nothing to do.
  virtual Result<void> collectShares() { return {}; }
  virtual Result<void> gatherParameters() { return {}; }
  /// Gives up memory of what other ranks have shares of.
  virtual void releaseShares() {}

  /// Puts the inputs of the last run in their places again, for walk(). False: they were not kept.
  virtual Result<bool> restoreInputs(size_t program, int64_t replica) = 0;
  /// Runs a program for one replica step by step, tiles one after another: `around` is called with
  /// each step, the buffers it touches and a call that runs it, and returns false to stop.
  using Around = std::function<bool(const fb::Step &step, std::span<const fb::BufferRef> buffers,
                                    const std::function<Result<void>()> &run)>;
  virtual Result<void> walk(size_t program, const Around &around, int64_t replica) = 0;

  static constexpr int mostStarted = 2;
};

/// "the arena", "the parameters", ...
std::string_view nameOf(fb::Space space);
/// A device of type T, whose prepare() does what can fail of its construction.
template <typename T, typename... Arguments>
Result<std::unique_ptr<Device>> prepared(Arguments &&...arguments) {
  auto device = std::make_unique<T>(std::forward<Arguments>(arguments)...);
  if (auto done = device->prepare(); !done)
    return done.error();
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace hybrid::rt
