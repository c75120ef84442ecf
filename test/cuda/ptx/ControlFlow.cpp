//===- ControlFlow.cpp - where the lanes of a branch meet again -------------===//
#include "test/cuda/ptx/Program.h"
#include <algorithm>
#include <utility>

namespace hybrid::ptx {
namespace {

/// Basic blocks: the first instruction of each, and those that follow it. The last block is the
/// end.
struct Blocks {
  std::vector<uint32_t> starts;
  std::vector<uint32_t> blockOf; ///< by instruction
  std::vector<std::vector<uint32_t>> after, before;
};

Blocks findBlocks(const std::vector<Instruction> &instructions) {
  const auto count = static_cast<uint32_t>(instructions.size());
  std::vector<bool> begins(count + 1, false);
  begins[0] = begins[count] = true;
  for (uint32_t i = 0; i < count; ++i) {
    if (instructions[i].flow == Instruction::Flow::Branch)
      begins[instructions[i].target] = begins[i + 1] = true;
    if (instructions[i].flow == Instruction::Flow::Return)
      begins[i + 1] = true;
  }
  Blocks blocks;
  blocks.blockOf.resize(count + 1);
  for (uint32_t i = 0; i <= count; ++i) {
    if (begins[i])
      blocks.starts.push_back(i);
    blocks.blockOf[i] = static_cast<uint32_t>(blocks.starts.size()) - 1;
  }
  const auto end = static_cast<uint32_t>(blocks.starts.size()) - 1;
  blocks.after.resize(end + 1), blocks.before.resize(end + 1);
  for (uint32_t block = 0; block < end; ++block) {
    const uint32_t last = blocks.starts[block + 1] - 1;
    const Instruction &in = instructions[last];
    auto add = [&](uint32_t to) {
      blocks.after[block].push_back(to), blocks.before[to].push_back(block);
    };
    if (in.flow == Instruction::Flow::Branch)
      add(blocks.blockOf[in.target]);
    else if (in.flow == Instruction::Flow::Return)
      add(end);
    if (in.guarded ||
        (in.flow != Instruction::Flow::Branch && in.flow != Instruction::Flow::Return))
      add(block + 1);
  }
  return blocks;
}

/// Blocks from the end backwards, each behind those that follow it except in loops.
std::vector<uint32_t> orderFromEnd(const Blocks &blocks) {
  const auto end = static_cast<uint32_t>(blocks.starts.size()) - 1;
  std::vector<uint32_t> order;
  std::vector<bool> seen(end + 1, false);
  std::vector<std::pair<uint32_t, size_t>> stack{{end, 0}};
  seen[end] = true;
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next < blocks.before[block].size()) {
      const uint32_t to = blocks.before[block][next++];
      if (!seen[to])
        seen[to] = true, stack.emplace_back(to, 0);
      continue;
    }
    order.push_back(block);
    stack.pop_back();
  }
  std::reverse(order.begin(), order.end());
  return order;
}

} // namespace

/// Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
void findJoins(std::vector<Instruction> &instructions) {
  const Blocks blocks = findBlocks(instructions);
  const auto end = static_cast<uint32_t>(blocks.starts.size()) - 1;
  const std::vector<uint32_t> order = orderFromEnd(blocks);
  constexpr uint32_t none = UINT32_MAX;
  std::vector<uint32_t> rank(end + 1, none), join(end + 1, none);
  for (uint32_t i = 0; i < order.size(); ++i)
    rank[order[i]] = i;
  join[end] = end;
  auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (rank[a] > rank[b])
        a = join[a];
      while (rank[b] > rank[a])
        b = join[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t block : order) {
      if (block == end)
        continue;
      uint32_t found = none;
      for (uint32_t next : blocks.after[block])
        if (join[next] != none)
          found = found == none ? next : meet(found, next);
      changed |= found != join[block];
      join[block] = found;
    }
  }
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].flow != Instruction::Flow::Branch)
      continue;
    const uint32_t found = join[blocks.blockOf[i]]; // none in a loop without an end
    instructions[i].join =
        found == none ? static_cast<uint32_t>(instructions.size()) : blocks.starts[found];
  }
}

} // namespace hybrid::ptx
