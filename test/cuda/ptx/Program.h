//===- Program.h - a kernel as the machine runs it --------------------------===//
//
// Calls are expanded, names are gone: an instruction is a function and the rows of the registers
// that it reads and writes. A row holds one register for all lanes of a warp; constants and special
// registers are rows, too.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/cuda/ptx/Syntax.h"
#include <array>

namespace hybrid::ptx {

struct Warp;

/// Which unit of a multiprocessor an instruction goes to.
enum class Pipe : uint8_t { Fma, Alu, Fp64, Xu, Memory, Tensor, Control };
constexpr int pipeCount = 7;
extern const std::array<const char *, pipeCount> pipeNames;

/// A register of a warp.
struct Row {
  uint32_t offset = 0; ///< bytes from the begin of the warp's rows
  uint32_t index = 0;  ///< number, for what is said of all its lanes
};

/// Where an address may come from: a bit for each of a kernel's parameters, and these.
using Sources = uint64_t;
constexpr int mostParameters = 60;
constexpr Sources sourceOfVariables = uint64_t(1) << 60;

struct Instruction {
  using Run = void (*)(Warp &, const Instruction &, uint32_t mask);
  enum class Flow : uint8_t { Next, Branch, Return, Barrier };
  /// What its result waits for, beside its pipe: then cp.async and its groups, wgmma and its
  /// groups.
  enum class Delay : uint8_t {
    Pipe,
    Global,
    Parameter,
    Copy,
    Commit,
    Wait,
    WaitAll,
    Product,
    CommitProducts,
    WaitProducts
  };

  Run run = nullptr;
  Flow flow = Flow::Next;
  Pipe pipe = Pipe::Alu;
  Delay delay = Delay::Pipe;
  uint8_t results = 0, operands = 0; ///< of `at`: the former come first
  uint8_t pendingGroups = 0;         ///< of waits: groups that they do not wait for
  bool guarded = false, guardNegated = false;
  bool wide = false;            ///< a load or store of less than 64 bits with a register of 64
  bool coherent = true;         ///< false: ld.global.nc
  bool streams = false;         ///< ld.global.cs and st.global.cs
  std::array<bool, 2> narrow{}; ///< addresses of 32 bits
  Row guard;
  uint32_t target = 0; ///< of a branch
  uint32_t join = 0;   ///< where the lanes of a branch are together again
  int line = 0;
  std::array<Row, 14> at;          ///< results first
  std::array<int64_t, 2> offset{}; ///< of addresses
  uint8_t addressAt = 0;           ///< operand of a load or store that is its address; 0: none
  Sources sources = 0;             ///< what a memory access may reach; none: anything
  uint32_t groupProduct = 0;       ///< of wgmma, in the program's
};

/// What of a wgmma an instruction has no place for. `at` has the registers or the descriptor of A,
/// the descriptor of B, and whether the sums' values are kept.
struct GroupProduct {
  std::vector<Row> sums;       ///< half as many as there are columns
  bool readsRegisters = false; ///< for A
  bool transposesA = false, transposesB = false;
};

/// A row that does not change while a kernel runs.
struct Constant {
  Row row;
  Width width;
  uint64_t bits;
};
enum class Special : uint8_t {
  ThreadX,
  BlockX,
  BlockY,
  BlockThreads,
  BlocksX,
  BlocksY,
  Lane,
  WarpNumber,
  Zero
};
struct SpecialRow {
  Row row;
  Special which;
};

struct Program {
  std::string name;
  std::vector<Instruction> instructions; ///< the last is a return
  std::vector<Constant> constants;
  std::vector<SpecialRow> specials;
  std::vector<GroupProduct> groupProducts;
  uint32_t rowBytes = 0, rowCount = 0;
  uint32_t frameBytes = 0; ///< local memory of a lane
  uint32_t staticSharedBytes = 0;
  std::vector<uint32_t> parameterOffsets;
  uint32_t parameterBytes = 0;
  int maximumThreads = 0, requiredThreads = 0;
};

/// Variables of a module in the machine's memory: address by name; shared ones have none.
using Addresses = std::map<std::string, uint64_t, std::less<>>;

/// Nothing when an opcode or operand is not known; `complaint` names its line.
std::optional<Program> decode(const Module &module, const Function &entry,
                              const Addresses &variables, std::string &complaint);

/// Sets `join` of all branches: the instruction behind a branch that all its paths come through
/// first (the immediate post-dominator), or the number of instructions when there is none.
void findJoins(std::vector<Instruction> &instructions);

} // namespace hybrid::ptx
