//===- AttentionTest.cpp - attention against the textbook formula ---------===//
#include "codegen/kernels/Attention.h"
#include "codegen/kernels/RotaryTable.h"
#include "test/unit/kernels/AttentionReference.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;
using namespace hybrid::test;

HYBRID_DECLARE_KERNEL(rotary_table, RotaryTableParams)
HYBRID_DECLARE_KERNEL(attention_forward, AttentionParams)
HYBRID_DECLARE_KERNEL(attention_backward, AttentionParams)

namespace {

using Case = AttentionCase;
using Reference = AttentionReference;

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(testing::Message() << "batch " << c.batch << " length " << c.length << "/"
                                  << c.keyLength << " heads " << c.heads << "/" << c.kvHeads << "x"
                                  << c.headSize << " causal " << c.causal << " window " << c.window
                                  << " rotary " << c.rotaryDims << c.interleaved << " xpos "
                                  << c.xpos << " segments " << c.segments);
  Reference r(c, 1 / std::sqrt(static_cast<double>(c.headSize)));
  int64_t qRows = c.batch * c.length, kRows = c.batch * c.keyLength;
  int64_t qColumns = c.heads * c.headSize, kColumns = c.kvHeads * c.headSize;
  AttentionParams p{};
  p.batch = c.batch, p.length = c.length, p.keyLength = c.keyLength, p.heads = c.heads;
  p.kvHeads = c.kvHeads, p.headSize = c.headSize, p.causal = c.causal, p.window = c.window;
  p.rotaryDims = c.rotaryDims, p.rotaryInterleaved = c.interleaved, p.hasSegments = c.segments;
  p.scale = 1 / std::sqrt(static_cast<double>(c.headSize));
  p.qStride = qColumns + 2 * kColumns, p.kStride = kColumns + 3, p.vStride = kColumns;
  p.oStride = qColumns + 1, p.dqStride = qColumns + 5, p.dkStride = kColumns + 2;
  p.dvStride = kColumns + 4;

  Tensor<T> q(r.q, qRows, qColumns, p.qStride), k(r.k, kRows, kColumns, p.kStride);
  Tensor<T> v(r.v, kRows, kColumns, p.vStride), table;
  if (c.rotaryDims) {
    table = Tensor<T>(c.keyLength, c.rotaryDims * 2);
    callInPieces<RotaryTableParams>(rotary_table<T>, c.keyLength, {table.data()}, rotaryTableOf(c));
    EXPECT_TRUE(table.guardsIntact());
  }
  void *segments = c.segments ? r.segments.data() : nullptr;
  Tensor<T> o(qRows, qColumns, p.oStride), o2 = o, lse(1, c.batch * c.heads * c.length), lse2 = lse;
  double bound = tolerance<T>(3e-6);
  callWhole<AttentionParams>(
      attention_forward<T>, c.batch * c.heads,
      {q.data(), k.data(), v.data(), segments, table.data(), o.data(), lse.data()}, p,
      scratchOf<AttentionForward, T>(p));
  callInPieces<AttentionParams>(
      attention_forward<T>, c.batch * c.heads,
      {q.data(), k.data(), v.data(), segments, table.data(), o2.data(), lse2.data()}, p,
      scratchOf<AttentionForward, T>(p));
  EXPECT_TRUE(o.sameBits(o2) && lse.sameBits(lse2)) << "depends on the split";
  EXPECT_TRUE(o.guardsIntact() && lse.guardsIntact());
  EXPECT_LT(relativeError(o.values(), r.o), bound);
  Doubles logs = lse.values();
  for (size_t i = 0; i < logs.size(); ++i) {
    if (std::isinf(r.lse[i])) {
      EXPECT_EQ(logs[i], r.lse[i]);
    } else {
      EXPECT_NEAR(logs[i], r.lse[i], bound * (1 + std::fabs(r.lse[i])));
    }
  }

  Tensor<T> dO(r.dO, qRows, qColumns, p.oStride);
  Tensor<T> dq(qRows, qColumns, p.dqStride), dk(kRows, kColumns, p.dkStride);
  Tensor<T> dv(kRows, kColumns, p.dvStride), dq2 = dq, dk2 = dk, dv2 = dv;
  auto buffers = [&](Tensor<T> &a, Tensor<T> &b, Tensor<T> &d) -> std::vector<void *> {
    return {q.data(),   k.data(),  v.data(), segments, table.data(), o.data(),
            lse.data(), dO.data(), a.data(), b.data(), d.data()};
  };
  int64_t bytes = scratchOf<AttentionBackward, T>(p);
  callWhole(attention_backward<T>, c.batch * c.kvHeads, buffers(dq, dk, dv), p, bytes);
  callInPieces(attention_backward<T>, c.batch * c.kvHeads, buffers(dq2, dk2, dv2), p, bytes);
  EXPECT_TRUE(dq.sameBits(dq2) && dk.sameBits(dk2) && dv.sameBits(dv2));
  EXPECT_TRUE(dq.guardsIntact() && dk.guardsIntact() && dv.guardsIntact());
  EXPECT_LT(relativeError(dq.values(), r.dq), bound);
  EXPECT_LT(relativeError(dk.values(), r.dk), bound);
  EXPECT_LT(relativeError(dv.values(), r.dv), bound);
}

template <typename T> struct Attention : testing::Test {};
TYPED_TEST_SUITE(Attention, Scalars);

TYPED_TEST(Attention, AgreesForEveryLength) {
  for (int64_t length : {1, 2, 7, 8, 9, 15, 16, 17, 33, 127})
    for (bool causal : {true, false})
      check<TypeParam>({.length = length, .keyLength = length, .causal = causal});
}
TYPED_TEST(Attention, AgreesForEveryHeadSize) {
  for (int64_t headSize : {1, 2, 5, 8, 16, 24, 64, 128})
    check<TypeParam>({.batch = 1, .headSize = headSize});
}
TYPED_TEST(Attention, AgreesWithMoreKeysThanQueries) {
  for (int64_t length : {1, 5, 16, 20})
    check<TypeParam>({.length = length, .keyLength = 37, .rotaryDims = 8});
}
TYPED_TEST(Attention, GivesZeroToQueriesThatSeeNothing) {
  check<TypeParam>({.length = 20, .keyLength = 5});
  check<TypeParam>({.length = 40, .keyLength = 5, .causal = false, .window = 2});
}
TYPED_TEST(Attention, SharesKeysInGroups) {
  check<TypeParam>({.heads = 6, .kvHeads = 2, .rotaryDims = 4});
  check<TypeParam>({.heads = 4, .kvHeads = 1});
}
TYPED_TEST(Attention, SlidesItsWindow) {
  for (int64_t window : {0, 1, 4, 16, 32, 1000})
    for (bool causal : {true, false})
      check<TypeParam>({.length = 70, .keyLength = 70, .causal = causal, .window = window});
}
TYPED_TEST(Attention, Rotates) {
  for (int64_t dims : {2, 4, 8})
    for (bool interleaved : {false, true})
      for (double xpos : {0.0, 512.0, 64.0})
        check<TypeParam>({.rotaryDims = dims, .interleaved = interleaved, .xpos = xpos});
  check<TypeParam>({.headSize = 64, .rotaryDims = 64});
}
TYPED_TEST(Attention, KeepsSegmentsApart) {
  for (bool causal : {true, false})
    for (int64_t window : {-1, 5})
      check<TypeParam>({.causal = causal, .window = window, .rotaryDims = 4, .segments = true});
}

} // namespace
