//===- AttentionTest.cpp - attention against the textbook formula ---------===//
#include "KernelTest.h"

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(rotary_table, RotaryTableParams)
HYBRID_DECLARE_KERNEL(attention_forward, AttentionParams)
HYBRID_DECLARE_KERNEL(attention_backward, AttentionParams)

namespace {

struct Case {
  int64_t batch = 2, length = 33, keyLength = 33, heads = 2, kvHeads = 2, headSize = 8;
  bool causal = true;
  int64_t window = -1, rotaryDims = 0;
  bool interleaved = false, segments = false;
  double xpos = 0;
};

RotaryTableParams tableOf(const Case &c) {
  return {c.keyLength, c.rotaryDims, 10000.0, 1.0, c.xpos};
}

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
    double scale = 1 / std::sqrt(static_cast<double>(m));
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
            p[static_cast<size_t>(s)] = seen ? score * scale : -INFINITY;
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
            double dS = weight * (dP - delta) * scale;
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

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(testing::Message() << "batch " << c.batch << " length " << c.length << "/"
                                  << c.keyLength << " heads " << c.heads << "/" << c.kvHeads << "x"
                                  << c.headSize << " causal " << c.causal << " window " << c.window
                                  << " rotary " << c.rotaryDims << c.interleaved << " xpos "
                                  << c.xpos << " segments " << c.segments);
  Reference r(c);
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
    callInPieces<RotaryTableParams>(rotary_table<T>, c.keyLength, {table.data()}, tableOf(c));
    EXPECT_TRUE(table.guardsIntact());
  }
  void *segments = c.segments ? r.segments.data() : nullptr;
  Tensor<T> o(qRows, qColumns, p.oStride), o2 = o, lse(1, c.batch * c.heads * c.length), lse2 = lse;
  double bound = tolerance<T>(3e-6);
  callWhole<AttentionParams>(
      attention_forward<T>, c.batch * c.heads,
      {q.data(), k.data(), v.data(), segments, table.data(), o.data(), lse.data()}, p,
      attentionForwardScratch<T>(p));
  callInPieces<AttentionParams>(
      attention_forward<T>, c.batch * c.heads,
      {q.data(), k.data(), v.data(), segments, table.data(), o2.data(), lse2.data()}, p,
      attentionForwardScratch<T>(p));
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
  int64_t bytes = attentionBackwardScratch<T>(p);
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
