//===- WarpgroupsTest.cpp - wgmma: numbers, and what is wrong around it -----===//
#include "test/cuda/ptx/Numbers.h"
#include "test/cuda/ptx/tests/MachineTest.h"
#include <random>

namespace hybrid::ptx::test {
namespace {

using Kind = Finding::Kind;
using Kinds = std::vector<Kind>;

const std::string proxyFence = "fence.proxy.async.shared::cta;\n", barrier = "bar.sync 0;\n",
                  fence = "wgmma.fence.sync.aligned;\n",
                  commit = "wgmma.commit_group.sync.aligned;\n",
                  wait = "wgmma.wait_group.sync.aligned 0;\n";

/// {%<name>first, ...}
std::string registers(const std::string &name, int count) {
  std::string all = "{";
  for (int i = 0; i < count; ++i)
    all += (i ? ", %" : "%") + name + std::to_string(i);
  return all + "}";
}

/// A matrix of so many rows (of A; of B its columns) and k, and how it lies in shared memory: in
/// tiles that are `swizzled` bytes wide, along k or (transposed) along the rows; or in cores of
/// 8 x 8 numbers, those of 8 rows side by side.
struct Tiles {
  int rows, depth, swizzled;
  bool transposed;

  int place(int row, int k) const {
    const int along = transposed ? row : k, across = transposed ? k : row,
              lines = transposed ? depth : rows, wide = swizzled / 2;
    if (!swizzled)
      return row / 8 * depth * 16 + k / 8 * 128 + across % 8 * 16 + along % 8 * 2;
    const int at = along / wide * lines * swizzled + across * swizzled + along % wide * 2;
    // The manual's pattern: 16-byte units of 128, 64 or 32 bytes change places by the 128 bytes.
    return at ^ (at & (swizzled == 128 ? 0x380 : swizzled == 64 ? 0x180 : 0x80)) >> 3;
  }
  /// Of the 16 k that begin there.
  uint64_t descriptor(int begin, int k) const {
    const int wide = swizzled / 2;
    uint64_t start, leading, stride, kind = 0;
    if (!swizzled)
      start = static_cast<uint64_t>(k * 16), leading = 128,
      stride = static_cast<uint64_t>(depth * 16);
    else
      start = static_cast<uint64_t>(transposed ? k * swizzled
                                               : k / wide * rows * swizzled + k % wide * 2),
      leading = static_cast<uint64_t>(transposed ? depth * swizzled : 16),
      stride = static_cast<uint64_t>(8 * swizzled),
      kind = swizzled == 128  ? 1
             : swizzled == 64 ? 2
                              : 3;
    start += static_cast<uint64_t>(begin);
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | kind << 62;
  }
};

/// A group of four warps with an image of shared memory, registers of A, and sums.
class Warpgroups : public MachineTest {
protected:
  Warpgroups() { launch.threads = 128; }

  void passAll() {
    image.resize((image.size() + 1023) / 1024 * 1024); // numbers: 2048 bytes
    launch.sharedBytes = static_cast<unsigned>(image.size() * 2);
    launch.arguments.clear(), launch.extents.clear(), allocations.clear();
    pass(image), pass(ofA), pass(sums), pass(out);
  }
  /// Shared memory, 16 bytes a thread each time; %r0: thread, %r1: 16 times that.
  std::string begin() const {
    std::string text = ".reg .f32 %d<128>;\n.reg .b32 %a<4>;\nmov.u32 %r0, %tid.x;\n"
                       "shl.b32 %r1, %r0, 4;\nmul.wide.u32 %rd10, %r0, 16;\n"
                       "add.s64 %rd11, %rd0, %rd10;\nadd.s64 %rd12, %rd1, %rd10;\n";
    for (size_t i = 0; i < image.size() / 1024; ++i) {
      const std::string at = std::to_string(2048 * i);
      text += "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd11+" + at +
              "];\nst.shared.v4.u32 [%r1+" + at + "], {%r10, %r11, %r12, %r13};\n";
    }
    return text;
  }
  std::string address(int columns) const {
    return "mul.wide.u32 %rd13, %r0, " + std::to_string(2 * columns) +
           ";\nadd.s64 %rd14, %rd2, %rd13;\nadd.s64 %rd15, %rd3, %rd13;\n";
  }
  std::string load(int columns) const {
    std::string text;
    for (int i = 0; i < columns / 2; ++i)
      text += "ld.global.f32 %d" + std::to_string(i) + ", [%rd14+" + std::to_string(4 * i) + "];\n";
    return text;
  }
  std::string store(int columns) const {
    std::string text;
    for (int i = 0; i < columns / 2; ++i)
      text += "st.global.f32 [%rd15+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
    return text;
  }
  static std::string product(int columns, const std::string &a, const std::string &b,
                             const std::string &keeps, const std::string &rest) {
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + "k16.f32.bf16.bf16 " +
           registers("d", columns / 2) + ", " + a + ", " + b + ", " + keeps + ", 1, 1, " + rest +
           ";\n";
  }
  void runText(const std::string &body) {
    std::fill(out.begin(), out.end(), -1.f);
    run(kernel(4, body, ".extern .shared .align 1024 .b8 shared[];\n"));
  }

  Buffer<uint16_t> image;
  Buffer<uint32_t> ofA = Buffer<uint32_t>(128 * 4);
  Buffer<float> sums, out;
};

class GroupProducts : public Warpgroups {
protected:
  /// Columns, and the layouts of A (none: registers, of 16 k) and B; a wgmma for each 16 k.
  void compare(const std::optional<Tiles> &a, const Tiles &b, bool keeps) {
    const int columns = b.rows, depth = b.depth;
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-2, 2);
    auto at = [](int row, int width, int column) {
      return static_cast<size_t>(row * width + column);
    };
    std::vector<uint16_t> left(at(64, depth, 0)), right(at(columns, depth, 0));
    for (auto *matrix : {&left, &right})
      for (uint16_t &number : *matrix)
        number = toBf16(uniform(random));
    const int beginOfB = a ? (64 * depth * 2 + 1023) / 1024 * 1024 : 0;
    image.assign(static_cast<size_t>((beginOfB + columns * depth * 2) / 2), 0);
    sums.resize(at(128, columns / 2, 0)), out.resize(sums.size());
    for (float &sum : sums)
      sum = uniform(random);
    for (int k = 0; k < depth; ++k) {
      for (int row = 0; a && row < 64; ++row)
        image[static_cast<size_t>(a->place(row, k) / 2)] = left[at(row, depth, k)];
      for (int column = 0; column < columns; ++column)
        image[static_cast<size_t>((beginOfB + b.place(column, k)) / 2)] =
            right[at(column, depth, k)];
    }
    for (int thread = 0; !a && thread < 128; ++thread)
      for (int i = 0; i < 4; ++i) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8,
                  k = thread % 4 * 2 + i / 2 * 8;
        ofA[at(thread, 4, i)] =
            left[at(row, depth, k)] | static_cast<uint32_t>(left[at(row, depth, k + 1)]) << 16;
      }
    passAll();
    std::string body = begin() + proxyFence + barrier + address(columns) +
                       (keeps ? load(columns) : "") +
                       (a ? "" : "ld.global.v4.u32 " + registers("a", 4) + ", [%rd12];\n") + fence;
    for (int k = 0; k < depth; k += 16) {
      if (a)
        body += "mov.u64 %rd20, " + std::to_string(a->descriptor(0, k)) + ";\n";
      body += "mov.u64 %rd21, " + std::to_string(b.descriptor(beginOfB, k)) + ";\n";
      body +=
          product(columns, a ? "%rd20" : registers("a", 4), "%rd21", keeps || k ? "1" : "0",
                  (a ? std::to_string(a->transposed) + ", " : "") + std::to_string(b.transposed));
    }
    runText(body + commit + wait + store(columns));
    ASSERT_TRUE(findings.empty()) << described();
    EXPECT_EQ(counts.groupProducts, static_cast<uint64_t>(4 * columns / 8 * depth / 16));
    EXPECT_EQ(counts.products, 0u);
    auto value = [](uint16_t number) { return static_cast<double>(fromBf16(number)); };
    int wrong = 0;
    for (int row = 0; row < 64; ++row)
      for (int column = 0; column < columns; ++column) {
        const int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2,
                  i = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
        double sum = keeps ? static_cast<double>(sums[at(thread, columns / 2, i)]) : 0,
               magnitude = std::fabs(sum);
        for (int k = 0; k < depth; ++k) {
          const double term = value(left[at(row, depth, k)]) * value(right[at(column, depth, k)]);
          sum += term, magnitude += std::fabs(term);
        }
        const auto got = static_cast<double>(out[at(thread, columns / 2, i)]);
        wrong += std::fabs(got - sum) > depth / 16 * 0x1p-24 * magnitude;
      }
    EXPECT_EQ(wrong, 0) << "of " << 64 * columns;
  }
};

TEST_F(GroupProducts, OfRegisters) {
  compare({}, {64, 16, 0, false}, true);
  compare({}, {8, 16, 32, false}, false);
  compare({}, {64, 16, 128, true}, true);
  compare({}, {128, 16, 128, true}, true); // two blocks of 64 columns
  compare({}, {256, 16, 32, true}, false);
}

TEST_F(GroupProducts, OfRowsAndColumnsAlongTheirDepth) {
  for (int swizzled : {0, 32, 64, 128})
    for (int columns : {64, 128})
      compare(Tiles{64, 64, swizzled, false}, {columns, 64, swizzled, false}, swizzled == 128);
  compare(Tiles{64, 128, 128, false}, {24, 128, 128, false}, true);
  compare(Tiles{64, 64, 128, false}, {256, 64, 64, false}, true);
}

TEST_F(GroupProducts, OfTransposedMatrices) {
  for (int swizzled : {0, 32, 64, 128})
    for (int columns : {64, 128}) {
      compare(Tiles{64, 64, 128, false}, {columns, 64, swizzled, true}, true);
      compare(Tiles{64, 64, swizzled, true}, {columns, 64, 128, false}, false);
      compare(Tiles{64, 32, swizzled, true}, {columns, 32, swizzled, true}, true);
    }
}

/// 8 columns, A in registers, B of 256 bytes in cores of 8 x 8 at %rd21, sums of ones. Words behind
/// B are there and written.
class GroupChecks : public Warpgroups {
protected:
  GroupChecks() {
    image.assign(1024, 0x3f80), sums.assign(128 * 4, 1), out.resize(128 * 4);
    std::fill(ofA.begin(), ofA.end(), 0x3f803f80);
    passAll();
    launch.sharedBytes *= 2;
  }
  std::string start() const {
    return begin() + address(8) + load(8) + "ld.global.v4.u32 " + registers("a", 4) +
           ", [%rd12];\nmov.u64 %rd21, " + std::to_string(Tiles{8, 16, 0, false}.descriptor(0, 0)) +
           ";\n";
  }
  static std::string once(const std::string &keeps = "1") {
    return product(8, registers("a", 4), "%rd21", keeps, "0");
  }
  /// A by a descriptor, %rd20, with no k of its own: of 64 rows of 32 bytes.
  std::string described(const std::string &a, const std::string &b) const {
    return start() + proxyFence + barrier + fence + "mov.u64 %rd20, " + a + ";\nmov.u64 %rd21, " +
           b + ";\n" + product(8, "%rd20", "%rd21", "1", "0, 0") + commit + wait;
  }
  using MachineTest::described;
  void expect(const Kinds &wanted, const std::string &body) {
    runText(body);
    EXPECT_EQ(kinds(), wanted) << described();
  }
  bool says(const std::string &what) const {
    return std::any_of(findings.begin(), findings.end(),
                       [&](auto &one) { return one.message.find(what) != std::string::npos; });
  }
  const std::string ordered = proxyFence + barrier + fence, end = commit + wait + store(8);
};

TEST_F(GroupChecks, AllIsRight) {
  expect({}, start() + ordered + once() + end);
  EXPECT_EQ(out[300], 17.f);
  // One after the other to the same sums, in groups of their own; more than one wait.
  expect({}, start() + ordered + once() + commit + once() + commit +
                 "wgmma.wait_group.sync.aligned 1;\n" + wait + store(8));
  EXPECT_EQ(out[300], 33.f);
  expect({}, start() + "setp.ne.s32 %p1, %r0, -1;\n" + ordered + once("%p1") + end);
  EXPECT_EQ(out[300], 17.f);
  expect({}, start() + "setp.eq.s32 %p1, %r0, -1;\n" + ordered + once("%p1") + end);
  EXPECT_EQ(out[300], 16.f);
}

TEST_F(GroupChecks, FencesAreInFrontOfProducts) {
  expect({Kind::Warpgroup}, start() + proxyFence + barrier + once() + end);
  EXPECT_TRUE(says("no wgmma.fence"));
  expect({Kind::Warpgroup}, start() + ordered + once() + commit + wait + once() + end);
  expect({}, start() + ordered + once() + commit + wait + fence + once() + end);
}

TEST_F(GroupChecks, SumsAreWaitedFor) {
  const std::string first = start() + ordered + once() + commit;
  expect({Kind::Uninitialized, Kind::Warpgroup}, first + "st.global.f32 [%rd15], %d0;\n");
  EXPECT_TRUE(says("stores a sum that wgmma.wait_group has not been waited for"));
  expect({Kind::Uninitialized, Kind::Warpgroup},
         first + "add.f32 %f0, %d0, %d1;\nst.global.f32 [%rd15], %f0;\n");
  EXPECT_TRUE(says("or a wgmma that is not waited for"));
  // All but the last group; and a group that was not committed.
  expect({Kind::Uninitialized, Kind::Warpgroup},
         first + "wgmma.wait_group.sync.aligned 1;\nst.global.f32 [%rd15], %d0;\n");
  expect({Kind::Uninitialized, Kind::Warpgroup},
         start() + ordered + once() + wait + "st.global.f32 [%rd15], %d0;\n");
  // The first group is done, and the second one's sums are others; or they are the same.
  const std::string other = [] {
    std::string text = once("0");
    for (size_t at; (at = text.find("%d")) != std::string::npos;)
      text.replace(at, 2, "%f");
    return text;
  }();
  const std::string then = commit + "wgmma.wait_group.sync.aligned 1;\n" + store(8) + wait;
  expect({}, first + other + then);
  expect({Kind::Uninitialized, Kind::Uninitialized, Kind::Uninitialized, Kind::Uninitialized},
         first + once() + then);
}

TEST_F(GroupChecks, SumsAreLeftAloneUntilThen) {
  const std::string write = "mov.f32 %d1, 0f00000000;\n";
  expect({Kind::Warpgroup}, start() + ordered + once() + write + end);
  EXPECT_TRUE(says("writes a sum"));
  expect({Kind::Warpgroup}, start() + ordered + once() + write + once() + end);
  expect({}, start() + ordered + once() + commit + wait + write + fence + once() + end);
}

TEST_F(GroupChecks, ProductsAreWaitedForAtTheEnd) {
  expect({Kind::Warpgroup}, start() + ordered + once() + commit);
  EXPECT_TRUE(says("has not waited"));
  expect({Kind::Warpgroup}, start() + ordered + once());
}

TEST_F(GroupChecks, ProxiesAreOrderedByTheThreadThatWrites) {
  const std::string what = "without its fence.proxy.async between";
  expect({Kind::Warpgroup}, start() + barrier + fence + once() + end);
  EXPECT_TRUE(says(what));
  // In front of what is written; of another thread; behind the barrier.
  expect({Kind::Warpgroup}, proxyFence + start() + barrier + fence + once() + end);
  expect({Kind::Warpgroup},
         start() + "setp.ne.s32 %p1, %r0, 5;\n@%p1 " + proxyFence + barrier + fence + once() + end);
  EXPECT_TRUE(says("thread 5"));
  expect({}, start() + "fence.proxy.async;\n" + barrier + fence + once() + end);
  expect({Kind::Warpgroup}, start() + barrier + proxyFence + fence + once() + end);
  // The fence of an interval before is enough, whatever is behind it.
  expect({}, start() + proxyFence + barrier + proxyFence + fence + once() + end);
}

TEST_F(GroupChecks, CopiesNeedThatFenceBehindTheirWait) {
  const std::string copy = "cp.async.cg.shared.global [%r1], [%rd11], 16;\n"
                           "cp.async.commit_group;\n",
                    done = "cp.async.wait_group 0;\n";
  expect({}, start() + copy + done + ordered + once() + end);
  expect({Kind::Warpgroup}, start() + copy + proxyFence + done + barrier + fence + once() + end);
  runText(start() + copy + ordered + once() + done + end);
  EXPECT_TRUE(found(Kind::PendingCopy)) << described();
}

TEST_F(GroupChecks, WhatIsMultipliedStaysUntilItIsWaitedFor) {
  const std::string write = "st.shared.u32 [%r1], %r0;\n";
  expect({Kind::Race, Kind::Race}, start() + ordered + once() + write + end);
  EXPECT_TRUE(says("was overwritten by thread"));
  EXPECT_FALSE(says("thread 16"));
  // Behind a barrier; by a copy; what B does not have.
  expect({Kind::Race}, start() + ordered + once() + barrier + write + end);
  expect({Kind::Race}, start() + ordered + once() + commit + barrier +
                           "cp.async.cg.shared.global [%r1], [%rd11], 16;\n" + wait +
                           "cp.async.wait_all;\n" + store(8));
  expect({}, start() + ordered + once() + "st.shared.u32 [%r1+2048], %r0;\n" + end);
  // The wait is the warp's own: others need a barrier.
  expect({Kind::Race}, start() + ordered + once() + end + write);
  expect({}, start() + ordered + once() + end + barrier + write);
  const std::string ofFirst = "setp.lt.u32 %p1, %r0, 32;\n@%p1 " + write;
  for (bool reversed : {false, true}) {
    machine.options.reversed = reversed;
    expect({Kind::Race}, start() + ordered + once() + barrier + commit + wait + ofFirst);
  }
}

TEST_F(GroupChecks, RegistersThatAreMultipliedStay) {
  expect({Kind::Race}, start() + ordered + once() + "add.s32 %a2, %a2, 1;\n" + end);
  EXPECT_TRUE(says("a register that a wgmma"));
  expect({}, start() + ordered + once() + end + "add.s32 %a2, %a2, 1;\n");
}

TEST_F(GroupChecks, WhatIsMultipliedIsWrittenAndOrdered) {
  // Registers, sums, shared memory.
  const std::string undefined = "{%a0, %a1, %a2, %r30}";
  expect({Kind::Uninitialized}, start() + ordered + product(8, undefined, "%rd21", "1", "0") + end);
  expect({Kind::Uninitialized, Kind::Uninitialized},
         start() + "mov.f32 %d2, %f20;\n" + ordered + once() + end);
  expect({Kind::Uninitialized}, start() + "add.s64 %rd21, %rd21, 128;\n" + ordered + once() + end);
  // No barrier between what is written and the product.
  expect({Kind::Race}, start() + proxyFence + fence + once() + end);
}

TEST_F(GroupChecks, DescriptorsAreOfMatrices) {
  auto text = [](uint64_t bits) { return std::to_string(bits); };
  image.assign(64 * 64 * 2 + 64 * 8, 0x3f80);
  passAll();
  const Tiles a{64, 64, 128, false}, b{8, 64, 128, false};
  const uint64_t ofA = a.descriptor(0, 0), ofB = b.descriptor(8192, 0);
  expect({}, described(text(ofA), text(ofB)));
  expect({}, described(text(ofA + 6), text(ofB + 4))); // steps of 16 k
  expect({Kind::Misaligned}, described(text(ofA + 1), text(ofB)));
  expect({Kind::Misaligned}, described(text(ofA), text(ofB + 8))); // the next row
  expect({Kind::Trap}, described(text(ofA | uint64_t(1) << 49), text(ofB)));
  expect({Kind::Trap}, described(text(ofA), text(ofB | 0x4000)));
  // Rows that are farther apart, and a begin behind the end.
  expect({Kind::Bounds}, described(text(ofA | uint64_t(0x1000) << 32), text(ofB)));
  expect({Kind::Bounds}, described(text(ofA), text(ofB + 0x1000)));
  // Tiles of other swizzles begin at other multiples.
  const Tiles narrow{64, 64, 32, false};
  expect({Kind::Misaligned}, described(text(narrow.descriptor(32, 0)), text(ofB)));
  expect({}, described(text(narrow.descriptor(256, 0)), text(ofB)));
  expect({Kind::Uninitialized},
         start() + ordered + product(8, "%rd30", "%rd21", "1", "0, 0") + end);
  expect({Kind::Divergence}, start() + "cvt.u64.u32 %rd22, %r0;\nadd.s64 %rd21, %rd21, %rd22;\n" +
                                 ordered + once() + commit + wait);
}

TEST_F(GroupChecks, GroupsAreWhole) {
  const std::string some = "setp.lt.u32 %p1, %r0, ", skip = ";\n@%p1 bra end;\n";
  const std::string last = "end:\n";
  expect({Kind::Divergence}, start() + ordered + some + "7" + skip + once() + commit + wait + last);
  EXPECT_TRUE(says("is elsewhere"));
  expect({Kind::Divergence},
         start() + ordered + some + "32" + skip + once() + commit + wait + last);
  EXPECT_TRUE(says("do not multiply the same"));
  launch.threads = 96;
  expect({Kind::Divergence},
         "mov.u64 %rd21, 0;\n.reg .f32 %d<4>;\n.reg .b32 %a<4>;\n" + fence + once("0"));
  EXPECT_TRUE(says("for which the block has too few"));
}

TEST_F(GroupChecks, OperandsThatAreNotRunAreNamed) {
  auto complaint = [&](std::string text, const std::string &from, const std::string &to) {
    text.replace(text.find(from), from.size(), to);
    std::string what;
    auto loaded = Image::load(kernel(0, ".reg .f32 %d<4>;\n.reg .b32 %a<4>;\n" + text), what);
    EXPECT_TRUE(loaded) << what;
    EXPECT_FALSE(loaded->find("k", what));
    return what;
  };
  auto ends = [](const std::string &text, const std::string &with) { return text.ends_with(with); };
  EXPECT_TRUE(ends(complaint(once(), ", 1, 1, 1", ", 1, -1, 1"), "only factors of 1 are run here"));
  EXPECT_TRUE(ends(complaint(once(), "n8k", "n12k"), "the opcode is not known"));
  EXPECT_TRUE(ends(complaint(once(), "n8k", "n264k"), "the opcode is not known"));
  EXPECT_TRUE(ends(complaint(once(), "n8k", "n16k"), "the vector has another length"));
  EXPECT_TRUE(ends(complaint(once(), ", 0;", ", 2;"), "matrices are transposed (1) or not (0)"));
  EXPECT_TRUE(ends(complaint(once(), ", 0;", ";"), "7 operands are needed, not 6"));
}

TEST_F(GroupChecks, Counts) {
  // A group reads 64 columns of B from registers, or both: 16 wavefronts for each.
  image.assign(64 * 16 * 2, 0x3f80);
  sums.assign(128 * 32, 1), out.resize(sums.size());
  passAll();
  const std::string operand = std::to_string(Tiles{64, 16, 32, false}.descriptor(0, 0));
  const std::string first = begin() + "mov.u64 %rd20, " + operand + ";\nld.global.v4.u32 " +
                            registers("a", 4) + ", [%rd12];\n" + ordered;
  runText(first);
  const uint64_t before = counts.sharedWavefronts;
  for (bool inRegisters : {true, false}) {
    runText(first +
            product(64, inRegisters ? registers("a", 4) : "%rd20", "%rd20", "0",
                    inRegisters ? "0" : "0, 0") +
            commit + wait);
    EXPECT_EQ(kinds(), Kinds{}) << described();
    EXPECT_EQ(counts.groupProducts, 4u * 8);
    EXPECT_EQ(counts.instructions[static_cast<size_t>(Pipe::Tensor)], 4u);
    EXPECT_EQ(counts.sharedWavefronts - before, inRegisters ? 16u : 32u);
  }
}

TEST_F(GroupChecks, TimeAlone) {
  machine.options.timeline = true;
  auto cycles = [&](const std::string &body) {
    runText(start() + ordered + body);
    EXPECT_EQ(kinds(), Kinds{}) << described();
    return counts.alone[0];
  };
  // wgmma of one warp queue, whatever their groups are: 8 columns take 4 cycles.
  const uint64_t none = cycles(commit + wait), one = cycles(once() + commit + wait);
  EXPECT_EQ(cycles(once() + once() + once() + commit + wait) - one, 2u * 4);
  EXPECT_EQ(cycles(once() + commit + once() + commit + wait) - one, 4u);
  // The fence and the wgmma go in 2 cycles, and sums are there 4 + 33 later, when all have been
  // issued; without it fence, commit and wait take 3.
  EXPECT_EQ(one - none, 2u + 37 - 3);
  EXPECT_EQ(cycles(once() + commit + wait + fence + once() + commit + wait) - one, 2u + 37);
}

} // namespace
} // namespace hybrid::ptx::test
