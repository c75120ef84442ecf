//===- ChecksTest.cpp - the machine finds what is wrong ---------------------===//
//
// Each check has a kernel with a fault, and the same kernel without.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/tests/MachineTest.h"

namespace hybrid::ptx::test {
namespace {

using Kind = Finding::Kind;
using Kinds = std::vector<Kind>;

/// 64 threads with a buffer of 64 words and 1 KB of shared memory.
class Checks : public MachineTest {
protected:
  Checks() : words(64, 7) {
    pass(words);
    launch.threads = 64, launch.sharedBytes = 1024;
  }
  /// %r0: thread, %rd10: 4 times that, %rd11: its word of the buffer, %r1: its word of shared
  /// memory.
  void runBody(const std::string &body) {
    std::fill(words.begin(), words.end(), 7);
    run(kernel(1,
               "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n"
               "mov.u64 %rd12, shared;\nadd.s64 %rd13, %rd12, %rd10;\ncvt.u32.u64 %r1, %rd13;\n" +
                   body,
               ".extern .shared .align 16 .b8 shared[];\n"));
  }
  Buffer<uint32_t> words;
};

/// Writes a word each, reads that of another thread: `between` must order it.
std::string neighbour(const std::string &between, const std::string &distance) {
  return "st.shared.u32 [%r1], %r0;\n" + between + "\nxor.b32 %r2, %r0, " + distance +
         ";\nshl.b32 %r2, %r2, 2;\ncvt.u64.u32 %rd14, %r2;\nadd.s64 %rd14, %rd12, %rd14;\n"
         "ld.shared.u32 %r3, [%rd14];\nst.global.u32 [%rd11], %r3;\n";
}

TEST_F(Checks, ReadingAnotherWarpsWordNeedsABarrier) {
  runBody(neighbour("", "32"));
  ASSERT_TRUE(found(Kind::Race)) << described();
  EXPECT_EQ(image->line(findings.back().line), "ld.shared.u32 %r3, [%rd14];");
  runBody(neighbour("bar.warp.sync -1;", "32"));
  EXPECT_TRUE(found(Kind::Race)) << "a warp's barrier does not order warps";
  runBody(neighbour("bar.sync 0;", "32"));
  EXPECT_EQ(kinds(), Kinds{}) << described();
  EXPECT_EQ(words[5], 37u);
}

TEST_F(Checks, ReadingAnotherLanesWordNeedsABarrierToo) {
  runBody(neighbour("", "1"));
  EXPECT_EQ(kinds(), Kinds{Kind::Race}) << "lanes of a warp may run apart: " << described();
  runBody(neighbour("bar.warp.sync -1;", "1"));
  EXPECT_EQ(kinds(), Kinds{}) << described();
  EXPECT_EQ(words[5], 4u);
}

TEST_F(Checks, WhatTheLaunchBeforeWritesIsWaitedFor) {
  const std::string body = "ld.global.u32 %r2, [%rd11];\nst.global.u32 [%rd11], %r2;\n";
  runBody(body);
  EXPECT_EQ(kinds(), Kinds{}) << "nothing runs before it: " << described();
  launch.overlaps = true;
  runBody(body);
  EXPECT_EQ(kinds(), (Kinds{Kind::Early, Kind::Early})) << described();
  runBody("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\n" + body);
  EXPECT_EQ(kinds(), Kinds{}) << described();
  runBody("setp.lt.u32 %p1, %r0, 32;\n@%p1 griddepcontrol.wait;\n" + body);
  ASSERT_TRUE(found(Kind::Early)) << "one warp of two has waited";
}

TEST_F(Checks, LoadsWithoutOrderAreKeptBehindTheWaitByABranch) {
  const std::string wait = "griddepcontrol.wait;\n", load = "ld.global.nc.u32 %r2, [%rd11];\n",
                    leave = "setp.gt.u32 %p1, %r0, 1000;\n@%p1 ret;\n";
  runBody(wait + load);
  EXPECT_EQ(kinds(), Kinds{}) << "nothing runs before it: " << described();
  launch.overlaps = true;
  runBody(wait + load);
  EXPECT_EQ(kinds(), Kinds{Kind::Early}) << described();
  runBody(leave + wait + load);
  EXPECT_EQ(kinds(), Kinds{Kind::Early}) << described();
  runBody(wait + leave + load);
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, OverwritingWhatOthersStillReadIsARace) {
  const std::string body = neighbour("bar.sync 0;", "1");
  runBody(body + "st.shared.u32 [%r1], 0;");
  EXPECT_EQ(kinds(), Kinds{Kind::Race}) << described();
  runBody(body + "bar.sync 0;\nst.shared.u32 [%r1], 0;");
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, ManyReadersAreAllRemembered) {
  // All read word 0, then one of them writes it.
  const std::string body = "st.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r2, [shared];\n"
                           "setp.eq.s32 %p1, %r0, 63;\n";
  runBody(body + "@%p1 st.shared.u32 [shared], %r2;");
  EXPECT_EQ(kinds(), Kinds{Kind::Race}) << described();
  runBody(body + "bar.sync 0;\n@%p1 st.shared.u32 [shared], %r2;");
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, HalvesOfAWordAreApart) {
  // Two threads write the halves of a word.
  const std::string body =
      "mov.b32 {%h1, %h2}, %r0;\nshl.b32 %r4, %r0, 1;\ncvt.u64.u32 %rd14, %r4;\n"
      "add.s64 %rd14, %rd12, %rd14;\nst.shared.u16 [%rd14], %h1;\n";
  runBody(body);
  EXPECT_EQ(kinds(), Kinds{}) << described();
  runBody(body + "ld.shared.u32 %r5, [%r1];\nsetp.ge.s32 %p1, %r0, 32;\n@%p1 bra "
                 "done;\nst.global.u32 [%rd11], %r5;\ndone:\n");
  ASSERT_FALSE(kinds().empty());
  EXPECT_EQ(kinds()[0], Kind::Race) << described();
}

TEST_F(Checks, SharedMemoryBeginsUnwritten) {
  const std::string read = "ld.shared.u32 %r2, [%r1];\n";
  runBody(read + "st.global.u32 [%rd11], %r2;");
  EXPECT_EQ(kinds(), Kinds{Kind::Uninitialized}) << described();
  runBody(read + "setp.eq.s32 %p1, %r2, 0;\n@%p1 bra end;\nend:");
  EXPECT_EQ(kinds(), Kinds{Kind::Uninitialized}) << described();
  runBody(read);
  EXPECT_EQ(kinds(), Kinds{}) << "reading alone decides nothing";
  runBody("st.shared.u32 [%r1], 0;\n" + read + "st.global.u32 [%rd11], %r2;");
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, UnwrittenRegistersAreFoundWhereTheyDecide) {
  runBody("add.s32 %r3, %r2, 1;\nst.global.u32 [%rd11], %r3;");
  EXPECT_EQ(kinds(), Kinds{Kind::Uninitialized}) << described();
  runBody("ld.global.u32 %r3, [%rd20];");
  ASSERT_FALSE(kinds().empty());
  EXPECT_EQ(kinds()[0], Kind::Uninitialized) << described();
  // The choice of what was written; and what went through shared memory.
  runBody("setp.ge.s32 %p1, %r0, 0;\nselp.b32 %r3, %r0, %r2, %p1;\nst.global.u32 [%rd11], %r3;");
  EXPECT_EQ(kinds(), Kinds{}) << described();
  runBody("st.shared.u32 [%r1], %r2;\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%rd11], %r3;");
  EXPECT_EQ(kinds(), Kinds{Kind::Uninitialized}) << described();
}

TEST_F(Checks, LocalMemoryBeginsUnwritten) {
  const std::string local = ".local .align 8 .b8 room[16];\nmov.u64 %rd14, room;\n";
  runBody(local + "ld.local.u32 %r2, [%rd14+4];\nst.global.u32 [%rd11], %r2;");
  EXPECT_EQ(kinds(), Kinds{Kind::Uninitialized}) << described();
  runBody(local +
          "st.local.u64 [%rd14], %rd10;\nld.local.u32 %r2, [%rd14];\nst.global.u32 [%rd11], %r2;");
  EXPECT_EQ(kinds(), Kinds{}) << described();
  EXPECT_EQ(words[9], 36u);
  runBody(local + "st.local.u64 [%rd14+12], %rd10;");
  EXPECT_EQ(kinds(), Kinds{Kind::Misaligned}) << described();
  runBody(local + "st.local.u64 [%rd14+16], %rd10;");
  EXPECT_EQ(kinds(), Kinds{Kind::Bounds}) << described();
}

TEST_F(Checks, BuffersHaveTheirEnds) {
  runBody("ld.global.u32 %r2, [%rd11+4];");
  EXPECT_EQ(kinds(), Kinds{Kind::Bounds}) << described();
  EXPECT_NE(findings.at(0).message.find("byte 256 of parameter 0, which has 256"),
            std::string::npos)
      << findings[0].message;
  runBody("st.global.u32 [%rd11+-4], %r0;");
  EXPECT_EQ(kinds(), Kinds{Kind::Bounds}) << described();
  runBody("ld.shared.u32 %r2, [%r1+1024];");
  EXPECT_EQ(kinds(), Kinds{Kind::Bounds}) << described();
}

TEST_F(Checks, AnAddressStaysInTheBufferThatItComesFrom) {
  // Two buffers side by side in one allocation: from the first into the second.
  allocations.clear(), launch.arguments.clear(), launch.extents.clear();
  Buffer<uint32_t> arena(128, 1);
  const auto begin = reinterpret_cast<uint64_t>(arena.data());
  allocations = {{begin, 512, 0}};
  launch.arguments = {begin, begin + 256},
  launch.extents = {{begin, 256, 0}, {begin + 256, 256, 0}};
  const std::string address =
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n"
      "add.s64 %rd12, %rd1, %rd10;\n";
  run(kernel(2, address + "ld.global.u32 %r2, [%rd11+256];"));
  EXPECT_EQ(kinds(), Kinds{Kind::Bounds}) << described();
  run(kernel(2, address + "ld.global.u32 %r2, [%rd12];\nst.global.u32 [%rd11], %r2;"));
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, RowsOfTheGridHaveTheirOwnBuffers) {
  Buffer<uint32_t> arena(96, 1);
  const auto begin = reinterpret_cast<uint64_t>(arena.data());
  allocations = {{begin, 384, 0}};
  launch.threads = 32, launch.blocksY = 2;
  launch.arguments = {begin}, launch.extents = {{begin, 128, 256}};
  const std::string address =
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n";
  const std::string row =
      "mov.u32 %r1, %ctaid.y;\nmul.wide.u32 %rd12, %r1, 256;\nadd.s64 %rd11, %rd11, %rd12;\n";
  run(kernel(1, address + "ld.global.u32 %r2, [%rd11];"));
  EXPECT_EQ(kinds(), Kinds{Kind::Bounds}) << "row 1 reads row 0's: " << described();
  run(kernel(1, address + row + "ld.global.u32 %r2, [%rd11];"));
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, VectorsAreAligned) {
  runBody("ld.global.v2.u32 {%r2, %r3}, [%rd0+4];");
  EXPECT_EQ(kinds(), Kinds{Kind::Misaligned}) << described();
  runBody("ld.global.v2.u32 {%r2, %r3}, [%rd0+8];");
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, BlocksDoNotExchangeThroughMemory) {
  launch.blocksX = 2;
  runBody("st.global.u32 [%rd11], %r0;");
  EXPECT_EQ(kinds(), Kinds{Kind::BlockRace}) << described();
  runBody("ld.global.u32 %r2, [%rd11];");
  EXPECT_EQ(kinds(), Kinds{}) << described();
  // The second block writes what both have read.
  const std::string second =
      "ld.global.u32 %r2, [%rd11];\nmov.u32 %r3, %ctaid.x;\nsetp.eq.s32 %p1, %r3, 1;\n"
      "bar.sync 0;\n@%p1 st.global.u32 [%rd11], %r2;";
  runBody(second);
  EXPECT_EQ(kinds(), Kinds{Kind::BlockRace}) << described();
  launch.blocksX = 1;
  runBody(second);
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, LaunchesFollowOneAnother) {
  runBody("st.global.u32 [%rd11], %r0;");
  runBody("xor.b32 %r2, %r0, 32;\nmul.wide.u32 %rd14, %r2, 4;\nadd.s64 %rd14, %rd0, "
          "%rd14;\nld.global.nc.u32 %r3, [%rd14];");
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, WordsOfOneStoreAreOfOneThread) {
  runBody("st.global.u32 [%rd0], %r0;");
  EXPECT_EQ(kinds(), Kinds{Kind::Race}) << described();
}

TEST_F(Checks, WhatIsWrittenIsNotReadAsConstant) {
  runBody("st.global.u32 [%rd11], %r0;\nld.global.nc.u32 %r2, [%rd11];");
  EXPECT_EQ(kinds(), Kinds{Kind::ReadOnly}) << described();
  runBody("st.global.u32 [%rd11], %r0;\nld.global.u32 %r2, [%rd11];");
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, BarriersAreReachedByWholeWarps) {
  runBody("setp.lt.s32 %p1, %r0, 40;\n@%p1 bra end;\nbar.sync 0;\nend:");
  EXPECT_EQ(kinds(), Kinds{Kind::Divergence}) << described();
  runBody("setp.lt.s32 %p1, %r0, 40;\n@%p1 bra end;\nmov.u32 %r2, 1;\nend:\nbar.sync 0;");
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, ThreadsDoNotReturnWhileOthersWait) {
  runBody("setp.lt.s32 %p1, %r0, 32;\n@%p1 ret;\nbar.sync 0;");
  EXPECT_EQ(kinds(), Kinds{Kind::Barrier}) << described();
}

TEST_F(Checks, ExchangesHaveAllTheirLanes) {
  const std::string odd = "and.b32 %r2, %r0, 1;\nsetp.eq.s32 %p1, %r2, 0;\n@%p1 bra end;\n";
  runBody(odd + "shfl.sync.bfly.b32 %r3|%p2, %r0, 2, 31, -1;\nend:");
  EXPECT_EQ(kinds(), Kinds{Kind::Divergence}) << described();
  runBody(odd +
          "shfl.sync.bfly.b32 %r3|%p2, %r0, 2, 31, 0xaaaaaaaa;\nst.global.u32 [%rd11], %r3;\nend:");
  EXPECT_EQ(kinds(), Kinds{}) << described();
  EXPECT_EQ(words[5], 7u);
  runBody(odd +
          "shfl.sync.bfly.b32 %r3|%p2, %r0, 1, 31, 0xaaaaaaaa;\nst.global.u32 [%rd11], %r3;\nend:");
  EXPECT_EQ(kinds(), Kinds{Kind::Uninitialized}) << "from lanes that take no part: " << described();
  runBody(odd + "bar.warp.sync -1;\nend:");
  EXPECT_EQ(kinds(), Kinds{Kind::Divergence}) << described();
}

/// A word each from the buffer to shared memory.
std::string copyThen(const std::string &after) {
  return "cp.async.ca.shared.global [%r1], [%rd11], 4, 4;\ncp.async.commit_group;\n" + after +
         "ld.shared.u32 %r3, [%r1];\nst.global.u32 [%rd11], %r3;\n";
}

TEST_F(Checks, CopiesAreWaitedFor) {
  runBody(copyThen("bar.sync 0;\n"));
  ASSERT_FALSE(kinds().empty());
  EXPECT_EQ(kinds()[0], Kind::PendingCopy) << described();
  runBody(copyThen("cp.async.wait_group 1;\n"));
  ASSERT_FALSE(kinds().empty());
  EXPECT_EQ(kinds()[0], Kind::PendingCopy) << "all but the last one: " << described();
  runBody(copyThen("cp.async.wait_group 0;\n"));
  EXPECT_EQ(kinds(), Kinds{}) << described();
  EXPECT_EQ(words[3], 7u);
}

TEST_F(Checks, OthersSeeCopiesBehindABarrier) {
  const std::string other = "xor.b32 %r2, %r1, 128;\nld.shared.u32 %r3, [%r2];\n";
  const std::string copy = "cp.async.ca.shared.global [%r1], [%rd11], 4, "
                           "4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n";
  runBody(copy + other);
  EXPECT_TRUE(found(Kind::Race)) << described();
  runBody(copy + "bar.sync 0;\n" + other);
  EXPECT_EQ(kinds(), Kinds{}) << described();
}

TEST_F(Checks, CopiesDoNotOverwriteWhatIsRead) {
  runBody(
      "st.shared.u32 [%r1], 0;\nbar.sync 0;\nxor.b32 %r2, %r1, 128;\nld.shared.u32 %r3, [%r2];\n"
      "cp.async.ca.shared.global [%r1], [%rd11], 4, "
      "4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n");
  EXPECT_TRUE(found(Kind::Race)) << described();
}

TEST_F(Checks, CopiesOfNothingReadNothing) {
  runBody("mov.u32 %r4, 0;\ncp.async.ca.shared.global [%r1], [%rd11+4096], 4, "
          "%r4;\ncp.async.commit_group;\n"
          "cp.async.wait_group 0;\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%rd11], %r3;");
  EXPECT_EQ(kinds(), Kinds{}) << described();
  EXPECT_EQ(words[8], 0u);
}

TEST_F(Checks, LoopsEnd) {
  machine.options.mostInstructions = 1000;
  runBody("again:\nbra.uni again;");
  EXPECT_EQ(kinds(), Kinds{Kind::Endless}) << described();
}

TEST_F(Checks, TrapStops) {
  runBody("trap;");
  EXPECT_EQ(kinds(), Kinds{Kind::Trap}) << described();
}

TEST_F(Checks, WhatIsNotKnownNamesItsLine) {
  std::string complaint;
  auto loaded = Image::load(kernel(0, "wgmma.fence.sync;"), complaint);
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(loaded->find("k", complaint));
  EXPECT_EQ(complaint, "line 12: wgmma.fence.sync: the opcode is not known");
  EXPECT_FALSE(Image::load(".version 9.0\n.target sm_90a\n.texref t;\n", complaint));
  EXPECT_EQ(complaint, "line 3: '.texref' is no directive that is known here");
}

} // namespace
} // namespace hybrid::ptx::test
