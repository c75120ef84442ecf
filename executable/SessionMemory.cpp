//===- SessionMemory.cpp - what a session allocates --------------------------===//
#include "executable/SessionMemory.h"
#include "executable/AttentionMemory.h"
#include "executable/BatchOrder.h"
#include "executable/Limits.h"
#include "executable/PortLayout.h"
#include "executable/ReplicaStride.h"
#include "executable/Spaces.h"
#include "executable/TransformMemory.h"
#include <algorithm>
#include <array>
#include <functional>

namespace hybrid {
namespace {

/// A graph's nodes take memory and time to instantiate.
constexpr uint64_t mostNodes = 32768;

uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

void forEachStep(const fb::Program &program,
                 const std::function<void(const fb::Step &, const fb::TileLoop *)> &visit) {
  if (program.steps())
    for (const fb::Step *step : *program.steps()) {
      visit(*step, nullptr);
      if (const auto *loop = step->operation_as_TileLoop(); loop && loop->steps())
        for (const fb::Step *inner : *loop->steps())
          visit(*inner, loop);
    }
}

/// A product whose bias the library does not add takes a number 1.0 a row; 0 for others.
uint64_t onesFor(const fb::Step &step, const fb::TileLoop *loop) {
  const auto *product = step.operation_as_Matmul();
  if (!product || !product->bias() || product->dtype() != fb::DType::F64)
    return 0;
  const int64_t rows = product->m();
  return static_cast<uint64_t>(loop && product->tile_rows() ? std::min(loop->tile(), rows) : rows);
}

class Model {
public:
  Model(const fb::Executable &executable, const SessionUse &use)
      : executable(executable), use(use), replicas(executable.replicas()) {
    memory.onGpu = executable.target()->device()->string_view() == "cuda";
    memory.threads = use.threads;
  }

  SessionMemory compute() {
    addSpaces();
    if (memory.onGpu) {
      addLibraries();
      if (spaceBytes(executable, fb::Space::Tile))
        memory.tiles = ofAll(fb::Space::Tile, replicas);
      addTables();
    } else {
      for (const fb::Program *program : used())
        if (program->name()->string_view() != "setup")
          memory.ports += KeptPorts(*program, replicas).stride * replicas;
      addThreads();
    }
    return memory;
  }

private:
  /// The programs that are used, where there are such.
  std::vector<const fb::Program *> named(const std::vector<std::string_view> &names) const {
    std::vector<const fb::Program *> found;
    for (const fb::Program *program : *executable.programs())
      if (std::find(names.begin(), names.end(), program->name()->string_view()) != names.end())
        found.push_back(program);
    return found;
  }
  std::vector<const fb::Program *> used() const {
    std::vector<const fb::Program *> programs = named(use.programs), burst = named(use.burst);
    programs.insert(programs.end(), burst.begin(), burst.end());
    return programs;
  }
  uint64_t ofAll(fb::Space space, uint64_t copies) const {
    uint64_t bytes = copies > 1                 ? copies * replicaStrideOf(executable, space)
                     : space == fb::Space::Tile ? aligned(spaceBytes(executable, space))
                                                : spaceBytes(executable, space);
    return std::max(leastAllocation, bytes);
  }

  void addSpaces() {
    // Replicas follow one another on a CPU, in one arena.
    memory.arena = ofAll(fb::Space::Arena, memory.onGpu ? replicas : 1);
    memory.constants = ofAll(fb::Space::Constants, 1);
    memory.parameters = ofAll(fb::Space::Parameters, replicas);
    std::array<bool, spaceCount> touched{};
    for (const fb::Program *program : used())
      for (size_t i = 0; i < spaceCount; ++i)
        touched[i] = touched[i] || spacesOf(*program)[i];
    auto partFor = [&](fb::Space space) {
      return touched[static_cast<size_t>(space)] ? ofAll(space, replicas) : 0;
    };
    memory.gradients = partFor(fb::Space::Gradients);
    memory.moments = partFor(fb::Space::Moment1) + partFor(fb::Space::Moment2);
  }

  /// Of a CPU: for all programs, whatever is used.
  void addThreads() {
    uint64_t tilesPerThread = 0, tilesShared = 0;
    for (const fb::Program *program : *executable.programs())
      forEachStep(*program, [&](const fb::Step &step, const fb::TileLoop *) {
        if (const auto *launch = step.operation_as_KernelLaunch())
          memory.scratchPerThread =
              std::max(memory.scratchPerThread, aligned(launch->scratch_bytes()));
        if (const auto *loop = step.operation_as_TileLoop()) {
          uint64_t &tiles = loop->sequential() ? tilesShared : tilesPerThread;
          tiles = std::max(tiles, aligned(loop->tile_bytes()));
        }
      });
    memory.scratch = std::max(leastAllocation, memory.scratchPerThread * use.threads);
    memory.tiles = std::max({leastAllocation, tilesPerThread * use.threads, tilesShared});
  }

  void addLibraries() {
    bool attends = false, transforms = false, addsOnes = false;
    std::array<bool, mostBranches> multiplies{};
    for (const fb::Program *program : used())
      forEachStep(*program, [&](const fb::Step &step, const fb::TileLoop *loop) {
        attends = attends || step.operation_as_Attention();
        transforms = transforms || step.operation_as_Transform();
        addsOnes = addsOnes || onesFor(step, loop);
        if (step.operation_as_Matmul())
          multiplies.front() = multiplies[step.branch()] = true; // the library opens with the first
      });
    memory.products = matrixLibraryBytes *
                      static_cast<uint64_t>(std::count(multiplies.begin(), multiplies.end(), true));
    if (addsOnes)
      memory.products += std::max<uint64_t>(leastAllocation, onesOf(executable) * sizeof(double));
    if (attends)
      memory.attention = attentionWorkspaceOf(executable, use.training);
    if (transforms)
      memory.transforms = transformWorkspaceOf(executable, use.training);
  }

  /// Graph nodes of a step: its calls, those of replicas that are no batch, and the copies of its
  /// inputs and outputs.
  uint64_t nodesOf(const fb::Program &program, size_t copies) const {
    uint64_t nodes = copies;
    forEachStep(program, [&](const fb::Step &step, const fb::TileLoop *loop) {
      const auto *product = step.operation_as_Matmul();
      const bool each = step.operation_as_Attention() || step.operation_as_Transform() ||
                        (product && product->batch() > 1);
      const auto tiles = static_cast<uint64_t>(loop ? (loop->rows() - 1) / loop->tile() + 1 : 1);
      nodes += step.operation_as_TileLoop() ? 0 : tiles * (each ? replicas : 1);
    });
    return nodes;
  }

  void addTables() {
    for (const fb::Program *program : named(use.programs)) {
      // What is shared by replicas is made once.
      const uint64_t count = program->name()->string_view() == "setup" ? 1 : replicas;
      memory.tables += TableRow::ofOutputs(*program).bytes * count;
      if (replicas > 1) // else inputs go straight to their places
        memory.tables += TableRow::ofInputs(*program).bytes * count;
    }
    uint64_t rows = 0, firstInputs = 0, nodes = 0, steps = std::max<uint64_t>(1, use.steps);
    for (std::string_view name : use.burst)
      for (const fb::Program *program : named({name})) {
        const TableRow inputs = TableRow::ofInputs(*program),
                       outputs = TableRow::ofOutputs(*program);
        steps = std::min(steps,
                         parts(mostTableBytes, replicas * std::max(inputs.bytes, outputs.bytes)));
        nodes += nodesOf(*program, inputs.groups.size() + outputs.groups.size());
        rows += replicas * (inputs.bytes + outputs.bytes);
        if (name == use.burst.front())
          firstInputs = inputs.bytes;
      }
    steps = std::min(steps, parts(mostNodes, nodes));
    const uint64_t orders = use.heldBytes ? replicas * sizeof(BatchOrder) : 0;
    if (const uint64_t budget = executable.memory_budget()) {
      const uint64_t rest = memory.total() + use.heldBytes;
      steps = std::min(steps, parts(budget - std::min(budget, rest), rows + orders));
    }
    memory.steps = steps;
    memory.tables += steps * rows;
    if (use.heldBytes)
      memory.examples = std::max(leastAllocation, use.heldBytes) + steps * orders;
    else if (steps == 1 && replicas == 1)
      memory.tables -= firstInputs; // these go straight to their places
  }
  /// How many times a part fits, at least once.
  static uint64_t parts(uint64_t whole, uint64_t part) {
    return std::max<uint64_t>(1, whole / std::max<uint64_t>(1, part));
  }

  const fb::Executable &executable;
  const SessionUse &use;
  const uint64_t replicas;
  SessionMemory memory;
};

} // namespace

SessionMemory memoryOf(const fb::Executable &executable, const SessionUse &use) {
  return Model(executable, use).compute();
}

static bool has(const fb::Executable &executable, std::string_view name) {
  return std::any_of(
      executable.programs()->begin(), executable.programs()->end(),
      [&](const fb::Program *program) { return program->name()->string_view() == name; });
}

SessionUse SessionUse::toTrain(const fb::Executable &executable, uint64_t threads) {
  return {.programs = {"setup", "init", "eval"},
          .burst = {has(executable, "train") ? "train" : "vjp", "update"},
          .steps = longestBurst,
          .threads = threads};
}

SessionUse SessionUse::toEvaluate(const fb::Executable &executable, uint64_t threads) {
  return {.programs = {"setup", "init", has(executable, "eval") ? "eval" : "forward"},
          .threads = threads,
          .training = false};
}

uint64_t heldBytesWithin(const fb::Executable &executable, uint64_t steps) {
  if (!executable.memory_budget())
    return mostHeldBytes;
  SessionUse use = SessionUse::toTrain(executable);
  use.steps = steps;
  use.heldBytes = leastAllocation; // with the orders of a burst
  const uint64_t rest = memoryOf(executable, use).total() - leastAllocation;
  return std::min(mostHeldBytes,
                  executable.memory_budget() - std::min(rest, executable.memory_budget()));
}

/// It does parts of a call one after another.
static uint64_t workspaceOf(const fb::Attention &call) {
  auto size = [](int64_t number) { return static_cast<uint64_t>(number); };
  auto workspace = [&](uint64_t heads) {
    return attentionWorkspace(call.backward(), heads, size(call.length()), size(call.key_length()),
                              size(call.head_size()), call.kv_heads() < call.heads());
  };
  const uint64_t all = workspace(size(call.batch()) * size(call.heads())),
                 least = workspace(size(call.heads() / call.kv_heads()));
  return std::min(all, std::max(attentionWorkspaceGoal, least));
}

static uint64_t workspaceOf(const fb::Transform &call) {
  return transformWorkspace(call.points(), call.signals(), call.dtype() == fb::DType::F64 ? 8 : 4);
}

/// The most that a step takes which `call` gives the library's call of, in what a session runs.
template <typename Call>
static uint64_t largestWorkspace(const fb::Executable &executable, bool training, Call call) {
  uint64_t bytes = 0;
  for (const fb::Program *program : *executable.programs())
    if (training || !touchesTraining(*program))
      forEachStep(*program, [&](const fb::Step &step, const fb::TileLoop *) {
        if (const auto *found = call(step))
          bytes = std::max(bytes, workspaceOf(*found));
      });
  return bytes;
}

uint64_t attentionWorkspaceOf(const fb::Executable &executable, bool training) {
  return largestWorkspace(executable, training,
                          [](const fb::Step &step) { return step.operation_as_Attention(); });
}

uint64_t transformWorkspaceOf(const fb::Executable &executable, bool training) {
  return largestWorkspace(executable, training,
                          [](const fb::Step &step) { return step.operation_as_Transform(); });
}

uint64_t onesOf(const fb::Executable &executable) {
  uint64_t ones = 0;
  for (const fb::Program *program : *executable.programs())
    forEachStep(*program, [&](const fb::Step &step, const fb::TileLoop *loop) {
      ones = std::max(ones, onesFor(step, loop));
    });
  return ones;
}

} // namespace hybrid
