//===- AttentionTest.cpp - CUDA attention against the textbook formula ------===//
#include "codegen/kernels/cuda/Attention.cuh"
#include "test/unit/cuda/KernelTest.h"
#include "test/unit/kernels/AttentionReference.h"

using namespace hybrid;
using namespace hybrid::cuda;
using hybrid::cpu::test::relativeError;
using hybrid::cpu::test::Tensor;
using hybrid::test::AttentionCase;
using hybrid::test::AttentionReference;
using hybrid::test::Doubles;

namespace {

/// With gaps between rows; `gap` elements more than needed.
constexpr AttentionParams paramsOf(const AttentionCase &c, int64_t gap) {
  AttentionParams p{};
  int64_t qColumns = c.heads * c.headSize, kColumns = c.kvHeads * c.headSize;
  p.batch = c.batch, p.length = c.length, p.keyLength = c.keyLength, p.heads = c.heads;
  p.kvHeads = c.kvHeads, p.headSize = c.headSize, p.causal = c.causal, p.window = c.window;
  p.rotaryDims = c.rotaryDims, p.rotaryInterleaved = c.interleaved, p.hasSegments = c.segments;
  p.scale = 0.3;
  p.qStride = qColumns + 2 * gap, p.kStride = kColumns + gap, p.vStride = kColumns;
  p.oStride = qColumns + gap, p.dqStride = qColumns + 3 * gap, p.dkStride = kColumns + 2 * gap;
  p.dvStride = kColumns + 4 * gap;
  return p;
}

/// The table of KernelsRotaryTable, from the reference's angles.
template <typename T> Tensor<T> rotaryTable(const AttentionCase &c) {
  Tensor<T> table(c.keyLength, c.rotaryDims * 2);
  for (int64_t p = 0; p < c.keyLength; ++p)
    for (int64_t i = 0; i < c.rotaryDims / 2; ++i)
      for (int side = 0; side < 2; ++side) {
        auto [cosine, sine] = hybrid::test::angle(c, p, i, side);
        table.at(p, 4 * i + 2 * side) = static_cast<T>(cosine);
        table.at(p, 4 * i + 2 * side + 1) = static_cast<T>(sine);
      }
  return table;
}

/// What the kernels read on the column side: x, or x prepared.
template <typename T, AttentionParams P, bool prepared, bool isKey, int64_t rows, int64_t heads,
          int64_t stride, int64_t rotaryDims, int64_t shift>
struct Streamed {
  using Memory = typename StreamedOf<T, P, prepared>::type;
  std::vector<Memory> memory;
  const Memory *data;

  Streamed(Tensor<T> &x, Tensor<T> &table) {
    if constexpr (prepared) {
      static constexpr AttentionPrepareParams params = [] {
        AttentionPrepareParams p{};
        p.batch = P.batch, p.rows = rows, p.heads = heads, p.headSize = P.headSize;
        p.stride = stride, p.columns = attentionColumns<T>(P), p.shift = shift;
        p.rotaryDims = rotaryDims, p.rotaryInterleaved = P.rotaryInterleaved, p.isKey = isKey;
        p.bf16 = P.bf16, p.alignment = P.alignment;
        return p;
      }();
      const int64_t elements = P.batch * heads * rows * params.columns;
      memory.resize(static_cast<size_t>(elements));
      cuda::test::run("attentionPrepare",
                      ceilDiv(elements / packWidth<T, P.alignment>, attentionPrepareThreads),
                      attentionPrepareThreads, 0, [&](int64_t item) {
                        attentionPrepare<T, params>(item, x.data(), table.data(), memory.data());
                      });
      data = memory.data();
    } else {
      data = x.data();
    }
  }
};

/// Forward and backward in tiles of at most rowTile and columnTile.
template <typename T, AttentionCase C, int64_t gap = 1, bool bf16 = false, int64_t rowTile = 128,
          int64_t columnTile = 64, int64_t splits = 1>
void check() {
  constexpr int64_t R = C.rotaryDims;
  static constexpr AttentionParams A = paramsOf(C, gap);
  static constexpr int64_t alignment = gap % 4 || C.headSize % 4 ? 1 : 4;
  constexpr auto tilesOf = [](AttentionPass pass) {
    AttentionParams tiles = AttentionTiling::onCuda<T>(A, pass, bf16, alignment, 227 * 1024);
    tiles.columnTile = tiles.columnTile < columnTile ? tiles.columnTile : columnTile;
    tiles.rowTile = tiles.rowTile < rowTile ? tiles.rowTile : rowTile;
    tiles.keySplits = 1;
    const bool several =
        (pass == AttentionPass::BackwardKeys ? C.keyLength : C.length) > tiles.rowTile;
    tiles.preparedFirst = several && (bf16 || C.rotaryDims > 0);
    tiles.preparedSecond = several && bf16;
    return tiles;
  };
  static constexpr AttentionParams F = tilesOf(AttentionPass::Forward),
                                   Q = tilesOf(AttentionPass::BackwardQueries),
                                   K = tilesOf(AttentionPass::BackwardKeys);
  constexpr int64_t columns = attentionColumns<T>(F);
  SCOPED_TRACE(testing::Message() << "batch " << C.batch << " length " << C.length << "/"
                                  << C.keyLength << " heads " << C.heads << "/" << C.kvHeads << "x"
                                  << C.headSize << " causal " << C.causal << " window " << C.window
                                  << " rotary " << C.rotaryDims << C.interleaved << " segments "
                                  << C.segments << " bf16 " << bf16 << " bytes " << sizeof(T));
  AttentionReference r(C, A.scale);
  int64_t qRows = C.batch * C.length, kRows = C.batch * C.keyLength;
  int64_t qColumns = C.heads * C.headSize, kColumns = C.kvHeads * C.headSize;
  Tensor<T> q(r.q, qRows, qColumns, A.qStride), k(r.k, kRows, kColumns, A.kStride);
  Tensor<T> v(r.v, kRows, kColumns, A.vStride), table = rotaryTable<T>(C);
  const int32_t *segments = C.segments ? r.segments.data() : nullptr;
  Tensor<T> o(qRows, qColumns, A.oStride), lse(1, C.batch * C.heads * C.length);
  auto streams = [&]<AttentionParams P>() {
    return std::pair(
        Streamed<T, P, P.preparedFirst != 0, true, C.keyLength, C.kvHeads, A.kStride, R, 0>(k,
                                                                                            table),
        Streamed<T, P, P.preparedSecond != 0, false, C.keyLength, C.kvHeads, A.vStride, 0, 0>(
            v, table));
  };
  auto [keys, values] = streams.template operator()<F>();
  if constexpr (splits == 1) {
    cuda::test::run("attentionForward", attentionItems(F, AttentionPass::Forward, columns),
                    threads(F), sharedBytes<T>(F, AttentionPass::Forward), [&](int64_t item) {
                      attentionForward<T, F>(item, q.data(), keys.data, values.data, segments,
                                             table.data(), o.data(), lse.data());
                    });
  } else {
    static constexpr AttentionParams S = [] {
      AttentionParams tiles = F;
      tiles.keySplits = splits, tiles.oStride = C.heads * C.headSize;
      return tiles;
    }();
    static constexpr AttentionCombineParams combine{C.batch,    C.length,  C.heads,
                                                    C.headSize, A.oStride, splits};
    Tensor<T> oParts(splits * qRows, qColumns), lseParts(splits, C.batch * C.heads * C.length);
    cuda::test::run("attentionForward", attentionItems(S, AttentionPass::Forward, columns),
                    threads(S), sharedBytes<T>(S, AttentionPass::Forward), [&](int64_t item) {
                      attentionForward<T, S>(item, q.data(), keys.data, values.data, segments,
                                             table.data(), oParts.data(), lseParts.data());
                    });
    EXPECT_TRUE(oParts.guardsIntact() && lseParts.guardsIntact());
    cuda::test::run("attentionCombine", ceilDiv(C.batch * C.heads * C.length, attentionCombineRows),
                    attentionCombineThreads, 0, [&](int64_t item) {
                      attentionCombine<T, combine>(item, oParts.data(), lseParts.data(), o.data(),
                                                   lse.data());
                    });
  }
  const double bound = bf16 ? 2e-2 : cpu::test::tolerance<T>(3e-6);
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

  Tensor<T> dO(r.dO, qRows, qColumns, A.oStride), deltas(1, C.batch * C.heads * C.length);
  Tensor<T> dq(qRows, qColumns, A.dqStride), dk(kRows, kColumns, A.dkStride);
  Tensor<T> dv(kRows, kColumns, A.dvStride);
  auto [backKeys, backValues] = streams.template operator()<Q>();
  Streamed<T, K, K.preparedFirst != 0, false, C.length, C.heads, A.qStride, R,
           C.keyLength - C.length>
      queries(q, table);
  Streamed<T, K, K.preparedSecond != 0, false, C.length, C.heads, A.oStride, 0, 0> gradients(dO,
                                                                                             table);
  cuda::test::run("attentionBackwardQueries",
                  attentionItems(Q, AttentionPass::BackwardQueries, columns), threads(Q),
                  sharedBytes<T>(Q, AttentionPass::BackwardQueries), [&](int64_t item) {
                    attentionBackwardQueries<T, Q>(item, q.data(), backKeys.data, backValues.data,
                                                   segments, table.data(), o.data(), lse.data(),
                                                   dO.data(), dq.data(), deltas.data());
                  });
  cuda::test::run("attentionBackwardKeys", attentionItems(K, AttentionPass::BackwardKeys, columns),
                  threads(K), sharedBytes<T>(K, AttentionPass::BackwardKeys), [&](int64_t item) {
                    attentionBackwardKeys<T, K>(item, queries.data, k.data(), v.data(), segments,
                                                table.data(), lse.data(), gradients.data,
                                                deltas.data(), dk.data(), dv.data());
                  });
  EXPECT_TRUE(dq.guardsIntact() && dk.guardsIntact() && dv.guardsIntact() && deltas.guardsIntact());
  EXPECT_LT(relativeError(dq.values(), r.dq), bound);
  EXPECT_LT(relativeError(dk.values(), r.dk), bound);
  EXPECT_LT(relativeError(dv.values(), r.dv), bound);
}

TEST(CudaAttention, AgreesForOddLengths) {
  check<float, AttentionCase{.length = 1, .keyLength = 1}>();
  check<float, AttentionCase{.length = 33, .keyLength = 33}>();
  check<float, AttentionCase{.length = 33, .keyLength = 33, .causal = false}, 4>();
  check<float, AttentionCase{.batch = 1, .length = 130, .keyLength = 130}, 4>();
  check<double, AttentionCase{.length = 33, .keyLength = 33}>();
}
TEST(CudaAttention, AgreesForEveryHeadSize) {
  check<float, AttentionCase{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 1}>();
  check<float, AttentionCase{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 12}, 4>();
  check<float, AttentionCase{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 24}>();
  check<float, AttentionCase{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 64}, 4>();
  check<double, AttentionCase{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 70}>();
}
TEST(CudaAttention, DividesWideHeads) {
  check<float, AttentionCase{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 192}>();
}
TEST(CudaAttention, SharesKeysInGroupsAndSeesThePast) {
  check<float,
        AttentionCase{.length = 20, .keyLength = 37, .heads = 6, .kvHeads = 2, .rotaryDims = 4}>();
  check<double, AttentionCase{.length = 5,
                              .keyLength = 37,
                              .heads = 4,
                              .kvHeads = 1,
                              .rotaryDims = 8,
                              .interleaved = true,
                              .xpos = 64}>();
}
TEST(CudaAttention, GivesZeroToQueriesThatSeeNothing) {
  check<float, AttentionCase{.length = 20, .keyLength = 5}>();
  check<float, AttentionCase{.length = 40, .keyLength = 5, .causal = false, .window = 2}>();
}
TEST(CudaAttention, SharesKeysAmongBlocks) {
  check<float, AttentionCase{.length = 3, .keyLength = 150, .rotaryDims = 4}, 1, false, 16, 16,
        4>();
  check<float, AttentionCase{.length = 40, .keyLength = 150, .causal = false, .window = 20}, 4,
        false, 32, 32, 3>();
  check<double, AttentionCase{.length = 20, .keyLength = 5}, 1, false, 16, 16, 2>();
}
TEST(CudaAttention, SlidesItsWindow) {
  check<float, AttentionCase{.batch = 1, .length = 70, .keyLength = 70, .window = 4}, 1, false, 32,
        16>();
  check<float,
        AttentionCase{.batch = 1, .length = 70, .keyLength = 70, .causal = false, .window = 20}, 1,
        false, 16, 32>();
  check<double, AttentionCase{.batch = 1, .length = 70, .keyLength = 70, .window = 0}, 1, false, 32,
        16>();
}
TEST(CudaAttention, RotatesAndKeepsSegmentsApart) {
  check<float, AttentionCase{.headSize = 32, .rotaryDims = 16, .segments = true, .xpos = 64}, 4>();
  check<
      float,
      AttentionCase{
          .causal = false, .window = 5, .rotaryDims = 6, .interleaved = true, .segments = true}>();
  check<double, AttentionCase{.rotaryDims = 4, .segments = true}>();
}
TEST(CudaAttention, RotatesOnceForSeveralBlocks) {
  check<float,
        AttentionCase{.batch = 2,
                      .length = 40,
                      .keyLength = 50,
                      .heads = 4,
                      .kvHeads = 2,
                      .headSize = 12,
                      .rotaryDims = 8},
        4, false, 16, 16>();
  check<double,
        AttentionCase{
            .length = 33, .keyLength = 33, .rotaryDims = 6, .interleaved = true, .xpos = 64},
        1, false, 16, 16>();
  check<float, AttentionCase{.length = 33, .keyLength = 40, .headSize = 20, .rotaryDims = 8}, 4,
        true, 16, 16>();
}
TEST(CudaAttention, RoundsOperandsToBf16) {
  check<float, AttentionCase{.heads = 4, .rotaryDims = 8}, 4, true>();
  check<float, AttentionCase{.batch = 1, .length = 70, .keyLength = 70, .headSize = 64}, 4, true>();
  check<float, AttentionCase{.batch = 1, .headSize = 40}, 4, true>();
}

} // namespace
