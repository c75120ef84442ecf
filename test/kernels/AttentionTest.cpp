//===- AttentionTest.cpp - attention against the textbook formula -----------===//
#include "codegen/kernels/Attention.h"
#include "codegen/kernels/RotaryTable.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/Attention.cuh"
HYBRID_TEST_KERNEL(AttentionPrepare, , attentionPrepare)
HYBRID_TEST_KERNEL(AttentionCombine, , attentionCombine)
HYBRID_TEST_KERNEL(AttentionBackwardQueries, , attentionBackwardQueries)
HYBRID_TEST_KERNEL(AttentionBackwardKeys, , attentionBackwardKeys)
#else
HYBRID_TEST_KERNEL(RotaryTable, rotary_table, )
HYBRID_TEST_KERNEL(AttentionBackward, attention_backward, )
#endif

HYBRID_TEST_KERNEL(AttentionForward, attention_forward, attentionForward)

using namespace hybrid;
using namespace hybrid::test;

namespace {

/// What is computed.
struct Case {
  int64_t batch = 2, length = 33, keyLength = 33, heads = 2, kvHeads = 2, headSize = 8;
  bool causal = true;
  int64_t window = -1, rotaryDims = 0;
  bool interleaved = false, segments = false;
  double xpos = 0, scale = 0.3;
  // On CUDA: gaps between rows, and tiles of at most rowTile and columnTile.
  int64_t gap = 1;
  bool bf16 = false;
  int64_t rowTile = 128, columnTile = 64, splits = 1;
};

/// cos and sin, scaled, for the query (side 0) or key (side 1) of pair i at a position.
std::pair<double, double> angle(const Case &c, int64_t position, int64_t i, int side) {
  double r = static_cast<double>(c.rotaryDims), p = static_cast<double>(position);
  double theta = std::pow(10000.0, -2.0 * static_cast<double>(i) / r), scale = 1;
  if (c.xpos > 0)
    scale = std::pow((2.0 * static_cast<double>(i) + 0.4 * r) / (1.4 * r),
                     static_cast<double>(position - c.keyLength / 2) / c.xpos);
  if (side == 1)
    scale = 1 / scale;
  return {std::cos(p * theta) * scale, std::sin(p * theta) * scale};
}

/// The rotation of one row, or its transpose.
void rotate(const Case &c, double *row, int64_t position, int side, bool transposed) {
  for (int64_t i = 0; i < c.rotaryDims / 2; ++i) {
    int64_t first = c.interleaved ? 2 * i : i;
    int64_t second = c.interleaved ? 2 * i + 1 : i + c.rotaryDims / 2;
    auto [cosine, sine] = angle(c, position, i, side);
    if (transposed)
      sine = -sine;
    double a = row[first], b = row[second];
    row[first] = a * cosine - b * sine;
    row[second] = b * cosine + a * sine;
  }
}

/// Inputs, results and gradients.
struct Reference {
  Doubles q, k, v, dO, o, lse, dq, dk, dv;
  std::vector<int32_t> segments;

  explicit Reference(const Case &c) {
    int64_t m = c.headSize, qRows = c.batch * c.length, kRows = c.batch * c.keyLength;
    q = randomDoubles(qRows * c.heads * m, 1), dO = randomDoubles(qRows * c.heads * m, 4);
    k = randomDoubles(kRows * c.kvHeads * m, 2), v = randomDoubles(kRows * c.kvHeads * m, 3);
    o.assign(q.size(), 0), dq.assign(q.size(), 0), dk.assign(k.size(), 0), dv.assign(v.size(), 0);
    lse.assign(static_cast<size_t>(c.batch * c.heads * c.length), 0);
    for (int64_t r = 0; r < kRows; ++r)
      segments.push_back(static_cast<int32_t>((r % c.keyLength) / 7 % 3));
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t h = 0; h < c.heads; ++h) {
        int64_t kv = h / (c.heads / c.kvHeads);
        auto keyAt = [&](int64_t s) { return ((b * c.keyLength + s) * c.kvHeads + kv) * m; };
        for (int64_t t = 0; t < c.length; ++t) {
          int64_t at = ((b * c.length + t) * c.heads + h) * m,
                  position = t + c.keyLength - c.length;
          Doubles query(q.begin() + at, q.begin() + at + m), dQuery(static_cast<size_t>(m));
          rotate(c, query.data(), position, 0, false);
          Doubles p(static_cast<size_t>(c.keyLength), 0);
          double top = -INFINITY, sum = 0;
          std::vector<Doubles> keys;
          for (int64_t s = 0; s < c.keyLength; ++s) {
            Doubles key(k.begin() + keyAt(s), k.begin() + keyAt(s) + m);
            rotate(c, key.data(), s, 1, false);
            double score = 0;
            for (size_t d = 0; d < key.size(); ++d)
              score += query[d] * key[d];
            bool seen = (!c.causal || s <= position) &&
                        (c.window < 0 || (s >= position - c.window && s <= position + c.window)) &&
                        (!c.segments || segments[static_cast<size_t>(b * c.keyLength + s)] ==
                                            segments[static_cast<size_t>(b * c.keyLength + t)]);
            p[static_cast<size_t>(s)] = seen ? score * c.scale : -INFINITY;
            top = std::fmax(top, p[static_cast<size_t>(s)]);
            keys.push_back(key);
          }
          double &log = lse[static_cast<size_t>((b * c.heads + h) * c.length + t)];
          log = -INFINITY;
          if (top == -INFINITY)
            continue;
          for (double &x : p)
            sum += x = std::exp(x - top);
          log = top + std::log(sum);
          double delta = 0;
          for (int64_t s = 0; s < c.keyLength; ++s)
            for (int64_t d = 0; d < m; ++d)
              o[static_cast<size_t>(at + d)] +=
                  p[static_cast<size_t>(s)] / sum * v[static_cast<size_t>(keyAt(s) + d)];
          for (int64_t d = 0; d < m; ++d)
            delta += o[static_cast<size_t>(at + d)] * dO[static_cast<size_t>(at + d)];
          for (int64_t s = 0; s < c.keyLength; ++s) {
            double weight = p[static_cast<size_t>(s)] / sum, dP = 0;
            for (int64_t d = 0; d < m; ++d)
              dP += dO[static_cast<size_t>(at + d)] * v[static_cast<size_t>(keyAt(s) + d)];
            double dS = weight * (dP - delta) * c.scale;
            Doubles dKey(static_cast<size_t>(m));
            for (int64_t d = 0; d < m; ++d) {
              auto i = static_cast<size_t>(d);
              dv[static_cast<size_t>(keyAt(s) + d)] += weight * dO[static_cast<size_t>(at + d)];
              dKey[i] = dS * query[i];
              dQuery[i] += dS * keys[static_cast<size_t>(s)][i];
            }
            rotate(c, dKey.data(), s, 1, true);
            for (int64_t d = 0; d < m; ++d)
              dk[static_cast<size_t>(keyAt(s) + d)] += dKey[static_cast<size_t>(d)];
          }
          rotate(c, dQuery.data(), position, 0, true);
          for (int64_t d = 0; d < m; ++d)
            dq[static_cast<size_t>(at + d)] = dQuery[static_cast<size_t>(d)];
        }
      }
  }
};

constexpr AttentionParams paramsOf(const Case &c) {
  AttentionParams p{};
  int64_t qColumns = c.heads * c.headSize, kColumns = c.kvHeads * c.headSize;
  p.batch = c.batch, p.length = c.length, p.keyLength = c.keyLength, p.heads = c.heads;
  p.kvHeads = c.kvHeads, p.headSize = c.headSize, p.causal = c.causal, p.window = c.window;
  p.rotaryDims = c.rotaryDims, p.rotaryInterleaved = c.interleaved, p.hasSegments = c.segments;
  p.scale = c.scale;
  p.qStride = qColumns + 2 * c.gap, p.kStride = kColumns + c.gap, p.vStride = kColumns;
  p.oStride = qColumns + c.gap, p.dqStride = qColumns + 3 * c.gap,
  p.dkStride = kColumns + 2 * c.gap;
  p.dvStride = kColumns + 4 * c.gap;
  return p;
}

/// Operands, and what a device computes of them.
template <typename T> struct Tensors {
  Reference r;
  AttentionParams p;
  int64_t qRows, kRows, qColumns, kColumns, rows /* of all heads */;
  Tensor<T> q, k, v, dO, o, lse, dq, dk, dv;
  const int32_t *segments;

  explicit Tensors(const Case &c)
      : r(c), p(paramsOf(c)), qRows(c.batch * c.length), kRows(c.batch * c.keyLength),
        qColumns(c.heads * c.headSize), kColumns(c.kvHeads * c.headSize),
        rows(c.batch * c.heads * c.length), q(r.q, qRows, qColumns, p.qStride),
        k(r.k, kRows, kColumns, p.kStride), v(r.v, kRows, kColumns, p.vStride),
        dO(r.dO, qRows, qColumns, p.oStride), o(qRows, qColumns, p.oStride), lse(1, rows),
        dq(qRows, qColumns, p.dqStride), dk(kRows, kColumns, p.dkStride),
        dv(kRows, kColumns, p.dvStride), segments(c.segments ? r.segments.data() : nullptr) {}
};

#ifdef HYBRID_CUDA_SHIM

using namespace hybrid::cuda;

/// The table of KernelsRotaryTable, from the reference's angles.
template <typename T> Tensor<T> rotaryTable(const Case &c) {
  Tensor<T> table(c.keyLength, c.rotaryDims * 2);
  for (int64_t p = 0; p < c.keyLength; ++p)
    for (int64_t i = 0; i < c.rotaryDims / 2; ++i)
      for (int side = 0; side < 2; ++side) {
        auto [cosine, sine] = angle(c, p, i, side);
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
      launch<AttentionPrepare, T>(
          Fixed<params>(), [](const AttentionPrepareParams &p) { return p; }, {}, x.data(),
          table.data(), memory.data());
      data = memory.data();
    } else {
      data = x.data();
    }
  }
};

/// Forward and backward in tiles.
template <typename T, auto C> void attend(Fixed<C>, Tensors<T> &x) {
  constexpr int64_t R = C.rotaryDims;
  static constexpr AttentionParams A = paramsOf(C);
  static constexpr int64_t alignment = C.gap % 4 || C.headSize % 4 ? 1 : 4;
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
  Tensor<T> table = rotaryTable<T>(C), deltas(1, x.rows);
  auto streams = [&]<AttentionParams P>() {
    return std::pair(
        Streamed<T, P, P.preparedFirst != 0, true, C.keyLength, C.kvHeads, A.kStride, R, 0>(x.k,
                                                                                            table),
        Streamed<T, P, P.preparedSecond != 0, false, C.keyLength, C.kvHeads, A.vStride, 0, 0>(
            x.v, table));
  };
  auto [keys, values] = streams.template operator()<F>();
  if constexpr (C.splits == 1) {
    launch<AttentionForward, T>(Fixed<F>(), same, {&x.o, &x.lse}, x.q.data(), keys.data,
                                values.data, x.segments, table.data(), x.o.data(), x.lse.data());
  } else {
    static constexpr AttentionParams S = [] {
      AttentionParams tiles = F;
      tiles.keySplits = C.splits, tiles.oStride = C.heads * C.headSize;
      return tiles;
    }();
    static constexpr AttentionCombineParams combine{C.batch,    C.length,  C.heads,
                                                    C.headSize, A.oStride, C.splits};
    Tensor<T> oParts(C.splits * x.qRows, x.qColumns), lseParts(C.splits, x.rows);
    launch<AttentionForward, T>(Fixed<S>(), same, {&oParts, &lseParts}, x.q.data(), keys.data,
                                values.data, x.segments, table.data(), oParts.data(),
                                lseParts.data());
    launch<AttentionCombine, T>(Fixed<combine>(), same, {&x.o, &x.lse}, oParts.data(),
                                lseParts.data(), x.o.data(), x.lse.data());
  }
  auto [backKeys, backValues] = streams.template operator()<Q>();
  Streamed<T, K, K.preparedFirst != 0, false, C.length, C.heads, A.qStride, R,
           C.keyLength - C.length>
      queries(x.q, table);
  Streamed<T, K, K.preparedSecond != 0, false, C.length, C.heads, A.oStride, 0, 0> gradients(x.dO,
                                                                                             table);
  launch<AttentionBackwardQueries, T>(Fixed<Q>(), same, {&x.dq, &deltas}, x.q.data(), backKeys.data,
                                      backValues.data, x.segments, table.data(), x.o.data(),
                                      x.lse.data(), x.dO.data(), x.dq.data(), deltas.data());
  launch<AttentionBackwardKeys, T>(Fixed<K>(), same, {&x.dk, &x.dv}, queries.data, x.k.data(),
                                   x.v.data(), x.segments, table.data(), x.lse.data(),
                                   gradients.data, deltas.data(), x.dk.data(), x.dv.data());
}

#else

RotaryTableParams rotaryTableOf(const Case &c) {
  return {c.keyLength, c.rotaryDims, 10000.0, 1.0, c.xpos};
}

template <typename T> void attend(const Given<Case> &of, Tensors<T> &x) {
  constexpr auto params = [](const Case &c) { return paramsOf(c); };
  Tensor<T> table;
  if (of.value.rotaryDims) {
    table = Tensor<T>(of.value.keyLength, of.value.rotaryDims * 2);
    launch<RotaryTable, T>(
        of, [](const Case &c) { return rotaryTableOf(c); }, {&table}, table.data());
  }
  launch<AttentionForward, T>(of, params, {&x.o, &x.lse}, x.q.data(), x.k.data(), x.v.data(),
                              x.segments, table.data(), x.o.data(), x.lse.data());
  launch<AttentionBackward, T>(of, params, {&x.dq, &x.dk, &x.dv}, x.q.data(), x.k.data(),
                               x.v.data(), x.segments, table.data(), x.o.data(), x.lse.data(),
                               x.dO.data(), x.dq.data(), x.dk.data(), x.dv.data());
}

#endif

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << "batch " << c.batch << " length " << c.length << "/"
                                  << c.keyLength << " heads " << c.heads << "/" << c.kvHeads << "x"
                                  << c.headSize << " causal " << c.causal << " window " << c.window
                                  << " rotary " << c.rotaryDims << c.interleaved << " xpos "
                                  << c.xpos << " segments " << c.segments << " bf16 " << c.bf16
                                  << " f" << 8 * sizeof(T));
  Tensors<T> x(c);
  attend<T>(of, x);
  const Reference &r = x.r;
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
}

// On CUDA some in f32 and some in f64: each is a few kernels to compile.
template <typename T, const auto &cases> void checkAll() {
  forEachCase<cases>([](const auto &of) { check<T>(of); });
}
/// On the CPU.
template <typename T> void checkScaled(Case c) {
  c.scale = 1 / std::sqrt(static_cast<double>(c.headSize));
  if constexpr (!onCuda)
    check<T>(Given{c});
}
template <typename T> struct Attention : testing::Test {};
TYPED_TEST_SUITE(Attention, Scalars);

constexpr Case lengthsInF32[] = {{.length = 1, .keyLength = 1},
                                 {.length = 33, .keyLength = 33},
                                 {.length = 33, .keyLength = 33, .causal = false, .gap = 4},
                                 {.batch = 1, .length = 130, .keyLength = 130, .gap = 4}};
constexpr Case lengthsInF64[] = {{.length = 33, .keyLength = 33}};
TEST(Attentions, AgreesForOddLengths) {
  checkAll<float, lengthsInF32>();
  checkAll<double, lengthsInF64>();
}
TYPED_TEST(Attention, AgreesForEveryLength) {
  for (int64_t length : {1, 2, 7, 8, 9, 15, 16, 17, 33, 127})
    for (bool causal : {true, false})
      checkScaled<TypeParam>({.length = length, .keyLength = length, .causal = causal});
}
constexpr Case headSizesInF32[] = {
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 1},
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 12, .gap = 4},
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 24},
    {.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 64, .gap = 4}};
constexpr Case headSizesInF64[] = {{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 70}};
TEST(Attentions, AgreesForEveryHeadSize) {
  checkAll<float, headSizesInF32>();
  checkAll<double, headSizesInF64>();
}
TYPED_TEST(Attention, AgreesForEveryHeadSize) {
  for (int64_t headSize : {1, 2, 5, 8, 16, 24, 64, 128})
    checkScaled<TypeParam>({.batch = 1, .headSize = headSize});
}
constexpr Case wideHeadsInF32[] = {{.batch = 1, .heads = 1, .kvHeads = 1, .headSize = 192}};
TEST(Attentions, DividesWideHeads) { checkAll<float, wideHeadsInF32>(); }
constexpr Case groupsInF32[] = {
    {.length = 20, .keyLength = 37, .heads = 6, .kvHeads = 2, .rotaryDims = 4}};
constexpr Case groupsInF64[] = {{.length = 5,
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
constexpr Case unseenInF32[] = {{.length = 20, .keyLength = 5},
                                {.length = 40, .keyLength = 5, .causal = false, .window = 2}};
TEST(Attentions, GivesZeroToQueriesThatSeeNothing) { checkAll<float, unseenInF32>(); }
TYPED_TEST(Attention, GivesZeroToQueriesThatSeeNothing) {
  checkScaled<TypeParam>({.length = 20, .keyLength = 5});
  checkScaled<TypeParam>({.length = 40, .keyLength = 5, .causal = false, .window = 2});
}
constexpr Case keyBlocksInF32[] = {
    {.length = 3, .keyLength = 150, .rotaryDims = 4, .rowTile = 16, .columnTile = 16, .splits = 4},
    {.length = 40,
     .keyLength = 150,
     .causal = false,
     .window = 20,
     .gap = 4,
     .rowTile = 32,
     .columnTile = 32,
     .splits = 3}};
constexpr Case keyBlocksInF64[] = {
    {.length = 20, .keyLength = 5, .rowTile = 16, .columnTile = 16, .splits = 2}};
TEST(Attentions, SharesKeysAmongBlocks) {
  checkAll<float, keyBlocksInF32>();
  checkAll<double, keyBlocksInF64>();
}
constexpr Case windowsInF32[] = {
    {.batch = 1, .length = 70, .keyLength = 70, .window = 4, .rowTile = 32, .columnTile = 16},
    {.batch = 1,
     .length = 70,
     .keyLength = 70,
     .causal = false,
     .window = 20,
     .rowTile = 16,
     .columnTile = 32}};
constexpr Case windowsInF64[] = {
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
constexpr Case rotationsInF32[] = {
    {.headSize = 32, .rotaryDims = 16, .segments = true, .xpos = 64, .gap = 4},
    {.causal = false, .window = 5, .rotaryDims = 6, .interleaved = true, .segments = true}};
constexpr Case rotationsInF64[] = {{.rotaryDims = 4, .segments = true}};
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
constexpr Case preparedInF32[] = {{.batch = 2,
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
constexpr Case preparedInF64[] = {{.length = 33,
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
constexpr Case roundedInF32[] = {
    {.heads = 4, .rotaryDims = 8, .gap = 4, .bf16 = true},
    {.batch = 1, .length = 70, .keyLength = 70, .headSize = 64, .gap = 4, .bf16 = true},
    {.batch = 1, .headSize = 40, .gap = 4, .bf16 = true}};
TEST(Attentions, RoundsOperandsToBf16) { checkAll<float, roundedInF32>(); }

} // namespace
