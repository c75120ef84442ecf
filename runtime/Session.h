//===- Session.h - an executable with its memory, ready to run --------------===//
//
// Owns the spaces (arena, parameters, gradients, moments, constants) and the loaded code, and runs
// programs: a list of kernel launches, matrix products and loops over tiles; nothing here knows any
// mathematics.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

struct SessionOptions {
  int threads = 0; // 0: all cores this process may use
  bool training =
      true; // allocate gradients and moments (lazily: on the first program that touches them)
};

class Session {
public:
  /// Maps the code, allocates the spaces, runs `setup`. Fails with a message when memory or code
  /// cannot be had.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const Executable> executable,
                                                 const SessionOptions &options);
  ~Session();

  const Executable &executable() const;
  int threads() const;

  /// Runs `init` with this seed: draws all parameters; zeroes the moments.
  Result<void> initialize(uint64_t seed);
  /// Runs a program. Inputs must have been written to input(); outputs are valid until the next
  /// run.
  Result<void> run(std::string_view program);

  /// Memory of a program's input or output, of elements*bytesOf(dtype) bytes. Empty span: no such
  /// tensor.
  std::span<std::byte> input(std::string_view program, std::string_view name);
  std::span<const std::byte> output(std::string_view program, std::string_view name);
  template <typename T> std::span<T> inputAs(std::string_view program, std::string_view name) {
    auto bytes = input(program, name);
    return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  std::span<const T> outputAs(std::string_view program, std::string_view name) {
    auto bytes = output(program, name);
    return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// State that training carries, one span a parameter (index into executable().parameters()).
  enum class Slot { Parameter, Gradient, Moment1, Moment2 };
  std::span<std::byte> parameter(size_t index, Slot slot = Slot::Parameter);

  /// Runs a program and measures every step.
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
  std::string findNonFinite(std::string_view program);

private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace hybrid::rt
