//===- Operation.h - what an opcode does ------------------------------------===//
#pragma once
#include "test/cuda/ptx/Program.h"
#include <functional>
#include <unordered_map>

namespace hybrid::ptx {

struct Operation {
  Instruction::Run run = nullptr;
  Pipe pipe = Pipe::Alu;
  std::vector<Width> operands; ///< of its rows, results first, vectors taken apart
  Instruction::Flow flow = Instruction::Flow::Next;
};

/// By the whole opcode, and what is to be said of its operands: a mov from or to a vector has its
/// length behind it ("mov.b64 <2", "mov.b64 >2"), a cvt from a wider register "<64".
using Operations = std::unordered_map<std::string, Operation>;

// Each adds its part.
void addIntegers(Operations &all);
void addFloats(Operations &all);
void addConversions(Operations &all);
void addExchanges(Operations &all);
void addMatrices(Operations &all);
void addWarpgroups(Operations &all);
void addAddresses(Operations &all);
void addCopies(Operations &all);
const Operations &operations();

/// A load or store, whose opcode has more parts than a table could list; nothing for another.
struct MemoryOperation {
  enum class Space : uint8_t { Global, Shared, Local, Parameter, Generic } space = Space::Generic;
  Instruction::Run run = nullptr;
  bool isStore = false, coherent = true, streams = false;
  int bytes = 4, count = 1;
};
std::optional<MemoryOperation> findMemoryOperation(std::string_view opcode);
/// ldmatrix; nothing for another.
std::optional<Instruction::Run> findMatrixLoad(std::string_view opcode);
/// cp.async: rows of both addresses, of the bytes that are copied and of those that are read.
extern const Instruction::Run copyAsync;
/// wgmma.mma_async: its columns; nothing for another, or for a shape that there is not.
std::optional<int> findGroupProduct(std::string_view opcode);
extern const Instruction::Run multiplyGroup;

} // namespace hybrid::ptx
