//===- AttentionTest.cpp - attention against the textbook formula -----------===//
#include "codegen/kernels/Attention.h"
#include "codegen/kernels/RotaryTable.h"
#include "test/kernels/AttentionReference.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/Attention.cuh"
#else
#include "codegen/kernels/cpu/Vector.h"
#endif

using namespace hybrid;
using namespace hybrid::test;

#ifdef HYBRID_CUDA_SHIM
/// A kernel with functions where its constants say that it has them.
#define HYBRID_TEST_SCORED(contract, name, ...)                                                    \
  template <> struct hybrid::test::Function<hybrid::contract> {                                    \
    template <typename T, auto P, typename... Buffers>                                             \
    static void run(int64_t item, Buffers... buffers) {                                            \
      if constexpr (P.score != 0)                                                                  \
        hybrid::cuda::name<T, P, __VA_ARGS__>(item, buffers...);                                   \
      else                                                                                         \
        hybrid::cuda::name<T, P>(item, buffers...);                                                \
    }                                                                                              \
  };
HYBRID_TEST_KERNEL(AttentionPrepare, , attentionPrepare)
HYBRID_TEST_KERNEL(AttentionCombine, , attentionCombine)
HYBRID_TEST_KERNEL(AttentionForwardWhole, , attentionForwardWhole)
HYBRID_TEST_KERNEL(AttentionBackwardWhole, , attentionBackwardWhole)
HYBRID_TEST_SCORED(AttentionForward, attentionForward, AttentionScore)
HYBRID_TEST_SCORED(AttentionBackwardQueries, attentionBackwardQueries, AttentionScore,
                   AttentionScoreGradient)
HYBRID_TEST_SCORED(AttentionBackwardKeys, attentionBackwardKeys, AttentionScore,
                   AttentionScoreGradient)
#else
HYBRID_TEST_KERNEL(RotaryTable, rotary_table, )
HYBRID_TEST_KERNEL(AttentionForward, attention_forward, attentionForward)
HYBRID_TEST_KERNEL(AttentionBackward, attention_backward, )
#endif

namespace {

constexpr AttentionParams paramsOf(const AttentionCase &c) {
  AttentionParams p{};
  int64_t qColumns = c.heads * c.headSize, kColumns = c.kvHeads * c.headSize;
  int64_t oColumns = c.heads * c.values(), vColumns = c.kvHeads * c.values();
  p.valueSize = c.values(), p.hasLseGradient = c.lseGradient;
  if (c.score)
    p.score = p.scoreGradient = 1, p.queryTerms = queryTerms, p.keyTerms = keyTerms;
  p.batch = c.batch, p.length = c.length, p.keyLength = c.keyLength, p.heads = c.heads;
  p.kvHeads = c.kvHeads, p.headSize = c.headSize, p.causal = c.causal, p.window = c.window;
  p.rotaryDims = c.rotaryDims, p.rotaryInterleaved = c.interleaved, p.hasSegments = c.segments;
  p.scale = c.scale;
  p.qStride = qColumns + 2 * c.gap, p.kStride = kColumns + c.gap, p.vStride = vColumns;
  p.oStride = oColumns + c.gap, p.dqStride = qColumns + 3 * c.gap,
  p.dkStride = kColumns + 2 * c.gap;
  p.dvStride = vColumns + 4 * c.gap;
  return p;
}

/// Operands, and what a device computes of them.
template <typename T> struct Tensors {
  AttentionReference r;
  AttentionParams p;
  int64_t qRows, kRows, qColumns, kColumns, oColumns, vColumns, rows /* of all heads */;
  Tensor<T> q, k, v, dO, o, lse, dq, dk, dv, dLse, ofQueries, ofKeys, dOfQueries, dOfKeys;
  const int32_t *segments;

  explicit Tensors(const AttentionCase &c)
      : r(c), p(paramsOf(c)), qRows(c.batch * c.length), kRows(c.batch * c.keyLength),
        qColumns(c.heads * c.headSize), kColumns(c.kvHeads * c.headSize),
        oColumns(c.heads * c.values()), vColumns(c.kvHeads * c.values()),
        rows(c.batch * c.heads * c.length), q(r.q, qRows, qColumns, p.qStride),
        k(r.k, kRows, kColumns, p.kStride), v(r.v, kRows, vColumns, p.vStride),
        dO(r.dO, qRows, oColumns, p.oStride), o(qRows, oColumns, p.oStride), lse(1, rows),
        dq(qRows, qColumns, p.dqStride), dk(kRows, kColumns, p.dkStride),
        dv(kRows, vColumns, p.dvStride), dLse(r.dLse, 1, rows, rows),
        ofQueries(r.ofQueries, queryTerms, rows, rows),
        ofKeys(r.ofKeys, keyTerms, kRows * c.heads, kRows * c.heads), dOfQueries(queryTerms, rows),
        dOfKeys(keyTerms, kRows * c.heads), segments(c.segments ? r.segments.data() : nullptr) {}
};

#ifdef HYBRID_CUDA_SHIM

using namespace hybrid::cuda;

/// The table of KernelsRotaryTable, from the reference's angles.
template <typename T> Tensor<T> rotaryTable(const AttentionCase &c) {
  Tensor<T> table(c.keyLength, c.rotaryDims * 2);
  for (int64_t p = 0; p < c.keyLength; ++p)
    for (int64_t i = 0; i < c.rotaryDims / 2; ++i)
      for (int side = 0; side < 2; ++side) {
        auto [cosine, sine] = angle(c, p, i, side);
        const int64_t column = side * c.rotaryDims + i;
        table.at(p, column) = static_cast<T>(cosine);
        table.at(p, column + c.rotaryDims / 2) = static_cast<T>(sine);
      }
  return table;
}

/// What the kernels read on the column side: x, or x prepared.
template <typename T, AttentionParams P, bool prepared, bool isKey, int64_t rows, int64_t heads,
          int64_t headSize, int64_t stride, int64_t rotaryDims, int64_t shift>
struct Streamed {
  using Memory = typename StreamedOf<T, P, prepared>::type;
  std::vector<Memory> memory;
  const Memory *data;

  Streamed(Tensor<T> &x, Tensor<T> &table) {
    if constexpr (prepared) {
      static constexpr AttentionPrepareParams params = [] {
        AttentionPrepareParams p{};
        p.batch = P.batch, p.rows = rows, p.heads = heads, p.headSize = headSize;
        p.stride = stride, p.columns = attentionColumns<T>(P), p.shift = shift;
        p.rotaryDims = rotaryDims, p.rotaryInterleaved = P.rotaryInterleaved, p.isKey = isKey;
        p.bf16 = P.bf16, p.alignment = P.alignment;
        return p;
      }();
      const int64_t elements = P.batch * heads * rows * params.columns;
      memory.resize(static_cast<size_t>(elements));
      launch<AttentionPrepare, T>(
          Fixed<params>(), [](const AttentionPrepareParams &p) { return p; }, {}, x.data(),
          table.data(), memory.data());
      data = memory.data();
    } else {
      data = x.data();
    }
  }
};

/// Forward and backward of whole heads.
template <typename T, auto C> void attendWhole(Fixed<C>, Tensors<T> &x) {
  static constexpr AttentionParams W =
      AttentionWhole::onCuda<T>(paramsOf(C), C.bf16, 8, 227 * 1024);
  static_assert(W.wholeHeads == C.wholeHeads);
  constexpr auto same = [](const auto &p) { return p; };
  Tensor<T> table = rotaryTable<T>(C);
  launch<AttentionForwardWhole, T>(Fixed<W>(), same, {&x.o, &x.lse}, x.q.data(), x.k.data(),
                                   x.v.data(), x.segments, table.data(), x.o.data(), x.lse.data());
  launch<AttentionBackwardWhole, T>(Fixed<W>(), same, {&x.dq, &x.dk, &x.dv}, x.q.data(), x.k.data(),
                                    x.v.data(), x.segments, table.data(), x.o.data(), x.lse.data(),
                                    x.dO.data(), x.dLse.data(), x.dq.data(), x.dk.data(),
                                    x.dv.data());
}

/// In tiles.
template <typename T, auto C> void attendInTiles(Fixed<C>, Tensors<T> &x) {
  constexpr int64_t R = C.rotaryDims;
  static constexpr AttentionParams A = paramsOf(C);
  static constexpr int64_t alignment = C.gap % 4 || C.headSize % 4 || C.values() % 4 ? 1 : 4;
  static constexpr int64_t M = C.headSize, V = C.values();
  constexpr auto tilesOf = [](AttentionPass pass) {
    AttentionParams tiles = AttentionTiling::onCuda<T>(A, pass, C.bf16, alignment, 227 * 1024);
    tiles.columnTile = tiles.columnTile < C.columnTile ? tiles.columnTile : C.columnTile;
    tiles.rowTile = tiles.rowTile < C.rowTile ? tiles.rowTile : C.rowTile;
    tiles.keySplits = 1;
    const bool several =
        (pass == AttentionPass::BackwardKeys ? C.keyLength : C.length) > tiles.rowTile;
    tiles.preparedFirst = several && (C.bf16 || C.rotaryDims > 0);
    tiles.preparedSecond = several && C.bf16;
    return tiles;
  };
  static constexpr AttentionParams F = tilesOf(AttentionPass::Forward),
                                   Q = tilesOf(AttentionPass::BackwardQueries),
                                   K = tilesOf(AttentionPass::BackwardKeys);
  constexpr auto same = [](const auto &p) { return p; };
  Tensor<T> table = rotaryTable<T>(C), statistics(1, 2 * x.rows);
  auto streams = [&]<AttentionParams P>() {
    return std::pair(
        Streamed<T, P, P.preparedFirst != 0, true, C.keyLength, C.kvHeads, M, A.kStride, R, 0>(
            x.k, table),
        Streamed<T, P, P.preparedSecond != 0, false, C.keyLength, C.kvHeads, V, A.vStride, 0, 0>(
            x.v, table));
  };
  auto [keys, values] = streams.template operator()<F>();
  const T *const noRing = nullptr; // test/properties decodes behind rings
  if constexpr (C.splits == 1) {
    launch<AttentionForward, T>(Fixed<F>(), same, {&x.o, &x.lse}, x.q.data(), keys.data,
                                values.data, x.segments, table.data(), x.ofQueries.data(),
                                x.ofKeys.data(), x.o.data(), x.lse.data(), noRing, noRing, noRing);
  } else {
    static constexpr AttentionParams S = [] {
      AttentionParams tiles = F;
      tiles.keySplits = C.splits, tiles.oStride = C.heads * C.values();
      return tiles;
    }();
    static constexpr AttentionCombineParams combine{C.batch,    C.length,  C.heads,
                                                    C.values(), A.oStride, C.splits};
    Tensor<T> oParts(C.splits * x.qRows, x.oColumns), lseParts(C.splits, x.rows);
    launch<AttentionForward, T>(Fixed<S>(), same, {&oParts, &lseParts}, x.q.data(), keys.data,
                                values.data, x.segments, table.data(), x.ofQueries.data(),
                                x.ofKeys.data(), oParts.data(), lseParts.data(), noRing, noRing,
                                noRing);
    launch<AttentionCombine, T>(Fixed<combine>(), same, {&x.o, &x.lse}, oParts.data(),
                                lseParts.data(), x.o.data(), x.lse.data());
  }
  auto [backKeys, backValues] = streams.template operator()<Q>();
  Streamed<T, K, K.preparedFirst != 0, false, C.length, C.heads, M, A.qStride, R,
           C.keyLength - C.length>
      queries(x.q, table);
  Streamed<T, K, K.preparedSecond != 0, false, C.length, C.heads, V, A.oStride, 0, 0> gradients(
      x.dO, table);
  launch<AttentionBackwardQueries, T>(Fixed<Q>(), same, {&x.dq, &statistics, &x.dOfQueries},
                                      x.q.data(), backKeys.data, backValues.data, x.segments,
                                      table.data(), x.ofQueries.data(), x.ofKeys.data(), x.o.data(),
                                      x.lse.data(), x.dO.data(), x.dLse.data(), x.dq.data(),
                                      statistics.data(), x.dOfQueries.data());
  launch<AttentionBackwardKeys, T>(Fixed<K>(), same, {&x.dk, &x.dv, &x.dOfKeys}, queries.data,
                                   x.k.data(), x.v.data(), x.segments, table.data(),
                                   x.ofQueries.data(), x.ofKeys.data(), gradients.data,
                                   statistics.data(), x.dk.data(), x.dv.data(), x.dOfKeys.data());
}

template <typename T, auto C> void attend(Fixed<C> of, Tensors<T> &x) {
  if constexpr (C.wholeHeads > 0)
    attendWhole<T>(of, x);
  else
    attendInTiles<T>(of, x);
}

#else

RotaryTableParams rotaryTableOf(const AttentionCase &c) {
  return {c.keyLength, c.rotaryDims, 10000.0, 1.0, c.xpos};
}

template <typename T> void attend(const Given<AttentionCase> &of, Tensors<T> &x) {
  using Vectors = cpu::Vector<T>;
  auto params = [](const AttentionCase &c) {
    AttentionParams p = paramsOf(c);
    if (c.score) {
      p.score = reinterpret_cast<int64_t>(&AttentionScore::apply<Vectors>);
      p.scoreGradient = reinterpret_cast<int64_t>(&AttentionScoreGradient::apply<Vectors>);
    }
    return p;
  };
  Tensor<T> table;
  if (of.value.rotaryDims) {
    table = Tensor<T>(of.value.keyLength, of.value.rotaryDims * 2);
    launch<RotaryTable, T>(
        of, [](const AttentionCase &c) { return rotaryTableOf(c); }, {&table}, table.data());
  }
  launch<AttentionForward, T>(of, params, {&x.o, &x.lse}, x.q.data(), x.k.data(), x.v.data(),
                              x.segments, table.data(), x.ofQueries.data(), x.ofKeys.data(),
                              x.o.data(), x.lse.data());
  launch<AttentionBackward, T>(of, params, {&x.dq, &x.dk, &x.dv, &x.dOfQueries, &x.dOfKeys},
                               x.q.data(), x.k.data(), x.v.data(), x.segments, table.data(),
                               x.ofQueries.data(), x.ofKeys.data(), x.o.data(), x.lse.data(),
                               x.dO.data(), x.dLse.data(), x.dq.data(), x.dk.data(), x.dv.data(),
                               x.dOfQueries.data(), x.dOfKeys.data());
}

#endif

template <typename T, typename Of> void check(const Of &of) {
  const AttentionCase c = of.value;
  SCOPED_TRACE(testing::Message() << "batch " << c.batch << " length " << c.length << "/"
                                  << c.keyLength << " heads " << c.heads << "/" << c.kvHeads << "x"
                                  << c.headSize << " causal " << c.causal << " window " << c.window
                                  << " rotary " << c.rotaryDims << c.interleaved << " xpos "
                                  << c.xpos << " segments " << c.segments << " values "
                                  << c.values() << " score " << c.score << " bf16 " << c.bf16
                                  << " f" << 8 * sizeof(T));
  Tensors<T> x(c);
  attend<T>(of, x);
  const AttentionReference &r = x.r;
  const double bound = onCuda && c.bf16 ? 2e-2 : tolerance<T>(3e-6);
  EXPECT_LT(relativeError(x.o.values(), r.o), bound);
  Doubles logs = x.lse.values();
  for (size_t i = 0; i < logs.size(); ++i) {
    if (std::isinf(r.lse[i])) {
      EXPECT_EQ(logs[i], r.lse[i]);
    } else {
      EXPECT_NEAR(logs[i], r.lse[i], bound * (1 + std::fabs(r.lse[i])));
    }
  }
  EXPECT_LT(relativeError(x.dq.values(), r.dq), bound);
  EXPECT_LT(relativeError(x.dk.values(), r.dk), bound);
  EXPECT_LT(relativeError(x.dv.values(), r.dv), bound);
  if (c.score) {
    EXPECT_LT(relativeError(x.dOfQueries.values(), r.dOfQueries), bound);
    EXPECT_LT(relativeError(x.dOfKeys.values(), r.dOfKeys), bound);
  }
}

// On CUDA some in f32 and some in f64: each is a few kernels to compile.
template <typename T, const auto &cases> void checkAll() {
  forEachCase<cases>([](const auto &of) { check<T>(of); });
}
/// On the CPU.
template <typename T> void checkScaled(AttentionCase c) {
  c.scale = 1 / std::sqrt(static_cast<double>(c.headSize));
  if constexpr (!onCuda)
    check<T>(Given{c});
}
template <typename T> struct Attention : testing::Test {};
TYPED_TEST_SUITE(Attention, Scalars);

constexpr AttentionCase lengthsInF32[] = {
    {.length = 1, .keyLength = 1},
    {.length = 33, .keyLength = 33},
    {.length = 33, .keyLength = 33, .causal = false, .gap = 4},
    {.batch = 1, .length = 130, .keyLength = 130, .gap = 4}};
constexpr AttentionCase lengthsInF64[] = {{.length = 33, .keyLength = 33}};
TEST(Attentions, AgreesForOddLengths) {
  checkAll<float, lengthsInF32>();
  checkAll<double, lengthsInF64>();
}
TYPED_TEST(Attention, AgreesForEveryLength) {
  for (int64_t length : {1, 2, 7, 8, 9, 15, 16, 17, 33, 127})
    for (bool causal : {true, false})
      checkScaled<TypeParam>({.length = length, .keyLength = length, .causal = causal});
}
constexpr AttentionCase fewQueriesInF32[] = {
    {.length = 1, .keyLength = 40, .headSize = 64, .window = 20, .rotaryDims = 32, .score = true}};
TEST(Attentions, OfAStepOfDecoding) { checkAll<float, fewQueriesInF32>(); }
TYPED_TEST(Attention, OfFewQueries) {
  for (int64_t length : {1, 3, 4, 5})
    for (int64_t headSize : {1, 5, 64, 80}) {
      AttentionCase c{
          .length = length, .keyLength = 37, .heads = 4, .kvHeads = 2, .headSize = headSize};
      c.valueSize = headSize + 3;
      checkScaled<TypeParam>(c);
      c.rotaryDims = headSize / 4 * 2, c.interleaved = true;
      checkScaled<TypeParam>(c);
      c.window = 9, c.score = true, c.rotaryDims = headSize / 2 * 2, c.interleaved = false;
      checkScaled<TypeParam>(c);
    }
}
constexpr AttentionCase headSizesInF32[] = {
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 1},
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 12, .gap = 4},
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 24},
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 64, .gap = 4}};
constexpr AttentionCase headSizesInF64[] = {{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 70}};
TEST(Attentions, AgreesForEveryHeadSize) {
  checkAll<float, headSizesInF32>();
  checkAll<double, headSizesInF64>();
}
TYPED_TEST(Attention, AgreesForEveryHeadSize) {
  for (int64_t headSize : {1, 2, 5, 8, 16, 24, 64, 128})
    checkScaled<TypeParam>({.batch = 1, .headSize = headSize});
}
constexpr AttentionCase wideHeadsInF32[] = {
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 192}};
TEST(Attentions, DividesWideHeads) { checkAll<float, wideHeadsInF32>(); }
constexpr AttentionCase groupsInF32[] = {
    {.length = 20, .keyLength = 37, .heads = 6, .kvHeads = 2, .rotaryDims = 4}};
constexpr AttentionCase groupsInF64[] = {{.length = 5,
                                          .keyLength = 37,
                                          .heads = 4,
                                          .kvHeads = 1,
                                          .rotaryDims = 8,
                                          .interleaved = true,
                                          .xpos = 64}};
TEST(Attentions, SharesKeysInGroupsAndSeesThePast) {
  checkAll<float, groupsInF32>();
  checkAll<double, groupsInF64>();
}
TYPED_TEST(Attention, AgreesWithMoreKeysThanQueries) {
  for (int64_t length : {1, 5, 16, 20})
    checkScaled<TypeParam>({.length = length, .keyLength = 37, .rotaryDims = 8});
}
TYPED_TEST(Attention, SharesKeysInGroups) {
  checkScaled<TypeParam>({.heads = 6, .kvHeads = 2, .rotaryDims = 4});
  checkScaled<TypeParam>({.heads = 4, .kvHeads = 1});
}
constexpr AttentionCase unseenInF32[] = {
    {.length = 20, .keyLength = 5}, {.length = 40, .keyLength = 5, .causal = false, .window = 2}};
TEST(Attentions, GivesZeroToQueriesThatSeeNothing) { checkAll<float, unseenInF32>(); }
TYPED_TEST(Attention, GivesZeroToQueriesThatSeeNothing) {
  checkScaled<TypeParam>({.length = 20, .keyLength = 5});
  checkScaled<TypeParam>({.length = 40, .keyLength = 5, .causal = false, .window = 2});
}
constexpr AttentionCase keyBlocksInF32[] = {
    {.length = 3, .keyLength = 150, .rotaryDims = 4, .rowTile = 16, .columnTile = 16, .splits = 4},
    {.length = 40,
     .keyLength = 150,
     .causal = false,
     .window = 20,
     .gap = 4,
     .rowTile = 32,
     .columnTile = 32,
     .splits = 3}};
constexpr AttentionCase keyBlocksInF64[] = {
    {.length = 20, .keyLength = 5, .rowTile = 16, .columnTile = 16, .splits = 2}};
TEST(Attentions, SharesKeysAmongBlocks) {
  checkAll<float, keyBlocksInF32>();
  checkAll<double, keyBlocksInF64>();
}
constexpr AttentionCase windowsInF32[] = {
    {.batch = 1, .length = 70, .keyLength = 70, .window = 4, .rowTile = 32, .columnTile = 16},
    {.batch = 1,
     .length = 70,
     .keyLength = 70,
     .causal = false,
     .window = 20,
     .rowTile = 16,
     .columnTile = 32}};
constexpr AttentionCase windowsInF64[] = {
    {.batch = 1, .length = 70, .keyLength = 70, .window = 0, .rowTile = 32, .columnTile = 16}};
TEST(Attentions, SlidesItsWindow) {
  checkAll<float, windowsInF32>();
  checkAll<double, windowsInF64>();
}
TYPED_TEST(Attention, SlidesItsWindow) {
  for (int64_t window : {0, 1, 4, 16, 32, 1000})
    for (bool causal : {true, false})
      checkScaled<TypeParam>({.length = 70, .keyLength = 70, .causal = causal, .window = window});
}
constexpr AttentionCase rotationsInF32[] = {
    {.headSize = 32, .rotaryDims = 16, .segments = true, .xpos = 64, .gap = 4},
    {.causal = false, .window = 5, .rotaryDims = 6, .interleaved = true, .segments = true}};
constexpr AttentionCase rotationsInF64[] = {{.rotaryDims = 4, .segments = true}};
TEST(Attentions, RotatesAndKeepsSegmentsApart) {
  checkAll<float, rotationsInF32>();
  checkAll<double, rotationsInF64>();
}
TYPED_TEST(Attention, Rotates) {
  for (int64_t dims : {2, 4, 8})
    for (bool interleaved : {false, true})
      for (double xpos : {0.0, 512.0, 64.0})
        checkScaled<TypeParam>({.rotaryDims = dims, .interleaved = interleaved, .xpos = xpos});
  checkScaled<TypeParam>({.headSize = 64, .rotaryDims = 64});
}
TYPED_TEST(Attention, KeepsSegmentsApart) {
  for (bool causal : {true, false})
    for (int64_t window : {-1, 5})
      checkScaled<TypeParam>(
          {.causal = causal, .window = window, .rotaryDims = 4, .segments = true});
}
constexpr AttentionCase preparedInF32[] = {{.batch = 2,
                                            .length = 40,
                                            .keyLength = 50,
                                            .heads = 4,
                                            .kvHeads = 2,
                                            .headSize = 12,
                                            .rotaryDims = 8,
                                            .gap = 4,
                                            .rowTile = 16,
                                            .columnTile = 16},
                                           {.length = 33,
                                            .keyLength = 40,
                                            .headSize = 20,
                                            .rotaryDims = 8,
                                            .gap = 4,
                                            .bf16 = true,
                                            .rowTile = 16,
                                            .columnTile = 16}};
constexpr AttentionCase preparedInF64[] = {{.length = 33,
                                            .keyLength = 33,
                                            .rotaryDims = 6,
                                            .interleaved = true,
                                            .xpos = 64,
                                            .rowTile = 16,
                                            .columnTile = 16}};
TEST(Attentions, RotatesOnceForSeveralBlocks) {
  checkAll<float, preparedInF32>();
  checkAll<double, preparedInF64>();
}
// Several tiles of small heads, whose next one arrives meanwhile, and rotations whose partners are
// in registers of the lane, of others, and of none.
constexpr AttentionCase severalTilesInF32[] = {
    {.batch = 1, .length = 200, .keyLength = 300, .rotaryDims = 8, .gap = 4, .columnTile = 128},
    {.batch = 1,
     .length = 300,
     .keyLength = 300,
     .causal = false,
     .segments = true,
     .scale = -0.3,
     .gap = 4,
     .bf16 = true,
     .columnTile = 128},
    {.batch = 1,
     .length = 150,
     .keyLength = 150,
     .headSize = 32,
     .window = 40,
     .rotaryDims = 16,
     .interleaved = true,
     .gap = 4,
     .bf16 = true,
     .rowTile = 32,
     .columnTile = 32},
    {.batch = 1, .heads = 4, .headSize = 64, .rotaryDims = 64, .gap = 4, .bf16 = true},
    {.batch = 1, .headSize = 128, .rotaryDims = 128, .gap = 4, .bf16 = true}};
constexpr AttentionCase severalTilesInF64[] = {{.batch = 1,
                                                .length = 70,
                                                .keyLength = 100,
                                                .headSize = 16,
                                                .rotaryDims = 16,
                                                .gap = 4,
                                                .columnTile = 32}};
TEST(Attentions, HasTheNextTileArrive) {
  checkAll<float, severalTilesInF32>();
  checkAll<double, severalTilesInF64>();
}
constexpr AttentionCase roundedInF32[] = {
    {.heads = 4, .rotaryDims = 8, .gap = 4, .bf16 = true},
    {.batch = 1, .length = 70, .keyLength = 70, .headSize = 64, .gap = 4, .bf16 = true},
    {.batch = 1, .headSize = 40, .gap = 4, .bf16 = true}};
TEST(Attentions, RoundsOperandsToBf16) { checkAll<float, roundedInF32>(); }
// Each size of a head, few and many rows, keys behind the last that somebody would see, queries
// that see none, and every way to rotate.
constexpr AttentionCase wholeInF32[] = {
    {.heads = 8, .kvHeads = 8, .rotaryDims = 8, .gap = 8, .bf16 = true, .wholeHeads = 4},
    {.batch = 1,
     .length = 128,
     .keyLength = 128,
     .heads = 4,
     .kvHeads = 4,
     .rotaryDims = 4,
     .segments = true,
     .gap = 8,
     .bf16 = true,
     .wholeHeads = 4},
    {.batch = 1,
     .length = 40,
     .keyLength = 70,
     .heads = 3,
     .kvHeads = 3,
     .headSize = 16,
     .causal = false,
     .rotaryDims = 6,
     .interleaved = true,
     .xpos = 64,
     .scale = -0.3,
     .lseGradient = true,
     .gap = 8,
     .bf16 = true,
     .wholeHeads = 1},
    {.length = 40,
     .keyLength = 5,
     .headSize = 16,
     .causal = false,
     .window = 2,
     .gap = 8,
     .bf16 = true,
     .wholeHeads = 2},
    {.length = 20,
     .keyLength = 40,
     .headSize = 32,
     .rotaryDims = 32,
     .gap = 8,
     .bf16 = true,
     .wholeHeads = 1},
    {.batch = 1,
     .length = 64,
     .keyLength = 64,
     .headSize = 32,
     .window = 20,
     .rotaryDims = 16,
     .xpos = 64,
     .gap = 8,
     .bf16 = true,
     .wholeHeads = 1}};
TEST(Attentions, HasSmallHeadsWhole) { checkAll<float, wholeInF32>(); }
constexpr AttentionCase valueSizesInF32[] = {
    {.length = 20, .keyLength = 37, .heads = 4, .headSize = 12, .valueSize = 7, .rotaryDims = 4},
    {.batch = 1, .headSize = 8, .valueSize = 40, .gap = 4, .rowTile = 16, .columnTile = 16},
    {.batch = 1,
     .length = 3,
     .keyLength = 150,
     .headSize = 20,
     .valueSize = 8,
     .segments = false,
     .rowTile = 16,
     .columnTile = 16,
     .splits = 4},
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 192, .valueSize = 128, .gap = 4}};
constexpr AttentionCase valueSizesInF64[] = {{.headSize = 6, .valueSize = 9, .segments = true}};
TEST(Attentions, HasValuesOfAnotherSize) {
  checkAll<float, valueSizesInF32>();
  checkAll<double, valueSizesInF64>();
}
TYPED_TEST(Attention, HasValuesOfAnotherSize) {
  for (int64_t valueSize : {1, 7, 16, 40})
    checkScaled<TypeParam>({.heads = 4, .valueSize = valueSize, .rotaryDims = 4, .segments = true});
}
constexpr AttentionCase scoresInF32[] = {
    {.heads = 4, .kvHeads = 2, .score = true},
    {.length = 20,
     .keyLength = 37,
     .causal = false,
     .window = 9,
     .rotaryDims = 4,
     .score = true,
     .lseGradient = true,
     .rowTile = 16,
     .columnTile = 16},
    {.batch = 1,
     .length = 3,
     .keyLength = 150,
     .score = true,
     .rowTile = 16,
     .columnTile = 16,
     .splits = 4},
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 192, .score = true, .gap = 4}};
constexpr AttentionCase scoresInF64[] = {
    {.headSize = 6, .valueSize = 9, .segments = true, .score = true, .lseGradient = true}};
TEST(Attentions, HasScoresOfTheModelsOwn) {
  checkAll<float, scoresInF32>();
  checkAll<double, scoresInF64>();
}
TYPED_TEST(Attention, HasScoresOfTheModelsOwn) {
  for (int64_t length : {1, 7, 16, 33})
    for (bool causal : {true, false})
      checkScaled<TypeParam>({.length = length,
                              .keyLength = length + 5,
                              .heads = 6,
                              .kvHeads = 2,
                              .causal = causal,
                              .window = 20,
                              .score = true});
}
constexpr AttentionCase logsInF32[] = {{.lseGradient = true}};
TEST(Attentions, HasAGradientThroughItsDenominators) { checkAll<float, logsInF32>(); }
TYPED_TEST(Attention, HasAGradientThroughItsDenominators) {
  checkScaled<TypeParam>({.length = 20, .keyLength = 37, .window = 5, .lseGradient = true});
  // A row that sees nothing has none.
  checkScaled<TypeParam>({.length = 20, .keyLength = 5, .lseGradient = true});
}

} // namespace
