//===- Session.h - an executable with its memory, ready to run --------------===//
//
// Owns the spaces (arena, parameters, gradients, moments, constants) and the loaded code, and runs
// programs on the device they were compiled for: lists of kernel launches, matrix products and
// loops over tiles. Nothing here knows any mathematics.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Examples.h"
#include "runtime/Executable.h"
#include "runtime/ranks/Communicator.h"
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

struct SessionOptions {
  int threads = 0; // on the CPU; 0: all cores this process may use
  bool training =
      true; // allocate gradients and moments (lazily: on the first program that touches them)
  std::shared_ptr<Communicator> ranks = nullptr; // those that programs reduce over
};

/// An executable may be for several replicas: independent trainings, each with its own parameters,
/// gradients, moments, inputs and outputs. Replicas count from 0 to replicas() - 1; a run is of all
/// that are active, and each has the bits that it would have alone.
class Session {
public:
  /// Loads the code, allocates the spaces, runs `setup`. Fails with a message when the device,
  /// memory or code cannot be had.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const Executable> executable,
                                                 const SessionOptions &options);
  ~Session();

  const Executable &executable() const;
  int threads() const;
  int64_t replicas() const;
  /// Whether a replica takes part in runs, as all do at first. One that does not keeps its
  /// parameters, gradients and moments.
  Result<void> setActive(int64_t replica, bool active);
  bool isActive(int64_t replica) const;
  /// Leaves the first replica active only: for what runs one set of parameters.
  Result<void> keepFirstActive();

  /// Runs `init` with these seeds, one a replica: draws all parameters of the active replicas;
  /// zeroes their moments.
  Result<void> initialize(std::span<const uint64_t> seeds);
  /// The same with one seed for all.
  Result<void> initialize(uint64_t seed);
  /// Runs a program with what was written to input(); write it before every run, as large inputs do
  /// not stay.
  Result<void> run(std::string_view program);
  /// Runs a part of a program that pauses, on a CPU. What is behind the pause runs only right after
  /// what is before it: another run in between is an error.
  Result<void> runPart(std::string_view program, Part part);
  /// Has the next run read this input from the caller's memory in place of input(), or write this
  /// output there: without a copy where a program pauses and the memory begins at 64 bytes. Inputs
  /// stay as they are until the last part has run. False where input() and output() are to be used:
  /// no such tensor, other bytes, a device with memory of its own, or several replicas.
  bool lendInput(std::string_view program, std::string_view name, std::span<std::byte> memory);
  bool lendOutput(std::string_view program, std::string_view name, std::span<std::byte> memory);

  /// Memory for a program's input, of elements*bytesOf(dtype) bytes. Empty span: no such tensor or
  /// replica, or no memory for it.
  std::span<std::byte> input(std::string_view program, std::string_view name, int64_t replica = 0,
                             int64_t step = 0);
  /// A program's output after its run, valid until the next run. Empty span: no such tensor or
  /// replica, or it could not be read from the device.
  std::span<const std::byte> output(std::string_view program, std::string_view name,
                                    int64_t replica = 0, int64_t step = 0);
  template <typename T>
  std::span<T> inputAs(std::string_view program, std::string_view name, int64_t replica = 0,
                       int64_t step = 0) {
    auto bytes = input(program, name, replica, step);
    return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  std::span<const T> outputAs(std::string_view program, std::string_view name, int64_t replica = 0,
                              int64_t step = 0) {
    auto bytes = output(program, name, replica, step);
    return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// Whether this session runs beside the caller: start() and finish() are for such a one only.
  bool isAsynchronous() const;
  /// Makes room for bursts of steps: returns how many steps, at most `most`, a burst of these
  /// programs may have from then on. Inputs are to be written anew. 1 where runs are not started.
  Result<int64_t> reserveSteps(std::span<const std::string_view> programs, int64_t most);
  /// Holds training sets on the device, in place of those held before; takeExamples() then stands
  /// for writing the inputs of a step of program `train`. False: none are held, and inputs are to
  /// be written: the device has no memory of its own, the sets are too large for it, there are
  /// none, or the executable has no kernel for it.
  Result<bool> holdExamples(const Examples &examples);
  /// The step's batch is the examples number `first`, first + 1, ... of the replica. Where one step
  /// of a burst is taken so, all are.
  Result<void> takeExamples(int64_t replica, int64_t step, uint64_t first);
  /// Starts a burst: `steps` times these programs, one after another, each time with the inputs
  /// that input() of that step has now, as one unit of work. input() then is other memory, for the
  /// next run. At most `mostStarted` may be on their way.
  Result<void> start(std::span<const std::string_view> programs, int64_t steps = 1);
  /// Waits for the oldest run on its way. output() then shows the outputs of its steps: but for
  /// those of the last program in the last step, only those of at most 4096 bytes together.
  Result<void> finish();
  static constexpr int mostStarted = 2;

  /// Seconds on the device of each of `runs` bursts of these programs (start()), all with the
  /// inputs as they are now and without their way to the device.
  Result<std::vector<double>> measure(std::span<const std::string_view> programs, size_t runs,
                                      int64_t steps = 1);

  /// State that training carries, one tensor a parameter (index into executable().parameters()).
  enum class Slot { Parameter, Gradient, Moment1, Moment2 };
  /// Its bytes as they are now, valid until the next run. Empty span: no such tensor or replica, or
  /// it could not be read from the device.
  std::span<const std::byte> parameter(size_t index, Slot slot = Slot::Parameter,
                                       int64_t replica = 0);
  /// Replaces them; `bytes` has their size.
  Result<void> setParameter(size_t index, std::span<const std::byte> bytes,
                            Slot slot = Slot::Parameter, int64_t replica = 0);

  /// Where ranks have shares of what training carries (hybridc --shard-optimizer): all of them
  /// together bring it to the first one, whose parameter() shows all of it then. Elsewhere nothing.
  Result<void> collectShares();
  /// The same, but all ranks get the parameters, and nothing else.
  Result<void> gatherParameters();
  /// Gives up the memory of what other ranks have shares of.
  void releaseShares();

  /// What programs that decode keep from run to run (index into executable().states()), in the same
  /// way; with a row only that of the first dimension.
  std::span<const std::byte> decodingState(size_t index, std::optional<int64_t> row = {});
  Result<void> setDecodingState(size_t index, std::span<const std::byte> bytes,
                                std::optional<int64_t> row = {});

  /// Runs a program and measures every step, of all replicas together.
  struct StepTime {
    std::string op, location;
    double seconds = 0;
  };
  Result<std::vector<StepTime>> profile(std::string_view program);

  /// Bytes of all spaces allocated by this session.
  uint64_t allocatedBytes() const;
  /// The step of the last run that first produced a non-finite value in one of its output buffers:
  /// runs the program again step by step and looks. Empty when all is finite. For "loss is not
  /// finite" messages.
  std::string findNonFinite(std::string_view program, int64_t replica = 0);

private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace hybrid::rt
