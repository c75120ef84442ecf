//===- SessionMemory.h - what a session allocates ----------------------------===//
//
// The one model of it: hybridc asks it of a schedule for --cost and --memory, hybrid-run of a file,
// and a session takes its sizes from here.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include <cstdint>
#include <string_view>
#include <vector>

namespace hybrid {

/// No allocation of a session is smaller.
constexpr uint64_t leastAllocation = 64;
/// Workspace of the matrix library on a GPU, of each branch that products are on.
constexpr uint64_t matrixLibraryBytes = uint64_t(32) << 20;
/// Training sets that a GPU holds take at most this together, and a quarter of what is free.
constexpr uint64_t mostHeldBytes = uint64_t(256) << 20;
/// Steps that training takes as one burst, at most.
constexpr uint64_t longestBurst = 128;
/// Of one program's tables of inputs and outputs of a burst each.
constexpr uint64_t mostTableBytes = uint64_t(64) << 20;

/// What a session does, as far as its memory depends on it.
struct SessionUse {
  std::vector<std::string_view> programs;   // that it runs one at a time
  std::vector<std::string_view> burst = {}; // that it runs one after another, once a step
  uint64_t steps = 1;                       // of a burst on a GPU, at most
  uint64_t threads = 1;                     // of a CPU
  uint64_t heldBytes = 0;                   // of training sets on a GPU
  bool training = true;                     // whether it may run what computes gradients

  /// As hybrid-run train does it, evaluations in between. A model with a loss of its own is trained
  /// through its `vjp`.
  static SessionUse toTrain(const fb::Executable &executable, uint64_t threads = 1);
  /// As `hybrid-run eval` does it; a model without targets runs forward.
  static SessionUse toEvaluate(const fb::Executable &executable, uint64_t threads = 1);
};

/// Bytes, of all replicas together, on a GPU of its memory. (There, a replica that rests while
/// others train takes its parameters, gradients and moments once more.)
struct SessionMemory {
  bool onGpu = false;
  uint64_t threads = 1, steps = 1; // as it is used
  uint64_t parameters = 0, gradients = 0, moments = 0, constants = 0, arena = 0;
  uint64_t ports = 0; // CPU: inputs and outputs that wait beside the arena
  uint64_t scratchPerThread = 0;
  uint64_t scratch = 0, tiles = 0;
  uint64_t products = 0;   // GPU: workspaces of the matrix library
  uint64_t attention = 0;  // GPU: of the attention library, as cuDNN says for Hopper
  uint64_t transforms = 0; // GPU: of the transform library, at most
  uint64_t tables = 0;     // GPU: inputs and outputs of the steps of a burst
  uint64_t examples = 0;   // GPU: training sets that are held, and the orders of a burst

  /// Calls `visit` with the name of every part and its bytes.
  template <typename Visit> void visitParts(Visit visit) const {
    visit("parameter_bytes", parameters), visit("gradient_bytes", gradients);
    visit("moment_bytes", moments), visit("constant_bytes", constants);
    visit("arena_bytes", arena), visit("port_bytes", ports);
    visit("scratch_bytes", scratch), visit("tile_bytes", tiles);
    visit("library_bytes", products), visit("attention_bytes", attention);
    visit("transform_bytes", transforms);
    visit("table_bytes", tables), visit("example_bytes", examples);
  }
  uint64_t total() const {
    uint64_t sum = 0;
    visitParts([&](const char *, uint64_t bytes) { sum += bytes; });
    return sum;
  }
};

SessionMemory memoryOf(const fb::Executable &executable, const SessionUse &use);

/// Most bytes of training sets that a session holds on a GPU while it trains with bursts of
/// `steps`: what the executable's budget leaves, where it has one.
uint64_t heldBytesWithin(const fb::Executable &executable, uint64_t steps);
/// Workspace that the attention library is given on a GPU. `training`: for gradients too.
uint64_t attentionWorkspaceOf(const fb::Executable &executable, bool training);
/// The same of the transform library.
uint64_t transformWorkspaceOf(const fb::Executable &executable, bool training);
/// Numbers 1.0 that the matrix library is given on a GPU, where it does not add biases itself.
uint64_t onesOf(const fb::Executable &executable);

} // namespace hybrid
