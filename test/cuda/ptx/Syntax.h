//===- Syntax.h - PTX as it is written --------------------------------------===//
//
// What the parser makes of a text: functions as lists of statements, names of registers resolved,
// opcodes still as they stand. Source: Parallel Thread Execution ISA, version 9.0.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::ptx {

/// How a register is held: a bit a lane, 32 bits a lane (also those of 16), or 64.
enum class Width : uint8_t { Bit, Word, Double };

struct Variable {
  enum class Space : uint8_t { Global, Shared, Local, Parameter } space = Space::Global;
  std::string name;
  uint64_t bytes = 0; ///< 0: dynamic shared memory
  uint64_t alignment = 1;
  std::vector<std::byte> content; ///< as many as are given, zeros follow
};

struct Operand {
  enum class Kind : uint8_t {
    Register, ///< `number`
    Integer,  ///< `bits`, sign-extended
    Float,    ///< `bits`, an f32 (0f...) or an f64 (0d...)
    Name,     ///< a variable, a label or a function: `name`
    Special,  ///< %tid.x and the like: `name`
    Address,  ///< [base + offset], the base in `parts`; none: an absolute address
    Vector,   ///< {...}: `parts`
    Pair,     ///< a|b: `parts`
    List,     ///< (...) of a call: `parts`
    Nothing   ///< _
  } kind = Kind::Nothing;
  bool negated = false; ///< !p
  uint32_t number = 0;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::string name;
  std::vector<Operand> parts;
};

struct Statement {
  int line = 0;
  std::string opcode; ///< "ld.global.nc.v4.f32"; empty for a label
  std::string label;
  std::optional<uint32_t> guard; ///< register of @p or @!p
  bool guardNegated = false;
  std::vector<Operand> operands;
};

struct Function {
  std::string name;
  int line = 0;
  bool isEntry = false, hasBody = false;
  std::vector<Variable> parameters, results;
  std::vector<Width> registers;
  std::vector<std::string> registerNames;
  std::vector<Variable> variables; ///< local, shared and those for arguments of calls
  std::vector<Statement> statements;
  int maximumThreads = 0, requiredThreads = 0; ///< .maxntid, .reqntid; 0 when they are not given
};

struct Module {
  std::string target; ///< "sm_90a"
  std::vector<Variable> variables;
  std::map<std::string, Function, std::less<>> functions;
};

/// Nothing when the text is not PTX as NVRTC writes it; `complaint` then names line and cause.
std::optional<Module> parse(std::string_view text, std::string &complaint);

} // namespace hybrid::ptx
