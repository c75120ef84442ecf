//===- Decoder.cpp - a kernel as the machine runs it ------------------------===//
//
// Calls are expanded: functions that NVRTC leaves (slow paths of mathematics) are small, and do not
// call themselves. Their parameters are variables of the caller's frame.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/Operation.h"
#include <algorithm>

namespace hybrid::ptx {
namespace {

uint64_t roundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

class Decoder {
public:
  Decoder(const Module &module, const Addresses &variables, std::string &complaint)
      : module(module), globals(variables), complaint(complaint) {}

  std::optional<Program> run(const Function &entry);

private:
  /// A function where it is expanded.
  struct Frame {
    const Function *function;
    std::vector<Row> registers;
    Addresses local, shared; ///< offsets of variables
    std::map<std::string, uint32_t, std::less<>> labels;
    std::vector<std::pair<uint32_t, std::string>>
        branches; ///< instructions whose target is a label
    std::vector<uint32_t> returns;
    bool isEntry = false;
  };

  bool fail(const Statement &at, const std::string &what) {
    if (complaint.empty())
      complaint = "line " + std::to_string(at.line) + ": " + at.opcode + ": " + what;
    return false;
  }
  Row newRow(Width width);
  Row constant(Width width, uint64_t bits);
  Row special(Special which, Width width);
  void place(const std::vector<Variable> &variables, Frame &frame);
  bool expand(Frame &frame, int depth);
  bool add(Frame &frame, const Statement &statement, int depth);
  bool call(Frame &frame, const Statement &statement, int depth);
  bool memory(Frame &frame, const Statement &statement, const MemoryOperation &operation);
  bool matrices(Frame &frame, const Statement &statement, Instruction::Run run);
  bool copy(Frame &frame, const Statement &statement);
  bool groupProduct(Frame &frame, const Statement &statement, int columns);
  bool plain(Frame &frame, const Statement &statement);
  bool row(const Frame &frame, const Statement &at, const Operand &operand, Width width, Row &into);
  bool address(const Frame &frame, const Statement &at, const Operand &operand, size_t which,
               Instruction &into, Row &row);
  Instruction begin(const Frame &frame, const Statement &statement) const;
  void flatten(const Operand &operand, std::vector<Operand> &into) const;
  void findSources();

  const Module &module;
  const Addresses &globals;
  std::string &complaint;
  Program program;
  std::vector<Width> widths; ///< by index of a row
  std::map<std::pair<Width, uint64_t>, Row> constants;
  std::map<std::pair<Special, Width>, Row> specials;
  std::map<uint32_t, Sources> known; ///< rows of addresses of variables, and loads of parameters
  Addresses parameters, moduleShared;
};

Row Decoder::newRow(Width width) {
  Row made{program.rowBytes, program.rowCount++};
  widths.push_back(width);
  program.rowBytes += width == Width::Double ? 256 : width == Width::Word ? 128 : 64;
  return made;
}

Row Decoder::constant(Width width, uint64_t bits) {
  if (width == Width::Word)
    bits = static_cast<uint32_t>(bits);
  if (width == Width::Bit)
    bits = bits & 1 ? 0xffffffff : 0;
  auto [found, isNew] = constants.try_emplace({width, bits});
  if (isNew) {
    found->second = newRow(width);
    program.constants.push_back({found->second, width, bits});
  }
  return found->second;
}

Row Decoder::special(Special which, Width width) {
  auto [found, isNew] = specials.try_emplace({which, width});
  if (isNew) {
    found->second = newRow(width);
    program.specials.push_back({found->second, which});
  }
  return found->second;
}

void Decoder::place(const std::vector<Variable> &variables, Frame &frame) {
  for (const Variable &variable : variables) {
    if (frame.local.count(variable.name) || frame.shared.count(variable.name))
      continue;
    uint32_t &used =
        variable.space == Variable::Space::Shared ? program.staticSharedBytes : program.frameBytes;
    used = static_cast<uint32_t>(roundUp(used, variable.alignment));
    (variable.space == Variable::Space::Shared ? frame.shared : frame.local)[variable.name] = used;
    used += static_cast<uint32_t>(variable.bytes);
  }
}

std::optional<Program> Decoder::run(const Function &entry) {
  program.name = entry.name;
  program.maximumThreads = entry.maximumThreads, program.requiredThreads = entry.requiredThreads;
  for (const Variable &parameter : entry.parameters) {
    const uint64_t at = roundUp(program.parameterBytes, parameter.alignment);
    parameters[parameter.name] = at;
    program.parameterOffsets.push_back(static_cast<uint32_t>(at));
    program.parameterBytes = static_cast<uint32_t>(at + parameter.bytes);
  }
  // Shared memory: what has a size first, then that of the launch.
  Frame shared;
  std::vector<Variable> sized;
  uint64_t alignment = 16;
  for (const Variable &variable : module.variables)
    if (variable.space == Variable::Space::Shared)
      variable.bytes ? sized.push_back(variable)
                     : void(alignment = std::max(alignment, variable.alignment));
  place(sized, shared);
  moduleShared = shared.shared;
  Frame frame;
  frame.function = &entry, frame.isEntry = true;
  place(entry.variables, frame);
  program.staticSharedBytes = static_cast<uint32_t>(roundUp(program.staticSharedBytes, alignment));
  for (const Variable &variable : module.variables)
    if (variable.space == Variable::Space::Shared && !variable.bytes)
      moduleShared[variable.name] = program.staticSharedBytes;
  if (!expand(frame, 0))
    return std::nullopt;
  program.frameBytes = static_cast<uint32_t>(roundUp(program.frameBytes, 16));
  findJoins(program.instructions);
  findSources();
  return std::move(program);
}

Instruction Decoder::begin(const Frame &frame, const Statement &statement) const {
  Instruction made;
  made.line = statement.line;
  if (statement.guard) {
    made.guarded = true, made.guardNegated = statement.guardNegated;
    made.guard = frame.registers[*statement.guard];
  }
  return made;
}

bool Decoder::expand(Frame &frame, int depth) {
  const Function &function = *frame.function;
  for (Width width : function.registers)
    frame.registers.push_back(newRow(width));
  Statement last;
  last.opcode = "ret",
  last.line = function.statements.empty() ? function.line : function.statements.back().line;
  for (const Statement &statement : function.statements)
    if (!add(frame, statement, depth))
      return false;
  if (frame.isEntry && !add(frame, last, depth))
    return false;
  const auto end = static_cast<uint32_t>(program.instructions.size());
  for (auto &[instruction, label] : frame.branches) {
    auto found = frame.labels.find(label);
    if (found == frame.labels.end()) {
      complaint = "function " + function.name + " has no label " + label;
      return false;
    }
    program.instructions[instruction].target = found->second;
  }
  for (uint32_t instruction : frame.returns)
    program.instructions[instruction].target = end;
  return true;
}

bool Decoder::add(Frame &frame, const Statement &statement, int depth) {
  if (!statement.label.empty()) {
    frame.labels[statement.label] = static_cast<uint32_t>(program.instructions.size());
    return true;
  }
  if (statement.opcode == "call" || statement.opcode == "call.uni")
    return call(frame, statement, depth);
  if (auto operation = findMemoryOperation(statement.opcode))
    return memory(frame, statement, *operation);
  if (statement.opcode.starts_with("cp.async.c") && statement.operands.size() >= 3)
    return copy(frame, statement);
  if (auto run = findMatrixLoad(statement.opcode))
    return matrices(frame, statement, *run);
  if (auto columns = findGroupProduct(statement.opcode))
    return groupProduct(frame, statement, *columns);
  return plain(frame, statement);
}

/// The callee's parameters are the variables that the caller passes.
bool Decoder::call(Frame &frame, const Statement &statement, int depth) {
  std::vector<Operand> operands = statement.operands, results, arguments;
  if (!operands.empty() && operands[0].kind == Operand::Kind::List) {
    results = operands[0].parts;
    operands.erase(operands.begin());
  }
  if (operands.empty() || operands[0].kind != Operand::Kind::Name || statement.guard)
    return fail(statement, "only unconditional calls of named functions are run here");
  if (operands.size() > 1)
    arguments = operands[1].parts;
  auto found = module.functions.find(operands[0].name);
  if (found == module.functions.end() || !found->second.hasBody)
    return fail(statement, "there is no function " + operands[0].name);
  const Function &callee = found->second;
  if (depth > 8)
    return fail(statement, "calls go too deep");
  if (callee.parameters.size() != arguments.size() || callee.results.size() != results.size())
    return fail(statement, "the arguments are not those of " + callee.name);
  Frame inner;
  inner.function = &callee;
  for (size_t i = 0; i < arguments.size() + results.size(); ++i) {
    const bool isResult = i >= arguments.size();
    const Operand &given = isResult ? results[i - arguments.size()] : arguments[i];
    const Variable &taken = isResult ? callee.results[i - arguments.size()] : callee.parameters[i];
    auto variable = frame.local.find(given.name);
    if (variable == frame.local.end())
      return fail(statement, "there is no variable " + given.name);
    inner.local[taken.name] = variable->second;
  }
  place(callee.variables, inner);
  return expand(inner, depth + 1);
}

bool Decoder::row(const Frame &frame, const Statement &at, const Operand &operand, Width width,
                  Row &into) {
  auto found = [](const Addresses &all, const std::string &name, uint64_t &value) {
    auto entry = all.find(name);
    if (entry != all.end())
      value = entry->second;
    return entry != all.end();
  };
  uint64_t value = 0;
  if (operand.negated)
    return fail(at, "'!' is only read before branches here");
  switch (operand.kind) {
  case Operand::Kind::Register:
    into = frame.registers[operand.number];
    if (widths[into.index] == width)
      return true;
    return fail(at, "register " + operand.name + " has another width");
  case Operand::Kind::Integer:
  case Operand::Kind::Float:
    into = constant(width, operand.bits);
    return true;
  case Operand::Kind::Nothing:
    into = newRow(width);
    return true;
  case Operand::Kind::Name:
    if (found(frame.local, operand.name, value) || found(frame.shared, operand.name, value) ||
        found(moduleShared, operand.name, value)) {
      into = constant(width, value);
      return true;
    }
    if (found(globals, operand.name, value)) {
      into = constant(width, value);
      known[into.index] = sourceOfVariables;
      return true;
    }
    return fail(at, "there is no variable " + operand.name);
  case Operand::Kind::Special: {
    static constexpr std::pair<std::string_view, Special> names[] = {
        {"%tid.x", Special::ThreadX},    {"%ctaid.x", Special::BlockX},
        {"%ctaid.y", Special::BlockY},   {"%ntid.x", Special::BlockThreads},
        {"%nctaid.x", Special::BlocksX}, {"%nctaid.y", Special::BlocksY},
        {"%laneid", Special::Lane},      {"%warpid", Special::WarpNumber},
        {"%tid.y", Special::Zero},       {"%tid.z", Special::Zero},
        {"%ctaid.z", Special::Zero}};
    for (auto [name, which] : names)
      if (name == operand.name && width == Width::Word) {
        into = special(which, width);
        return true;
      }
    return fail(at, "'" + operand.name + "' is no special register that is known here");
  }
  default:
    return fail(at, "an operand of another kind is needed");
  }
}

bool Decoder::address(const Frame &frame, const Statement &at, const Operand &operand, size_t which,
                      Instruction &into, Row &base) {
  if (operand.kind != Operand::Kind::Address)
    return fail(at, "an address is needed");
  into.offset[which] = operand.offset;
  if (operand.parts.empty()) {
    base = constant(Width::Double, 0);
    return true;
  }
  const Operand &inner = operand.parts[0];
  const bool narrow = inner.kind == Operand::Kind::Register &&
                      widths[frame.registers[inner.number].index] == Width::Word;
  into.narrow[which] = narrow;
  return row(frame, at, inner, narrow ? Width::Word : Width::Double, base);
}

void Decoder::flatten(const Operand &operand, std::vector<Operand> &into) const {
  if (operand.kind != Operand::Kind::Vector && operand.kind != Operand::Kind::Pair) {
    into.push_back(operand);
    return;
  }
  for (const Operand &part : operand.parts)
    flatten(part, into);
}

bool Decoder::memory(Frame &frame, const Statement &statement, const MemoryOperation &given) {
  if (statement.operands.size() != 2)
    return fail(statement, "two operands are needed");
  MemoryOperation operation = given;
  const Operand &where = statement.operands[operation.isStore ? 0 : 1];
  Instruction made = begin(frame, statement);
  made.pipe = Pipe::Memory, made.coherent = operation.coherent, made.streams = operation.streams;
  std::vector<Operand> values;
  flatten(statement.operands[operation.isStore ? 1 : 0], values);
  if (static_cast<int>(values.size()) != operation.count)
    return fail(statement, "the vector has another length");
  for (size_t i = 0; i < values.size(); ++i) {
    const bool isRegister = values[i].kind == Operand::Kind::Register;
    const bool isDouble = isRegister
                              ? widths[frame.registers[values[i].number].index] == Width::Double
                              : operation.bytes == 8;
    if (operation.bytes == 8 && !isDouble)
      return fail(statement, "a register of 64 bits is needed");
    made.wide = isDouble && operation.bytes < 8;
    if (!row(frame, statement, values[i], isDouble ? Width::Double : Width::Word, made.at[i]))
      return false;
  }
  // The entry's parameters are the launch's; others are variables of a frame.
  const bool isParameter = operation.space == MemoryOperation::Space::Parameter;
  if (isParameter && !where.parts.empty()) {
    const std::string &name = where.parts[0].name;
    auto entry = parameters.find(name);
    if (frame.isEntry && entry != parameters.end()) {
      made.offset[0] = static_cast<int64_t>(entry->second) + where.offset;
      made.run = operation.run, made.delay = Instruction::Delay::Parameter;
      made.results = made.operands = static_cast<uint8_t>(values.size());
      if (!made.run)
        return fail(statement, "parameters of a kernel are only read");
      for (size_t i = 0; i < program.parameterOffsets.size() && i < mostParameters; ++i)
        if (program.parameterOffsets[i] == entry->second)
          made.sources = Sources(1) << i;
      program.instructions.push_back(made);
      return true;
    }
    std::string opcode = statement.opcode;
    opcode.replace(opcode.find(".param"), 6, ".local");
    operation = *findMemoryOperation(opcode);
  }
  made.run = operation.run;
  made.addressAt = static_cast<uint8_t>(values.size());
  made.results = operation.isStore ? 0 : made.addressAt;
  made.operands = static_cast<uint8_t>(made.addressAt + 1);
  if (operation.space == MemoryOperation::Space::Global ||
      operation.space == MemoryOperation::Space::Generic)
    made.delay = Instruction::Delay::Global;
  if (!address(frame, statement, where, 0, made, made.at[made.addressAt]))
    return false;
  program.instructions.push_back(made);
  return true;
}

bool Decoder::copy(Frame &frame, const Statement &statement) {
  if (!statement.opcode.starts_with("cp.async.cg.shared.global") &&
      !statement.opcode.starts_with("cp.async.ca.shared.global"))
    return fail(statement, "the opcode is not known");
  Instruction made = begin(frame, statement);
  made.pipe = Pipe::Memory, made.run = copyAsync, made.addressAt = 1;
  made.delay = Instruction::Delay::Copy, made.operands = 4;
  const Operand &read =
      statement.operands.size() > 3 ? statement.operands[3] : statement.operands[2];
  if (!address(frame, statement, statement.operands[0], 0, made, made.at[0]) ||
      !address(frame, statement, statement.operands[1], 1, made, made.at[1]) ||
      !row(frame, statement, statement.operands[2], Width::Word, made.at[2]) ||
      !row(frame, statement, read, Width::Word, made.at[3]))
    return false;
  program.instructions.push_back(made);
  return true;
}

/// Four registers and an address of shared memory.
bool Decoder::matrices(Frame &frame, const Statement &statement, Instruction::Run run) {
  Instruction made = begin(frame, statement);
  made.pipe = Pipe::Memory, made.run = run;
  made.addressAt = made.results = 4, made.operands = 5;
  std::vector<Operand> values;
  if (!statement.operands.empty())
    flatten(statement.operands[0], values);
  if (statement.operands.size() != 2 || values.size() != made.results)
    return fail(statement, "four registers and an address are needed");
  for (size_t i = 0; i < values.size(); ++i)
    if (!row(frame, statement, values[i], Width::Word, made.at[i]))
      return false;
  if (!address(frame, statement, statement.operands[1], 0, made, made.at[made.addressAt]))
    return false;
  program.instructions.push_back(made);
  return true;
}

/// Sums; registers or a descriptor of A; a descriptor of B; whether sums keep what they have; the
/// factors of A and B; whether A, if it has a descriptor, and B are transposed.
bool Decoder::groupProduct(Frame &frame, const Statement &statement, int columns) {
  const std::vector<Operand> &given = statement.operands;
  GroupProduct of;
  Instruction made = begin(frame, statement);
  made.pipe = Pipe::Tensor, made.run = multiplyGroup, made.delay = Instruction::Delay::Product;
  made.groupProduct = static_cast<uint32_t>(program.groupProducts.size());
  of.readsRegisters = given.size() > 1 && given[1].kind == Operand::Kind::Vector;
  const size_t needed = of.readsRegisters ? 7 : 8;
  if (given.size() != needed)
    return fail(statement, std::to_string(needed) + " operands are needed, not " +
                               std::to_string(given.size()));
  std::vector<Operand> sums, ofA;
  flatten(given[0], sums), flatten(given[1], ofA);
  if (sums.size() != static_cast<size_t>(columns / 2) || ofA.size() != (of.readsRegisters ? 4 : 1))
    return fail(statement, "the vector has another length");
  auto isFlag = [&](size_t operand) {
    return given[operand].kind == Operand::Kind::Integer && given[operand].bits <= 1;
  };
  if (given[3].kind != Operand::Kind::Register && !isFlag(3))
    return fail(statement, "sums are kept (1) or not (0)");
  if (!isFlag(4) || !isFlag(5) || !given[4].bits || !given[5].bits)
    return fail(statement, "only factors of 1 are run here");
  for (size_t i = 6; i < needed; ++i)
    if (!isFlag(i))
      return fail(statement, "matrices are transposed (1) or not (0)");
  of.transposesA = !of.readsRegisters && given[6].bits, of.transposesB = given[needed - 1].bits;
  of.sums.resize(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].kind != Operand::Kind::Register)
      return fail(statement, "sums are registers");
    if (!row(frame, statement, sums[i], Width::Word, of.sums[i]))
      return false;
  }
  for (const Operand &operand : ofA)
    if (!row(frame, statement, operand, of.readsRegisters ? Width::Word : Width::Double,
             made.at[made.operands++]))
      return false;
  if (!row(frame, statement, given[2], Width::Double, made.at[made.operands++]) ||
      !row(frame, statement, given[3], Width::Bit, made.at[made.operands++]))
    return false;
  program.groupProducts.push_back(std::move(of));
  program.instructions.push_back(made);
  return true;
}

bool Decoder::plain(Frame &frame, const Statement &statement) {
  std::string name = statement.opcode;
  Instruction made = begin(frame, statement);
  std::vector<Operand> operands;
  if (name.starts_with("mov.b") && statement.operands.size() == 2) {
    const auto isVector = [](const Operand &of) { return of.kind == Operand::Kind::Vector; };
    if (isVector(statement.operands[1]))
      name += " <" + std::to_string(statement.operands[1].parts.size());
    else if (isVector(statement.operands[0]))
      name += " >" + std::to_string(statement.operands[0].parts.size());
  }
  if (name.starts_with("cvt.") && statement.operands.size() == 2) {
    const Operand &from = statement.operands[1];
    if (from.kind == Operand::Kind::Register &&
        widths[frame.registers[from.number].index] == Width::Double &&
        operations().count(name + " <64"))
      name += " <64";
  }
  auto found = operations().find(name);
  if (found == operations().end())
    return fail(statement, "the opcode is not known");
  const Operation &operation = found->second;
  made.pipe = operation.pipe, made.flow = operation.flow, made.run = operation.run;
  if (operation.flow == Instruction::Flow::Branch) {
    if (statement.operands.size() != 1 || statement.operands[0].kind != Operand::Kind::Name)
      return fail(statement, "a label is needed");
    frame.branches.emplace_back(program.instructions.size(), statement.operands[0].name);
    program.instructions.push_back(made);
    return true;
  }
  if (operation.flow == Instruction::Flow::Return && !frame.isEntry && statement.opcode != "exit") {
    made.flow = Instruction::Flow::Branch;
    frame.returns.push_back(static_cast<uint32_t>(program.instructions.size()));
    program.instructions.push_back(made);
    return true;
  }
  for (const Operand &operand : statement.operands)
    flatten(operand, operands);
  const bool isOfGroups = name.starts_with("cp.async") || name.starts_with("wgmma");
  if (!statement.operands.empty() && operation.flow == Instruction::Flow::Next && !isOfGroups) {
    std::vector<Operand> results;
    flatten(statement.operands[0], results);
    made.results = static_cast<uint8_t>(results.size());
  }
  if (name == "bar.warp.sync")
    made.results = 0;
  if (name == "cp.async.commit_group")
    made.delay = Instruction::Delay::Commit;
  else if (name == "cp.async.wait_all")
    made.delay = Instruction::Delay::WaitAll;
  else if (name == "wgmma.commit_group.sync.aligned")
    made.delay = Instruction::Delay::CommitProducts;
  else if (name == "cp.async.wait_group")
    made.delay = Instruction::Delay::Wait;
  else if (name == "wgmma.wait_group.sync.aligned")
    made.delay = Instruction::Delay::WaitProducts;
  if (name.find("wait_group") != std::string::npos && operands.size() == 1)
    made.pendingGroups = static_cast<uint8_t>(std::min<uint64_t>(operands[0].bits, 255));
  if (name.starts_with("shfl.sync") && operands.size() + 1 == operation.operands.size())
    operands.insert(operands.begin() + 1, Operand()); // nobody asks whether a lane was in range
  if (operands.size() != operation.operands.size())
    return fail(statement, std::to_string(operation.operands.size()) +
                               " operands are needed, not " + std::to_string(operands.size()));
  made.operands = static_cast<uint8_t>(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    if (!row(frame, statement, operands[i], operation.operands[i], made.at[i]))
      return false;
  program.instructions.push_back(made);
  return true;
}

/// Which parameters an address comes from: through sums, choices and copies of 64 bits.
void Decoder::findSources() {
  std::vector<Sources> of(program.rowCount, 0);
  for (auto [row, sources] : known)
    of[row] = sources;
  const Operations &all = operations();
  std::vector<std::pair<const Instruction *, std::vector<size_t>>>
      carriers; // and the operands they carry
  auto carry = [&](const char *opcode, std::vector<size_t> operands) {
    const Instruction::Run run = all.at(opcode).run;
    for (const Instruction &in : program.instructions)
      if (in.run == run)
        carriers.emplace_back(&in, operands);
  };
  carry("add.s64", {1, 2}), carry("sub.s64", {1}), carry("selp.b64", {1, 2}), carry("mov.b64", {1});
  if (all.at("add.u64").run != all.at("add.s64").run)
    carry("add.u64", {1, 2}), carry("sub.u64", {1});
  carry("mad.lo.s64", {3}), carry("mad.wide.s32", {3}), carry("mad.wide.u32", {3});
  if (all.at("mad.lo.u64").run != all.at("mad.lo.s64").run)
    carry("mad.lo.u64", {3});
  carry("cvta.to.global.u64", {1});
  for (const Instruction &in : program.instructions)
    if (in.sources)
      of[in.at[0].index] |= in.sources;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[in, operands] : carriers) {
      Sources &to = of[in->at[0].index];
      const Sources before = to;
      for (size_t operand : operands)
        to |= of[in->at[operand].index];
      changed |= to != before;
    }
  }
  // An access has its address behind its values.
  for (Instruction &in : program.instructions)
    if (in.pipe == Pipe::Memory)
      in.sources = in.addressAt ? of[in.at[in.addressAt].index] : 0;
}

} // namespace

std::optional<Program> decode(const Module &module, const Function &entry,
                              const Addresses &variables, std::string &complaint) {
  complaint.clear();
  return Decoder(module, variables, complaint).run(entry);
}

} // namespace hybrid::ptx
