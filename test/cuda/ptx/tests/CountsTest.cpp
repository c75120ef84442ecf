//===- CountsTest.cpp - counts of six kernels, counted by hand --------------===//
//
// Every expected number is derived in a comment beside it. A warp's instruction counts once; the
// prologue of kernel() is two per parameter: an ld.param (lsu) and a cvta (alu).
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/tests/MachineTest.h"
#include <cmath>

namespace hybrid::ptx::test {
namespace {

class Counting : public MachineTest {
protected:
  uint64_t of(Pipe pipe) const { return counts.instructions[static_cast<size_t>(pipe)]; }
  void expectPipes(uint64_t fma, uint64_t alu, uint64_t xu, uint64_t memory, uint64_t control) {
    EXPECT_TRUE(findings.empty()) << described();
    EXPECT_EQ(of(Pipe::Fma), fma);
    EXPECT_EQ(of(Pipe::Alu), alu);
    EXPECT_EQ(of(Pipe::Xu), xu);
    EXPECT_EQ(of(Pipe::Memory), memory);
    EXPECT_EQ(of(Pipe::Control), control);
    EXPECT_EQ(of(Pipe::Fp64), 0u);
  }
};

TEST_F(Counting, Copy) {
  // 4096 floats by 4 blocks of 256 threads, 4 floats each: 32 warps.
  Buffer<float> in(4096, 1), out(4096);
  pass(in), pass(out);
  launch.blocksX = 4, launch.threads = 256;
  run(kernel(
      2, "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.s32 %r2, %r1, 256, %r0;\n"
         "mul.wide.u32 %rd10, %r2, 16;\nadd.s64 %rd11, %rd0, %rd10;\nadd.s64 %rd12, %rd1, %rd10;\n"
         "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd11];\n"
         "st.global.v4.f32 [%rd12], {%f0, %f1, %f2, %f3};"));
  EXPECT_EQ(out[4095], 1.f);
  // A warp: mad, mul.wide; 2 cvta, 2 mov, 2 add; 2 ld.param, ld, st; ret.
  expectPipes(32 * 2, 32 * 6, 0, 32 * 4, 32);
  // A request of a warp is 32 x 16 = 512 bytes: 16 sectors, 4 lines.
  EXPECT_EQ(counts.loadRequests, 32u);
  EXPECT_EQ(counts.loadSectors, 32u * 16);
  EXPECT_EQ(counts.storeSectors, 32u * 16);
  EXPECT_EQ(counts.loadLines, 32u * 4);
  EXPECT_EQ(counts.storeLines, 32u * 4);
  EXPECT_EQ(counts.traffic[0].read, 16384u);
  EXPECT_EQ(counts.traffic[1].written, 16384u);
  EXPECT_EQ(counts.traffic[0].written + counts.traffic[1].read, 0u);
  EXPECT_EQ(counts.lanes[static_cast<size_t>(Pipe::Control)], 1024u);
}

TEST_F(Counting, StridedAccess) {
  Buffer<float> in(32 * 32, 1);
  struct Case {
    int stride;
    uint64_t sectors, lines;
  };
  // 8 floats are a sector, 32 a line.
  for (auto [stride, sectors, lines] :
       {Case{1, 4, 1}, Case{2, 8, 2}, Case{4, 16, 4}, Case{8, 32, 8}, Case{32, 32, 32}}) {
    launch = {}, allocations.clear();
    pass(in);
    run(kernel(1, "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, " + std::to_string(4 * stride) +
                      ";\nadd.s64 %rd11, %rd0, %rd10;\nld.global.f32 %f0, [%rd11];"));
    EXPECT_EQ(counts.loadSectors, sectors) << stride;
    EXPECT_EQ(counts.loadLines, lines) << stride;
    EXPECT_EQ(counts.traffic[0].read, 128u);
  }
  // All lanes one word: one sector, but every lane's bytes count as read.
  run(kernel(1, "ld.global.f32 %f0, [%rd0];"));
  EXPECT_EQ(counts.loadSectors, 1u);
  EXPECT_EQ(counts.loadLines, 1u);
  EXPECT_EQ(counts.traffic[0].read, 128u);
  // Lanes the other way round, 16 bytes apart: 16 sectors of 4 lines.
  run(kernel(1, "mov.u32 %r0, %tid.x;\nsub.s32 %r0, 31, %r0;\nmul.wide.u32 %rd10, %r0, 16;\n"
                "add.s64 %rd11, %rd0, %rd10;\nld.global.f32 %f0, [%rd11];"));
  EXPECT_EQ(counts.loadSectors, 16u);
  EXPECT_EQ(counts.loadLines, 4u);
}

TEST_F(Counting, Reduction) {
  // 128 threads: a butterfly in each of 4 warps, 4 partial sums through shared memory.
  Buffer<float> in(128, 0.5f), out(1);
  pass(in), pass(out);
  launch.threads = 128, launch.sharedBytes = 16;
  std::string body =
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n"
      "ld.global.f32 %f0, [%rd11];\n";
  for (int mask : {16, 8, 4, 2, 1})
    body += "mov.b32 %r1, %f0;\nshfl.sync.bfly.b32 %r2|%p0, %r1, " + std::to_string(mask) +
            ", 31, -1;\nmov.b32 %f1, %r2;\nadd.f32 %f0, %f0, %f1;\n";
  body += "and.b32 %r3, %r0, 31;\nsetp.eq.s32 %p1, %r3, 0;\nshr.u32 %r4, %r0, 3;\nmov.u32 %r5, "
          "shared;\n"
          "add.s32 %r6, %r5, %r4;\n@%p1 st.shared.f32 [%r6], %f0;\nbar.sync 0;\n"
          "setp.ne.s32 %p2, %r0, 0;\n@%p2 bra end;\n"
          "ld.shared.v4.f32 {%f2, %f3, %f4, %f5}, [shared];\nadd.f32 %f2, %f2, %f3;\nadd.f32 %f4, "
          "%f4, %f5;\n"
          "add.f32 %f2, %f2, %f4;\nst.global.f32 [%rd1], %f2;\nend:";
  run(kernel(2, body, ".extern .shared .align 16 .b8 shared[];\n"));
  EXPECT_EQ(out[0], 64.f);
  // Fma: mul.wide and 5 adds in 4 warps; 3 adds in warp 0.
  // Alu, 4 warps: 2 cvta, mov, add, 5 x 2 mov, and, setp, shr, mov, add, setp: 20.
  // Lsu, 4 warps: 2 ld.param, ld, 5 shfl, st.shared: 9; 2 more in warp 0.
  // Control: bar, bra, ret in 4 warps. The branch is taken by all lanes of warps 1 to 3.
  expectPipes(4 * 6 + 3, 4 * 20, 0, 4 * 9 + 2, 4 * 3);
  EXPECT_EQ(counts.barriers, 4u);
  EXPECT_EQ(counts.loadSectors, 4u * 4);
  EXPECT_EQ(counts.storeSectors, 1u);
  // A store of one lane a warp; the load is 16 bytes of one lane.
  EXPECT_EQ(counts.sharedRequests, 5u);
  EXPECT_EQ(counts.sharedWavefronts, 5u);
}

TEST_F(Counting, TransposeWithConflicts) {
  // A tile of 32 x 32 words, written by rows and read by columns; a row is `pitch` words apart.
  for (int pitch : {32, 33, 34}) {
    Buffer<float> in(1024), out(1024);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<float>(i);
    launch = {}, allocations.clear();
    pass(in), pass(out);
    launch.threads = 1024, launch.sharedBytes = static_cast<unsigned>(32 * pitch * 4);
    const std::string bytes = std::to_string(4 * pitch);
    run(kernel(
        2,
        "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 31;\nshr.u32 %r2, %r0, 5;\nmul.wide.u32 %rd10, "
        "%r0, 4;\n"
        "add.s64 %rd11, %rd0, %rd10;\nadd.s64 %rd12, %rd1, %rd10;\nld.global.f32 %f0, [%rd11];\n"
        "shl.b32 %r3, %r1, 2;\nmad.lo.s32 %r4, %r2, " +
            bytes +
            ", %r3;\nst.shared.f32 [%r4], %f0;\n"
            "bar.sync 0;\nshl.b32 %r5, %r2, 2;\nmad.lo.s32 %r6, %r1, " +
            bytes +
            ", %r5;\n"
            "ld.shared.f32 %f1, [%r6];\nst.global.f32 [%rd12], %f1;",
        ".extern .shared .align 16 .b8 shared[];\n"));
    EXPECT_EQ(out[1], 32.f);
    EXPECT_EQ(counts.sharedRequests, 64u);
    // A column's words are all in one bank, each in its own, or in 16 banks two each.
    const uint64_t column = pitch == 32 ? 32 : pitch == 33 ? 1 : 2;
    EXPECT_EQ(counts.sharedWavefronts, 32 + 32 * column) << pitch;
    EXPECT_EQ(counts.loadSectors, 128u);
    EXPECT_EQ(counts.storeSectors, 128u);
    EXPECT_EQ(counts.loadLines + counts.storeLines, 64u);
    // Fma: mul.wide and 2 mad. Alu: 2 cvta, mov, and, shr, 2 add, 2 shl.
    expectPipes(32 * 3, 32 * 9, 0, 32 * 6, 32 * 2);
  }
}

TEST_F(Counting, WideSharedAccess) {
  // 16 bytes a lane go 8 lanes at a time: 4 wavefronts; 8 bytes 16 lanes at a time: 2.
  launch.threads = 32, launch.sharedBytes = 512;
  const std::string start = "mov.u32 %r0, %tid.x;\nmov.f32 %f0, 0f00000000;\n";
  const std::string extra = ".extern .shared .align 16 .b8 shared[];\n";
  run(kernel(0, start + "shl.b32 %r1, %r0, 4;\nst.shared.v4.f32 [%r1], {%f0, %f0, %f0, %f0};",
             extra));
  EXPECT_EQ(counts.sharedWavefronts, 4u);
  run(kernel(0, start + "shl.b32 %r1, %r0, 3;\nst.shared.v2.f32 [%r1], {%f0, %f0};", extra));
  EXPECT_EQ(counts.sharedWavefronts, 2u);
}

TEST_F(Counting, ProductLoop) {
  // A warp goes round 4 times with an mma of depth 16.
  Buffer<float> out(128);
  pass(out);
  run(kernel(1, "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 16;\nadd.s64 %rd11, %rd0, %rd10;\n"
                "mov.u32 %r1, 0;\nmov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, "
                "%f0;\nmov.f32 %f3, %f0;\n"
                "mov.u32 %r2, 0x3f803f80;\n"
                "again:\nmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, "
                "{%r2, %r2, %r2, %r2}, {%r2, %r2}, {%f0, %f1, %f2, %f3};\n"
                "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p0, %r1, 4;\n@%p0 bra again;\n"
                "st.global.v4.f32 [%rd11], {%f0, %f1, %f2, %f3};"));
  EXPECT_EQ(out[77], 64.f);
  EXPECT_EQ(counts.products, 4u);
  EXPECT_EQ(of(Pipe::Tensor), 4u);
  // Alu: cvta, 7 mov, add; add and setp 4 times. Control: bra 4 times, ret.
  expectPipes(1, 9 + 8, 0, 2, 5);
  EXPECT_EQ(counts.storeSectors, 16u);
}

TEST_F(Counting, SoftmaxRow) {
  // A row of 32 numbers a warp, 2 rows.
  Buffer<float> in(64), out(64);
  for (size_t i = 0; i < 64; ++i)
    in[i] = std::sin(static_cast<float>(i));
  pass(in), pass(out);
  launch.blocksX = 2;
  auto butterfly = [](const std::string &combine) {
    std::string text;
    for (int mask : {16, 8, 4, 2, 1})
      text += "mov.b32 %r2, %f1;\nshfl.sync.bfly.b32 %r3, %r2, " + std::to_string(mask) +
              ", 31, -1;\nmov.b32 %f2, %r3;\n" + combine + " %f1, %f1, %f2;\n";
    return text;
  };
  run(kernel(
      2, "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.s32 %r4, %r1, 32, %r0;\n"
         "mul.wide.u32 %rd10, %r4, 4;\nadd.s64 %rd11, %rd0, %rd10;\nadd.s64 %rd12, %rd1, %rd10;\n"
         "ld.global.nc.f32 %f0, [%rd11];\nmov.f32 %f1, %f0;\n" +
             butterfly("max.f32") +
             "sub.f32 %f3, %f0, %f1;\nmul.f32 %f3, %f3, 0f3FB8AA3B;\nex2.approx.ftz.f32 %f4, %f3;\n"
             "mov.f32 %f1, %f4;\n" +
             butterfly("add.f32") + "div.rn.f32 %f5, %f4, %f1;\nst.global.f32 [%rd12], %f5;"));
  double sum = 0, of7 = std::exp(static_cast<double>(in[32 + 7]));
  for (size_t i = 32; i < 64; ++i)
    sum += std::exp(static_cast<double>(in[i]));
  EXPECT_NEAR(static_cast<double>(out[39]), of7 / sum, 1e-7);
  // Of each of 2 warps: fma: mad, mul.wide, sub, mul, 5 add. Alu: 2 cvta, 2 mov, 2 add, 2 mov, and
  // of the butterflies 20 mov and 5 max. Xu: ex2, div. Lsu: 2 ld.param, ld, 10 shfl, st.
  expectPipes(2 * 9, 2 * 33, 2 * 2, 2 * 14, 2);
  EXPECT_EQ(counts.loadSectors + counts.storeSectors, 16u);
}

// What tools/gpu-check predicts from, on the same kernels. Latencies are those of Timeline.h:
// parameter 8, alu and fma 4, shared 29, global 270 in L2 and 560 in memory, tensor 33, barrier 20.

TEST_F(Counting, FootprintsOfBlocks) {
  // 2 blocks of 32 threads that read 256 bytes each, twice, and write 32 of them.
  machine.options.footprints = true;
  Buffer<float> in(128, 1), out(128);
  pass(in), pass(out);
  launch.blocksX = 2;
  run(kernel(
      2,
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd10, %r0, 8;\n"
      "mul.wide.u32 %rd11, %r1, 256;\nadd.s64 %rd12, %rd0, %rd10;\nadd.s64 %rd12, %rd12, %rd11;\n"
      "ld.global.v2.f32 {%f0, %f1}, [%rd12];\nld.global.v2.f32 {%f2, %f3}, [%rd12];\n"
      "add.s64 %rd13, %rd1, %rd11;\nst.global.f32 [%rd13], %f0;"));
  EXPECT_EQ(counts.loadSectors, 2u * 2 * 8);
  EXPECT_EQ(counts.traffic[0].readSectors, 2u * 8); // the second time they are the same
  EXPECT_EQ(counts.traffic[1].writtenSectors, 2u);
  EXPECT_EQ(counts.traffic[0].writtenSectors + counts.traffic[1].readSectors, 0u);
  EXPECT_TRUE(counts.traffic[0].isKept[0] && counts.traffic[1].isKept[1]);
  EXPECT_FALSE(counts.traffic[0].isKept[1] || counts.traffic[1].isKept[0]);
  // Together, when the second block reads what the first one does.
  machine.options.together = true;
  run(kernel(2, "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 8;\nadd.s64 %rd12, %rd0, %rd10;\n"
                "ld.global.v2.f32 {%f0, %f1}, [%rd12];"));
  EXPECT_EQ(counts.loadSectors, 2u * 8);
  EXPECT_EQ(counts.traffic[0].readSectors, 8u);
}

TEST_F(Counting, WhatCachesNeedNotKeep) {
  Buffer<float> in(64, 1), out(32);
  pass(in), pass(out);
  run(kernel(2, "ld.global.cs.f32 %f0, [%rd0];\nst.global.cs.f32 [%rd1], %f0;"));
  EXPECT_FALSE(counts.traffic[0].isKept[0] || counts.traffic[1].isKept[1]);
  // One other access is enough to keep it.
  run(kernel(2, "ld.global.cs.f32 %f0, [%rd0];\nld.global.f32 %f1, [%rd0+4];"));
  EXPECT_TRUE(counts.traffic[0].isKept[0]);
}

TEST_F(Counting, TimeOfACopyAlone) {
  machine.options.timeline = true;
  Buffer<float> in(32, 1), out(32);
  pass(in), pass(out);
  run(kernel(
      2, "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n"
         "add.s64 %rd12, %rd1, %rd10;\nld.global.f32 %f0, [%rd11];\nst.global.f32 [%rd12], %f0;"));
  // ld.param 8, cvta 4, add 4: the load goes at 16, and what it loads is stored 4 cycles long.
  EXPECT_EQ(counts.alone, (Cycles{16 + 270 + 4, 16 + 560 + 4}));
}

TEST_F(Counting, LoadsOfAStretchWaitTogetherThoseOfALoopInTurn) {
  machine.options.timeline = true;
  Buffer<float> in(256, 1), out(1);
  pass(in), pass(out);
  const std::string sum = "add.f32 %f2, %f2, %f0;\nadd.f32 %f2, %f2, %f1;\n";
  run(kernel(
      2, "mov.f32 %f2, 0f00000000;\nld.global.f32 %f0, [%rd0];\nld.global.f32 %f1, [%rd0+4];\n" +
             sum + "st.global.f32 [%rd1], %f2;"));
  // Both at 12; two sums of 4, the store 4.
  EXPECT_EQ(counts.alone[0], 12u + 270 + 4 + 4 + 4);
  run(kernel(
      2, "mov.f32 %f2, 0f00000000;\nmov.u32 %r0, 0;\nagain:\nld.global.f32 %f0, [%rd0];\n"
         "add.f32 %f2, %f2, %f0;\nadd.s32 %r0, %r0, 1;\nsetp.lt.s32 %p0, %r0, 3;\n@%p0 bra again;\n"
         "st.global.f32 [%rd1], %f2;"));
  // The sum of the first round goes at 12 + 270 = 282, and no instruction behind the branch before
  // it; each later round's load at its begin and its sum 270 later; the last is there after 4.
  EXPECT_EQ(counts.alone[0], 282u + 270 + 270 + 4 + 4);
}

TEST_F(Counting, LoadsStayBehindStoresThatMayBeToTheirAddress) {
  machine.options.timeline = true;
  Buffer<float> in(4, 1), other(4, 1), out(4, 1);
  pass(in), pass(other), pass(out);
  auto twice = [&](const std::string &second, const std::string &load) {
    run(kernel(3, "ld.global.f32 %f0, [%rd0];\nst.global.f32 [%rd2], %f0;\n" + load + " %f1, [" +
                      second + "];\nst.global.f32 [%rd2+4], %f1;"));
    return counts.alone[0];
  };
  // The first store goes at 12 + 270, and the second load with it.
  EXPECT_EQ(twice("%rd1", "ld.global.f32"), 282u + 270 + 4);
  // What nobody writes may be loaded at once, and what is at another offset of the same address.
  EXPECT_EQ(twice("%rd1", "ld.global.nc.f32"), 282u + 4);
  EXPECT_EQ(twice("%rd2+8", "ld.global.f32"), 282u + 4);
}

TEST_F(Counting, TimeOfABarrierIsThatOfTheSlowestWarp) {
  machine.options.timeline = true;
  launch.threads = 64, launch.sharedBytes = 16;
  Buffer<float> in(1, 1), out(1);
  pass(in), pass(out);
  run(kernel(2,
             "mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 ld.global.f32 %f0, [%rd0];\n"
             "@%p0 st.shared.f32 [shared], %f0;\nbar.sync 0;\nld.shared.f32 %f1, [shared];\n"
             "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.global.f32 [%rd1], %f1;",
             ".extern .shared .align 16 .b8 shared[];\n"));
  // Warp 1 loads at 12 and stores to shared memory at 282; after the barrier 20, shared 29,
  // store 4.
  EXPECT_EQ(counts.alone[0], 282u + 20 + 29 + 4);
}

TEST_F(Counting, CopiesInGroupsAreThereAtTheirWait) {
  machine.options.timeline = true;
  launch.sharedBytes = 1024;
  Buffer<float> in(256, 1), out(32);
  pass(in), pass(out);
  run(kernel(2, "mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 4;\nmul.wide.u32 %rd10, %r0, 16;\nadd.s64 "
                "%rd11, %rd0, %rd10;\n"
                "cp.async.cg.shared.global [%r1], [%rd11], 16;\ncp.async.commit_group;\n"
                "cp.async.cg.shared.global [%r1+512], [%rd11+512], 16;\ncp.async.commit_group;\n"
                "cp.async.wait_group 0;\nld.shared.f32 %f0, [%r1];\nmul.wide.u32 %rd12, %r0, 4;\n"
                "add.s64 %rd13, %rd1, %rd12;\nst.global.f32 [%rd13], %f0;"));
  // Both go at 16 and are there at 286; shared 29, store 4.
  EXPECT_EQ(counts.alone[0], 286u + 29 + 4);
}

TEST_F(Counting, Profile) {
  // 2 warps; the loop runs 3 times, and its last instruction but the branch only in the first warp.
  Buffer<float> in(1, 1);
  pass(in);
  launch.threads = 64;
  machine.options.profile = true;
  run(kernel(1, "mov.u32 %r0, 0;\nmov.u32 %r2, %tid.x;\nagain:\nadd.s32 %r0, %r0, 1;\n"
                "setp.lt.s32 %p0, %r0, 3;\n@%p0 bra again;\nsetp.ge.u32 %p1, %r2, 32;\n"
                "@%p1 bra end;\nadd.s32 %r1, %r0, 1;\nend:"));
  EXPECT_TRUE(findings.empty()) << described();
  // The prologue, 2 mov, the loop, setp, bra, add, ret, and the return that ends all programs.
  EXPECT_EQ(counts.executed, (std::vector<uint64_t>{2, 2, 2, 2, 6, 6, 6, 2, 2, 1, 2, 0}));
  EXPECT_EQ(counts.wavefronts, std::vector<uint64_t>(12, 0));
}

TEST_F(Counting, ProfileOfSharedMemory) {
  // 2 warps: words of neighbours, every second one, and 16 bytes a lane that all lanes share.
  Buffer<float> in(1, 1);
  pass(in);
  launch.threads = 64;
  launch.sharedBytes = 1024;
  machine.options.profile = true;
  run(kernel(1,
             "mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\nst.shared.u32 [%r1], %r0;\n"
             "shl.b32 %r1, %r0, 3;\nst.shared.u32 [%r1+512], %r0;\nbar.sync 0;\n"
             "ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [0];",
             ".extern .shared .align 16 .b8 shared[];\n"));
  std::vector<uint64_t> wavefronts;
  for (uint64_t count : counts.wavefronts)
    if (count)
      wavefronts.push_back(count);
  EXPECT_EQ(wavefronts, (std::vector<uint64_t>{2, 4, 8})) << described();
}

} // namespace
} // namespace hybrid::ptx::test
