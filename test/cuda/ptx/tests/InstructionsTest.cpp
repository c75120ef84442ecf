//===- InstructionsTest.cpp - what single instructions compute --------------===//
#include "test/cuda/ptx/Numbers.h"
#include "test/cuda/ptx/tests/MachineTest.h"
#include <cmath>
#include <random>

namespace hybrid::ptx::test {
namespace {

class Instructions : public MachineTest {
protected:
  /// What a body leaves in %r9 and %rd39, of thread 0.
  uint32_t word(const std::string &body) {
    return static_cast<uint32_t>(value(body + "\ncvt.u64.u32 %rd39, %r9;"));
  }
  uint64_t value(const std::string &body) {
    Buffer<uint64_t> out(1);
    allocations.clear(), launch = Launch();
    pass(out);
    launch.threads = 1;
    run(kernel(1, body + "\nst.global.u64 [%rd0], %rd39;"));
    EXPECT_TRUE(findings.empty()) << described();
    return out[0];
  }
  float number(const std::string &body) {
    return std::bit_cast<float>(word(body + "\nmov.b32 %r9, %f9;"));
  }
  static std::string literal(float x) {
    char text[16];
    std::snprintf(text, sizeof(text), "0f%08X", std::bit_cast<uint32_t>(x));
    return text;
  }
};

TEST_F(Instructions, IntegersWrapAndShiftsClamp) {
  EXPECT_EQ(word("mov.u32 %r1, 0xffffffff; add.s32 %r9, %r1, 2;"), 1u);
  EXPECT_EQ(word("mov.u32 %r1, -7; mov.u32 %r2, 2; div.s32 %r9, %r1, %r2;"),
            static_cast<uint32_t>(-3));
  EXPECT_EQ(word("mov.u32 %r1, -7; mov.u32 %r2, 2; rem.s32 %r9, %r1, %r2;"),
            static_cast<uint32_t>(-1));
  EXPECT_EQ(word("mov.u32 %r1, -8; shr.s32 %r9, %r1, 40;"), 0xffffffffu);
  EXPECT_EQ(word("mov.u32 %r1, -8; shr.u32 %r9, %r1, 40;"), 0u);
  EXPECT_EQ(word("mov.u32 %r1, -8; shl.b32 %r9, %r1, 32;"), 0u);
  EXPECT_EQ(word("mov.u32 %r1, 0x80000000; mul.hi.s32 %r9, %r1, 2;"), 0xffffffffu);
  EXPECT_EQ(word("mov.u32 %r1, 0x80000000; mul.hi.u32 %r9, %r1, 2;"), 1u);
  EXPECT_EQ(value("mov.u32 %r1, -3; mul.wide.s32 %rd39, %r1, 5;"), static_cast<uint64_t>(-15));
  EXPECT_EQ(value("mov.u32 %r1, -3; mul.wide.u32 %rd39, %r1, 5;"), uint64_t(0xfffffffd) * 5);
  EXPECT_EQ(value("mov.u64 %rd10, -1; mul.hi.u64 %rd39, %rd10, %rd10;"), uint64_t(-2));
}

TEST_F(Instructions, BitsAreMovedAsTheManualSays) {
  EXPECT_EQ(
      word("mov.u32 %r1, 0x00030002; mov.u32 %r2, 0x11220705; mov.u32 %r3, 1000; dp2a.lo.u32.u32 "
           "%r9, %r1, %r2, %r3;"),
      1000u + 2 * 5 + 3 * 7);
  EXPECT_EQ(word("mov.u32 %r1, 0x0000abcd; mov.u32 %r2, 0xffff; bfi.b32 %r9, %r1, %r2, 8, 4;"),
            0xfdffu);
  EXPECT_EQ(word("mov.u32 %r1, 0xf0; bfe.s32 %r9, %r1, 4, 4;"), 0xffffffffu);
  EXPECT_EQ(word("mov.u32 %r1, 0xf0; bfe.u32 %r9, %r1, 4, 4;"), 0xfu);
  EXPECT_EQ(
      word("mov.u32 %r1, 0x33221100; mov.u32 %r2, 0x77665544; prmt.b32 %r9, %r1, %r2, 0x7531;"),
      0x77553311u);
  EXPECT_EQ(word("mov.u32 %r1, 0x000000ff; mov.u32 %r2, 0; prmt.b32 %r9, %r1, %r2, 0x8888;"),
            0xffffffffu);
  EXPECT_EQ(
      word("mov.u32 %r1, 0x12345678; mov.u32 %r2, 0x9abcdef0; shf.l.wrap.b32 %r9, %r1, %r2, 8;"),
      0xbcdef012u);
  EXPECT_EQ(
      word("mov.u32 %r1, 0x12345678; mov.u32 %r2, 0x9abcdef0; shf.r.wrap.b32 %r9, %r1, %r2, 8;"),
      0xf0123456u);
  EXPECT_EQ(word("mov.u32 %r1, 0xf0; mov.u32 %r2, 0xcc; mov.u32 %r3, 0xaa; lop3.b32 %r9, %r1, %r2, "
                 "%r3, 0x96;"),
            0xf0u ^ 0xcc ^ 0xaa);
  EXPECT_EQ(word("mov.b64 %rd10, 0x1122334455667788; mov.b64 {%r1, %r9}, %rd10;"), 0x11223344u);
  EXPECT_EQ(value("mov.u32 %r1, 5; mov.u32 %r2, 6; mov.b64 %rd39, {%r1, %r2};"),
            uint64_t(6) << 32 | 5);
  EXPECT_EQ(word("mov.b64 %rd10, 0x00ffffffffffffff; clz.b64 %r9, %rd10;"), 8u);
}

TEST_F(Instructions, CarriesGoFromOneToTheNext) {
  EXPECT_EQ(word("mov.u32 %r1, -1; mov.u32 %r2, 0; add.cc.u32 %r3, %r1, 1; addc.u32 %r9, %r2, 4;"),
            5u);
  EXPECT_EQ(word("mov.u32 %r1, 0; mov.u32 %r2, 9; sub.cc.u32 %r3, %r1, 1; subc.u32 %r9, %r2, 4;"),
            4u);
  // The square of 2^32 - 1 is 2^64 - 2^33 + 1.
  const std::string square = "mov.u32 %r1, -1; mov.u32 %r2, -1; mad.lo.cc.u32 %r3, %r1, %r2, ";
  EXPECT_EQ(word(square + "0; madc.hi.u32 %r9, %r1, %r2, 0;"), 0xfffffffeu);
  EXPECT_EQ(word(square + "-1; madc.hi.u32 %r9, %r1, %r2, 0;"), 0xffffffffu);
  EXPECT_EQ(word(square + "-1; madc.hi.u32 %r9, %r1, %r2, 1;"), 0u);
}

TEST_F(Instructions, RoundingIsThatOfTheInstruction) {
  const float third = 1.f / 3;
  // An fma is rounded once.
  EXPECT_EQ(
      number("mov.f32 %f1, " + literal(third) + "; fma.rn.f32 %f9, %f1, 0f40400000, 0fBF800000;"),
      std::fma(third, 3.f, -1.f));
  EXPECT_EQ(number("mov.f32 %f1, " + literal(third) +
                   "; mul.f32 %f2, %f1, 0f40400000; add.f32 %f9, %f2, 0fBF800000;"),
            0.f);
  EXPECT_EQ(number("mov.f32 %f1, 0f3F800000; add.rz.f32 %f9, %f1, " + literal(0x1.8p-24f) + ";"),
            1.f);
  EXPECT_EQ(number("mov.f32 %f1, 0f3F800000; add.rn.f32 %f9, %f1, " + literal(0x1.8p-24f) + ";"),
            std::nextafter(1.f, 2.f));
  EXPECT_EQ(word("mov.f32 %f1, " + literal(1 + 0x1p-8f) +
                 "; cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r9, %h1;"),
            0x3f80u)
      << "to even";
  EXPECT_EQ(word("mov.f32 %f1, " + literal(1 + 0x1.8p-7f) +
                 "; cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r9, %h1;"),
            0x3f82u);
  EXPECT_EQ(
      word("mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; cvt.rn.bf16x2.f32 %r9, %f1, %f2;"),
      0x3f804000u);
  EXPECT_EQ(word("mov.f32 %f1, " + literal(1 + 0x1p-11f) + "; cvt.rna.tf32.f32 %r9, %f1;"),
            std::bit_cast<uint32_t>(1 + 0x1p-10f));
  EXPECT_EQ(number("mov.f64 %fd1, 0d3FF0000010000000; cvt.rn.f32.f64 %f9, %fd1;"), 1.f);
}

TEST_F(Instructions, DenormalsGoOnlyWhereItIsSaid) {
  const std::string tiny = "mov.f32 %f1, 0f00000001; ";
  EXPECT_EQ(number(tiny + "add.f32 %f9, %f1, %f1;"), 0x1p-148f);
  EXPECT_EQ(number(tiny + "add.ftz.f32 %f9, %f1, %f1;"), 0.f);
  EXPECT_EQ(number("mov.f32 %f1, " + literal(-130.f) + "; ex2.approx.ftz.f32 %f9, %f1;"), 0.f);
  EXPECT_EQ(number("mov.f32 %f1, " + literal(-130.f) + "; ex2.approx.f32 %f9, %f1;"), 0x1p-130f);
  EXPECT_EQ(number("mov.f32 %f1, " + literal(0.5f) + "; ex2.approx.ftz.f32 %f9, %f1;"),
            std::sqrt(2.f));
}

TEST_F(Instructions, NoNumbersAndInfinitiesAreKept) {
  const std::string nan = "mov.f32 %f1, 0f7FFFFFFF; mov.f32 %f2, 0f40000000; ";
  EXPECT_EQ(number(nan + "min.f32 %f9, %f1, %f2;"), 2.f);
  EXPECT_EQ(number(nan + "max.f32 %f9, %f2, %f1;"), 2.f);
  EXPECT_TRUE(std::isnan(number(nan + "max.NaN.f32 %f9, %f2, %f1;")));
  auto holds = [&](const std::string &comparison) {
    return word(nan + "setp." + comparison + ".f32 %p1, %f1, %f2; selp.u32 %r9, 1, 0, %p1;") == 1;
  };
  EXPECT_FALSE(holds("lt"));
  EXPECT_FALSE(holds("ge"));
  EXPECT_FALSE(holds("eq"));
  EXPECT_FALSE(holds("ne"));
  EXPECT_TRUE(holds("ltu"));
  EXPECT_TRUE(holds("geu"));
  EXPECT_TRUE(holds("equ"));
  EXPECT_TRUE(holds("neu"));
  EXPECT_TRUE(holds("nan"));
  EXPECT_FALSE(holds("num"));
  EXPECT_EQ(word(nan + "cvt.rzi.s32.f32 %r9, %f1;"), 0u);
  EXPECT_EQ(word("mov.f32 %f1, 0f7F800000; cvt.rzi.s32.f32 %r9, %f1;"), 0x7fffffffu);
  EXPECT_EQ(word("mov.f32 %f1, 0fC0200000; cvt.rni.s32.f32 %r9, %f1;"), static_cast<uint32_t>(-2));
  EXPECT_EQ(number("mov.f32 %f1, 0f80000000; mov.f32 %f2, 0f40000000; copysign.f32 %f9, %f1, %f2;"),
            -2.f);
}

/// What each of 32 lanes has in %r9.
class Lanes : public MachineTest {
protected:
  Buffer<uint32_t> lanes(const std::string &body) {
    Buffer<uint32_t> out(32);
    allocations.clear(), launch = Launch();
    pass(out);
    run(kernel(1,
               "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n" +
                   body + "\nst.global.u32 [%rd11], %r9;"));
    EXPECT_TRUE(findings.empty()) << described();
    return out;
  }
};

TEST_F(Lanes, ShufflesKeepTheirSegments) {
  auto up = lanes("shfl.sync.up.b32 %r9|%p1, %r0, 3, 0, -1;");
  auto down = lanes("shfl.sync.down.b32 %r9|%p1, %r0, 3, 31, -1;");
  auto part = lanes("shfl.sync.down.b32 %r9, %r0, 3, 0x181f, -1;"); // segments of 8
  auto index = lanes("shfl.sync.idx.b32 %r9, %r0, 9, 31, -1;");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(up[lane], lane < 3 ? lane : lane - 3);
    EXPECT_EQ(down[lane], lane > 28 ? lane : lane + 3);
    EXPECT_EQ(part[lane], lane % 8 > 4 ? lane : lane + 3);
    EXPECT_EQ(index[lane], 9u);
  }
  auto is = lanes("shfl.sync.up.b32 %r1|%p1, %r0, 3, 0, -1;\nselp.u32 %r9, 1, 0, %p1;");
  EXPECT_EQ(is[2], 0u);
  EXPECT_EQ(is[3], 1u);
}

TEST_F(Lanes, VotesAndReductionsAreOfAll) {
  EXPECT_EQ(lanes("setp.lt.u32 %p1, %r0, 5;\nvote.sync.ballot.b32 %r9, %p1, -1;")[31], 31u);
  EXPECT_EQ(lanes("redux.sync.add.s32 %r9, %r0, -1;")[7], 496u);
  EXPECT_EQ(lanes("activemask.b32 %r9;")[0], 0xffffffffu);
}

TEST_F(Lanes, LoopsOfDifferentLengthMeetAgain) {
  // Lane i goes round i times; an inner branch; then all are together for the shuffle.
  auto out = lanes("mov.u32 %r1, 0; mov.u32 %r2, 0;\nsetp.eq.s32 %p1, %r0, 0;\n@%p1 bra done;\n"
                   "again:\nadd.s32 %r2, %r2, 1;\nand.b32 %r3, %r2, 1;\nsetp.eq.s32 %p2, %r3, "
                   "0;\n@%p2 bra even;\n"
                   "add.s32 %r1, %r1, 10;\nbra.uni next;\neven:\nadd.s32 %r1, %r1, 1;\nnext:\n"
                   "setp.lt.s32 %p3, %r2, %r0;\n@%p3 bra again;\ndone:\nshfl.sync.bfly.b32 %r9, "
                   "%r1, 1, 31, -1;");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t other = lane ^ 1;
    EXPECT_EQ(out[lane], (other + 1) / 2 * 10 + other / 2) << lane;
  }
}

TEST_F(Lanes, ReturnsLeaveTheOthersToGoOn) {
  Buffer<uint32_t> out(32, 5);
  pass(out);
  run(kernel(1, "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n"
                "setp.gt.u32 %p1, %r0, 7;\n@%p1 ret;\nst.global.u32 [%rd11], %r0;"));
  EXPECT_TRUE(findings.empty()) << described();
  EXPECT_EQ(out[7], 7u);
  EXPECT_EQ(out[8], 5u);
}

TEST_F(Lanes, FunctionsAreCalledByAPartOfAWarp) {
  Buffer<uint32_t> out(32, 5);
  pass(out);
  run(kernel(
      1,
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n"
      "mov.u32 %r9, 100;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 bra end;\n{\n.param .b32 "
      "a;\nst.param.b32 [a+0], %r0;\n"
      ".param .b32 back;\ncall.uni (back), twice, (a);\nld.param.b32 %r9, [back+0];\n}\nend:\n"
      "st.global.u32 [%rd11], %r9;",
      ".func (.param .b32 result) twice(.param .b32 given)\n{\n.reg .b32 %r<3>;\n.reg .pred "
      "%p<2>;\n"
      "ld.param.b32 %r1, [given];\nsetp.gt.u32 %p1, %r1, 20;\n@%p1 bra large;\nadd.s32 %r1, %r1, "
      "%r1;\n"
      "st.param.b32 [result+0], %r1;\nret;\nlarge:\nst.param.b32 [result+0], 7;\nret;\n}\n"));
  EXPECT_TRUE(findings.empty()) << described();
  EXPECT_EQ(out[3], 100u);
  EXPECT_EQ(out[16], 32u);
  EXPECT_EQ(out[20], 40u);
  EXPECT_EQ(out[21], 7u);
}

TEST_F(Lanes, VariablesOfTheModuleHaveTheirContent) {
  Buffer<float> out(4, 0);
  pass(out);
  launch.threads = 1;
  run(kernel(1,
             "mov.u64 %rd10, table;\nld.global.nc.f32 %f1, [%rd10+4];\nst.global.f32 [%rd0], %f1;\n"
             "ld.global.u8 %r1, [bytes+2];\ncvt.rn.f32.u32 %f2, %r1;\nst.global.f32 [%rd0+4], %f2;",
             ".global .align 4 .f32 table[2] = {0f3F800000, 0f40400000};\n.global .align 1 .b8 "
             "bytes[4] = {1, 2, 200};\n"));
  EXPECT_TRUE(findings.empty()) << described();
  EXPECT_EQ(out[0], 3.f);
  EXPECT_EQ(out[1], 200.f);
}

//===- Products of matrices -------------------------------------------------===//

/// d = a b + c of a warp, fragments laid out by hand from the manual's formulas.
class Products : public MachineTest {
protected:
  template <int depth> void compare(const std::string &opcode, bool isBf16, double bound) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-2, 2);
    double a[16][depth], b[depth][8], c[16][8];
    auto draw = [&] {
      const float x = uniform(random);
      return isBf16 ? static_cast<double>(fromBf16(toBf16(x)))
                    : static_cast<double>(std::bit_cast<float>(toTf32(x)));
    };
    for (auto &row : a)
      for (double &x : row)
        x = draw();
    for (auto &row : b)
      for (double &x : row)
        x = draw();
    for (auto &row : c)
      for (double &x : row)
        x = static_cast<double>(uniform(random));
    auto bits = [](double x) { return std::bit_cast<uint32_t>(static_cast<float>(x)); };
    auto pair = [&](double low, double high) {
      return bits(low) >> 16 | (bits(high) & 0xffff0000);
    };
    const int ofA = isBf16 ? depth / 4 : 4, ofB = ofA / 2, words = ofA + ofB + 4;
    Buffer<uint32_t> in(static_cast<size_t>(32 * words)), out(32 * 4);
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane >> 2, t = lane & 3;
      uint32_t *to = &in[static_cast<size_t>(lane * words)];
      if (isBf16)
        for (int i = 0; i < depth / 2; ++i) { // row and column of element i of a, as the manual
          const int row = (i < 2 || (i >= 4 && i < 6)) ? g : g + 8, // gives them
              column = t * 2 + (i & 1) + (i >= 4 ? 8 : 0);
          if (i % 2 == 0)
            to[i / 2] = pair(a[row][column], a[row][column + 1]);
        }
      else
        for (int i = 0; i < 4; ++i)
          to[i] = bits(a[i == 0 || i == 2 ? g : g + 8][i < 2 ? t : t + 4]);
      for (int i = 0; i < ofB; ++i)
        to[ofA + i] =
            isBf16 ? pair(b[t * 2 + 8 * i][g], b[t * 2 + 8 * i + 1][g]) : bits(b[t + 4 * i][g]);
      for (int i = 0; i < 4; ++i)
        to[ofA + ofB + i] = bits(c[i < 2 ? g : g + 8][t * 2 + (i & 1)]);
    }
    pass(in), pass(out);
    auto registers = [](int first, int count) {
      std::string all = "{%r" + std::to_string(first);
      for (int i = 1; i < count; ++i)
        all += ", %r" + std::to_string(first + i);
      return all + "}";
    };
    std::string body = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd10, %r0, " +
                       std::to_string(4 * words) +
                       ";\nadd.s64 %rd11, %rd0, %rd10;\n"
                       "mul.wide.u32 %rd12, %r0, 16;\nadd.s64 %rd13, %rd1, %rd12;\n";
    for (int i = 0; i < words; ++i)
      body += "ld.global.u32 %r" + std::to_string(10 + i) + ", [%rd11+" + std::to_string(4 * i) +
              "];\n";
    const std::string sums = registers(10 + ofA + ofB, 4);
    body += opcode + " " + sums + ", " + registers(10, ofA) + ", " + registers(10 + ofA, ofB) +
            ", " + sums + ";\nst.global.v4.u32 [%rd13], " + sums + ";";
    run(kernel(2, body));
    ASSERT_TRUE(findings.empty()) << described();
    EXPECT_EQ(counts.products, 1u);
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        double sum = c[row][column], magnitude = std::fabs(sum);
        for (int k = 0; k < depth; ++k)
          sum += a[row][k] * b[k][column], magnitude += std::fabs(a[row][k] * b[k][column]);
        const int lane = (row % 8) * 4 + column / 2, i = row / 8 * 2 + column % 2;
        const float got = std::bit_cast<float>(out[static_cast<size_t>(lane * 4 + i)]);
        EXPECT_NEAR(static_cast<double>(got), sum, bound * magnitude) << row << ", " << column;
      }
  }
};

TEST_F(Products, Bf16FragmentsAreThoseOfTheManual) {
  compare<16>("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", true, 0x1p-24);
}
TEST_F(Products, Bf16FragmentsOfEightColumnsAreThoseOfTheManual) {
  compare<8>("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", true, 0x1p-24);
}
TEST_F(Products, Tf32FragmentsAreThoseOfTheManual) {
  compare<8>("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", false, 0x1p-24);
}

/// Lane 8 i + r writes row r of matrix i, whose numbers are 8 (8 i + r) + column, and points to it.
class Matrices : public MachineTest {
protected:
  static uint32_t pair(int matrix, int row, int column, int otherRow, int otherColumn) {
    return static_cast<uint32_t>(64 * matrix + 8 * row + column) |
           static_cast<uint32_t>(64 * matrix + 8 * otherRow + otherColumn) << 16;
  }
  Buffer<uint32_t> loaded(const std::string &opcode, const std::string &before,
                          const std::string &behind = "") {
    Buffer<uint32_t> out(32 * 4);
    launch = {}, launch.threads = 32, launch.sharedBytes = 512;
    pass(out);
    std::string body = "mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 4;\nmul.wide.u32 %rd10, %r0, 16;\n"
                       "add.s64 %rd11, %rd0, %rd10;\nmul.lo.u32 %r2, %r0, 0x00080008;\n";
    for (int i = 0; i < 4; ++i)
      body += "add.u32 %r" + std::to_string(10 + i) + ", %r2, " +
              std::to_string((2 * i) | (2 * i + 1) << 16) + ";\n";
    run(kernel(1, body + "st.shared.v4.u32 [%r1], {%r10, %r11, %r12, %r13};\n" + before + opcode +
                      " {%r20, %r21, %r22, %r23}, [%r1];\n" + behind +
                      "st.global.v4.u32 [%rd11], {%r20, %r21, %r22, %r23};"));
    return out;
  }
  static constexpr const char *inRows = "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                              *inColumns = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
                              *barrier = "bar.warp.sync -1;\n";
};

TEST_F(Matrices, AreThoseOfTheManual) {
  std::string turn;
  for (int i = 20; i < 24; ++i)
    turn += "movmatrix.sync.aligned.m8n8.trans.b16 %r" + std::to_string(i) + ", %r" +
            std::to_string(i) + ";\n";
  const auto rows = loaded(inRows, barrier);
  ASSERT_TRUE(findings.empty()) << described();
  const auto columns = loaded(inColumns, barrier);
  ASSERT_TRUE(findings.empty()) << described();
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int g = lane / 4, t = lane % 4 * 2;
      const auto at = static_cast<size_t>(4 * lane + i);
      EXPECT_EQ(rows[at], pair(i, g, t, g, t + 1));
      EXPECT_EQ(columns[at], pair(i, t, g, t + 1, g));
    }
  EXPECT_EQ(loaded(inRows, barrier, turn), columns);
}

TEST_F(Matrices, AreReadByTheLanesThatPointToThem) {
  loaded(inRows, "xor.b32 %r1, %r1, 16;\n");
  EXPECT_TRUE(found(Finding::Kind::Race)) << described();
}

} // namespace
} // namespace hybrid::ptx::test
