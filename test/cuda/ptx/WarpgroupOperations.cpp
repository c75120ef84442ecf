//===- WarpgroupOperations.cpp - wgmma: products of four warps --------------===//
//
// m64nNk16 of bf16. A warp computes its quarter, 16 rows, by itself and at once, with numbers as
// MatrixOperations.cpp has them. But its sums are poison until the wait for their group, and what
// it reads of shared memory and registers must stay as it is until then.
//
// Matrices in shared memory: PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Shared Memory
// Layout" and "... Strides". All layouts are of units of 16 bytes, 8 numbers that follow one
// another along k, or of a transposed matrix along its rows (A) or columns (B), both called rows
// here.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/Lanes.h"
#include "test/cuda/ptx/MemoryChecks.h"
#include "test/cuda/ptx/Numbers.h"
#include <algorithm>
#include <charconv>

namespace hybrid::ptx {
namespace {

constexpr int groupWarps = 4, rows = 16, depth = 16, mostColumns = 256;
constexpr uint64_t fieldBits = 0x3fff;

std::string nameOf(const Warp &warp) { return "warp " + std::to_string(warp.number); }

/// A matrix in shared memory.
struct Descriptor {
  uint64_t start = 0, leading = 0, stride = 0; ///< bytes
  uint64_t swizzled = 0;                       ///< bytes; 0: not
  bool transposed = false;

  /// Where the unit that begins there is.
  uint64_t unit(uint64_t row, uint64_t k) const {
    uint64_t at = start;
    if (!transposed)
      at += row / 8 * stride +
            (swizzled ? row % 8 * swizzled + k * 2 : row % 8 * 16 + k / 8 * leading);
    else if (swizzled)
      at += row % (swizzled / 2) * 2 + row / (swizzled / 2) * leading + k % 8 * swizzled +
            k / 8 * stride;
    else
      at += row % 8 * 2 + row / 8 * stride + k % 8 * 16 + k / 8 * leading;
    return swizzled ? at ^ (at >> 7 & (swizzled / 16 - 1)) << 4 : at;
  }
};

/// What a register describes; nothing, and a finding, when it is no matrix of so many rows.
std::optional<Descriptor> descriptorOf(Warp &warp, const Instruction &in, Row row, bool transposed,
                                       uint64_t rowCount) {
  Block &block = *warp.block;
  if (!warp.requireDefined(in, row, allLanes, "multiplies a matrix at"))
    return std::nullopt;
  const uint64_t *lanes = warp.cells<uint64_t>(row), bits = lanes[0];
  if (std::any_of(lanes, lanes + warpLanes, [&](uint64_t lane) { return lane != bits; })) {
    block.report(Finding::Kind::Divergence, in,
                 "lanes of " + nameOf(warp) + " describe different matrices");
    return std::nullopt;
  }
  if (bits & ~(fieldBits | fieldBits << 16 | fieldBits << 32 | uint64_t(3) << 62)) {
    block.report(Finding::Kind::Trap, in,
                 nameOf(warp) + " describes a matrix by bits that have no meaning here");
    return std::nullopt;
  }
  static constexpr uint64_t swizzles[] = {0, 128, 64, 32};
  Descriptor of{(bits & fieldBits) << 4, (bits >> 16 & fieldBits) << 4,
                (bits >> 32 & fieldBits) << 4, swizzles[bits >> 62], transposed};
  // A pattern begins at a multiple of its size, of 8 times the bytes that it swizzles. Steps within
  // those bytes must leave what is read there within them.
  if (!of.swizzled)
    return of;
  const uint64_t step = of.start % of.swizzled, pattern = of.start % (8 * of.swizzled);
  const bool fits = transposed ? step + 2 * std::min(rowCount, of.swizzled / 2) <= of.swizzled
                               : step % (2 * depth) == 0;
  if (step != pattern || !fits) {
    block.report(Finding::Kind::Misaligned, in,
                 nameOf(warp) + " multiplies a matrix at byte " + std::to_string(of.start) +
                     ", which is no step in a pattern of " + std::to_string(of.swizzled) +
                     " bytes");
    return std::nullopt;
  }
  return of;
}

/// Calls `each` with where a unit is, the row and the k of its first number.
template <typename Each>
void forUnits(const Descriptor &of, uint64_t firstRow, uint64_t count, Each each) {
  const uint64_t rowStep = of.transposed ? 8 : 1, kStep = of.transposed ? 1 : 8;
  for (uint64_t row = 0; row < count; row += rowStep)
    for (uint64_t k = 0; k < depth; k += kStep)
      each(static_cast<uint32_t>(of.unit(firstRow + row, k)), row, k);
}

/// Calls `set` with row, k and number of all units.
template <typename Set>
void readMatrix(const Warp &warp, const Descriptor &of, uint64_t firstRow, uint64_t count,
                Set set) {
  forUnits(of, firstRow, count, [&](uint32_t at, uint64_t row, uint64_t k) {
    std::array<uint16_t, 8> numbers;
    std::memcpy(numbers.data(), warp.block->shared + at, sizeof(numbers));
    for (uint64_t i = 0; i < numbers.size(); ++i)
      set(of.transposed ? row + i : row, of.transposed ? k : k + i,
          static_cast<double>(fromBf16(numbers[i])));
  });
}

/// Whether its group is whole, and all lanes take part.
bool isWhole(Warp &warp, const Instruction &in, uint32_t mask) {
  if (!warp.requireTogether(in, mask, allLanes))
    return false;
  const int needed = (warp.number / groupWarps + 1) * groupWarps * warpLanes;
  if (warp.block->launch->threads >= needed)
    return true;
  warp.block->stop(Finding::Kind::Divergence, in,
                   nameOf(warp) + " is of a group of four warps, for which the block has too few");
  return false;
}

/// Whether sums were written by something else, while they are pending.
void requireUntouched(Warp &warp, const Instruction &in, Row sum) {
  if (warp.poison[sum.index] != allLanes)
    warp.block->report(Finding::Kind::Warpgroup, in,
                       nameOf(warp) +
                           " writes a sum that wgmma.wait_group has not been waited for");
}

struct Quarter {
  double a[rows][depth], b[depth][mostColumns], d[rows][mostColumns];
};

/// d is rows g and g + 8, columns 8 i + 2 t and 8 i + 2 t + 1 of a lane 4 g + t.
void compute(Warp &warp, const std::vector<Row> &sums, bool keeps, Quarter &of) {
  const size_t columns = sums.size() * 2;
  auto at = [&](int lane, size_t i) -> double & {
    return of.d[static_cast<size_t>(lane / 4) + i / 2 % 2 * 8]
               [i / 4 * 8 + static_cast<size_t>(lane % 4) * 2 + i % 2];
  };
  for (size_t i = 0; i < sums.size(); ++i)
    for (int lane = 0; lane < warpLanes; ++lane)
      at(lane, i) = keeps ? static_cast<double>(warp.cells<float>(sums[i])[lane]) : 0.0;
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < depth; ++k)
      for (size_t column = 0; column < columns; ++column)
        of.d[row][column] += of.a[row][k] * of.b[k][column];
  for (size_t i = 0; i < sums.size(); ++i)
    for (int lane = 0; lane < warpLanes; ++lane)
      warp.cells<float>(sums[i])[lane] = canonical(static_cast<float>(at(lane, i)));
}

/// The four registers of a lane 4 g + t: rows g and g + 8, k from 2 t and from 2 t + 8.
void readRegisters(Warp &warp, const Instruction &in, PendingProduct &pending, Quarter &of) {
  for (size_t i = 0; i < 4; ++i) {
    std::memcpy(pending.rows[i].data(), warp.cells<uint32_t>(in.at[i]), sizeof(pending.rows[i]));
    for (size_t lane = 0; lane < warpLanes; ++lane) {
      const uint32_t word = pending.rows[i][lane];
      double *to = &of.a[lane / 4 + i % 2 * 8][lane % 4 * 2 + i / 2 * 8];
      to[0] = static_cast<double>(fromBf16(word & 0xffff));
      to[1] = static_cast<double>(fromBf16(word >> 16));
    }
  }
}

/// Operands are read once for the four warps, 128 bytes at a time.
void count(Warp &warp, const GroupProduct &product) {
  Counts &counts = *warp.block->counts;
  const uint64_t columns = product.sums.size() * 2;
  counts.groupProducts += columns / 8;
  if (warp.number % groupWarps || !warp.block->options->counts)
    return;
  counts.sharedWavefronts += columns * depth * 2 / 128;
  if (!product.readsRegisters)
    counts.sharedWavefronts += groupWarps * rows * depth * 2 / 128;
}

/// What the warps of a group must have in common.
void note(Warp &warp, const Instruction &in, const GroupProduct &product) {
  const size_t ofB = product.readsRegisters ? 4 : 1;
  WarpProducts &products = warp.products;
  products.last = &in;
  for (uint64_t part : {static_cast<uint64_t>(in.line), uint64_t(warp.bits(in.at[ofB + 1]) & 1),
                        warp.cells<uint64_t>(in.at[ofB])[0],
                        product.readsRegisters ? 0 : warp.cells<uint64_t>(in.at[0])[0]})
    products.history = (products.history ^ part) * 0x100000001b3; // FNV-1a
}

void multiply(Warp &warp, const Instruction &in, uint32_t mask) {
  if (!isWhole(warp, in, mask))
    return;
  Block &block = *warp.block;
  WarpProducts &products = warp.products;
  const GroupProduct &product = block.program->groupProducts[in.groupProduct];
  const uint64_t columns = product.sums.size() * 2;
  const size_t ofB = product.readsRegisters ? 4 : 1;
  const Row keeping = in.at[ofB + 1];
  if (!warp.requireDefined(in, keeping, allLanes, "keeps sums by"))
    return;
  const uint32_t keeps = warp.bits(keeping);
  if (keeps && keeps != allLanes)
    return block.stop(Finding::Kind::Divergence, in,
                      "lanes of " + nameOf(warp) + " disagree whether sums are kept");
  note(warp, in, product);
  if (!products.fenced)
    block.report(Finding::Kind::Warpgroup, in,
                 nameOf(warp) + " multiplies with no wgmma.fence since it began, or last waited");
  for (Row sum : product.sums)
    if (products.sums[sum.index])
      requireUntouched(warp, in, sum);
    else if (keeps && !warp.requireDefined(in, sum, allLanes, "adds to"))
      return;
  PendingProduct pending{&in, products.commits, block.issued, {}, {}};
  std::optional<Descriptor> a;
  const uint64_t firstRow = static_cast<uint64_t>(warp.number % groupWarps) * rows;
  auto add = [&](uint32_t at, uint64_t, uint64_t) { pending.units.push_back(at); };
  if (product.readsRegisters) {
    for (size_t i = 0; i < 4; ++i)
      if (!warp.requireDefined(in, in.at[i], allLanes, "multiplies"))
        return;
  } else {
    if (!(a = descriptorOf(warp, in, in.at[0], product.transposesA, groupWarps * rows)))
      return;
    forUnits(*a, firstRow, rows, add);
  }
  const auto b = descriptorOf(warp, in, in.at[ofB], product.transposesB, columns);
  if (!b)
    return;
  forUnits(*b, 0, columns, add);
  if (!checkOperands(warp, in, pending.units))
    return;
  Quarter of;
  if (a)
    readMatrix(warp, *a, firstRow, rows,
               [&](uint64_t row, uint64_t k, double value) { of.a[row][k] = value; });
  else
    readRegisters(warp, in, pending, of);
  readMatrix(warp, *b, 0, columns,
             [&](uint64_t row, uint64_t k, double value) { of.b[k][row] = value; });
  compute(warp, product.sums, keeps, of);
  for (Row sum : product.sums) {
    warp.setPoison(sum, allLanes, allLanes);
    ++products.sums[sum.index];
  }
  products.pending.push_back(std::move(pending));
  count(warp, product);
}

void finish(Warp &warp, const PendingProduct &pending) {
  const Instruction &in = *pending.issued;
  const GroupProduct &product = warp.block->program->groupProducts[in.groupProduct];
  checkKept(warp, pending);
  for (size_t i = 0; product.readsRegisters && i < 4; ++i)
    if (std::memcmp(pending.rows[i].data(), warp.cells<uint32_t>(in.at[i]),
                    sizeof(pending.rows[i])))
      warp.block->report(Finding::Kind::Race, in,
                         "a register that a wgmma of " + nameOf(warp) +
                             " multiplies was overwritten before it was waited for");
  for (Row sum : product.sums) {
    requireUntouched(warp, in, sum);
    if (--warp.products.sums[sum.index] == 0)
      warp.setPoison(sum, allLanes, 0);
  }
}

void fence(Warp &warp, const Instruction &in, uint32_t mask) {
  if (warp.requireTogether(in, mask, allLanes))
    warp.products.fenced = true;
}

void commit(Warp &warp, const Instruction &in, uint32_t mask) {
  if (warp.requireTogether(in, mask, allLanes))
    ++warp.products.commits;
}

void waitForGroups(Warp &warp, const Instruction &in, uint32_t mask) {
  if (!warp.requireTogether(in, mask, allLanes))
    return;
  WarpProducts &products = warp.products;
  const uint32_t but = warp.cells<uint32_t>(in.at[0])[0];
  auto isDue = [&](const PendingProduct &pending) {
    return pending.group + but < products.commits;
  };
  for (const PendingProduct &pending : products.pending)
    if (isDue(pending))
      finish(warp, pending);
  std::erase_if(products.pending, isDue);
  products.fenced = false;
}

/// Of each thread: what it has written to shared memory, wgmma and the like may now read.
void fenceProxy(Warp &warp, const Instruction &, uint32_t mask) {
  Block &block = *warp.block;
  if (block.proxyFences.empty())
    return;
  forLanes(mask, [&](int lane) {
    Block::ProxyFence &of = block.proxyFences[static_cast<size_t>(warp.number * warpLanes + lane)];
    if (of.interval != block.now.interval)
      of.before = of.last, of.interval = block.now.interval;
    of.last = block.issued;
  });
}

} // namespace

const Instruction::Run multiplyGroup = &multiply;

std::optional<int> findGroupProduct(std::string_view opcode) {
  constexpr std::string_view begin = "wgmma.mma_async.sync.aligned.m64n", end = "k16.f32.bf16.bf16";
  if (!opcode.starts_with(begin) || !opcode.ends_with(end))
    return std::nullopt;
  opcode.remove_prefix(begin.size()), opcode.remove_suffix(end.size());
  int columns = 0;
  const auto [last, error] = std::from_chars(opcode.data(), opcode.data() + opcode.size(), columns);
  const bool isNumber = error == std::errc() && last == opcode.data() + opcode.size();
  return isNumber && columns % 8 == 0 && columns >= 8 && columns <= mostColumns
             ? std::optional(columns)
             : std::nullopt;
}

void requireSameProducts(Block &block, const std::vector<Warp> &warps) {
  for (const Warp &warp : warps) {
    const auto first = static_cast<size_t>(warp.number / groupWarps * groupWarps);
    const Warp &other = warps[first];
    if (warp.products.history == other.products.history)
      continue;
    const Instruction *last = warp.products.last ? warp.products.last : other.products.last;
    block.report(Finding::Kind::Divergence, *last,
                 nameOf(warp) + " and " + nameOf(other) +
                     ", which are of a group, do not multiply the same");
  }
}

void addWarpgroups(Operations &all) {
  all["wgmma.fence.sync.aligned"] = {&fence, Pipe::Control, {}};
  all["wgmma.commit_group.sync.aligned"] = {&commit, Pipe::Control, {}};
  all["wgmma.wait_group.sync.aligned"] = {&waitForGroups, Pipe::Control, {Width::Word}};
  all["fence.proxy.async"] =
      all["fence.proxy.async.shared::cta"] = {&fenceProxy, Pipe::Control, {}};
}

} // namespace hybrid::ptx
