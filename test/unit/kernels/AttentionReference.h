//===- AttentionReference.h - attention by the textbook formula -----------===//
//
// Forward and backward, term by term in double, for the kernels of all devices.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/RotaryTable.h"
#include "test/unit/kernels/KernelTest.h"

namespace hybrid::test {

using cpu::test::Doubles;
using cpu::test::randomDoubles;

/// What is computed.
struct AttentionCase {
  int64_t batch = 2, length = 33, keyLength = 33, heads = 2, kvHeads = 2, headSize = 8;
  bool causal = true;
  int64_t window = -1, rotaryDims = 0;
  bool interleaved = false, segments = false;
  double xpos = 0;
};

inline RotaryTableParams rotaryTableOf(const AttentionCase &c) {
  return {c.keyLength, c.rotaryDims, 10000.0, 1.0, c.xpos};
}

/// cos and sin, scaled, for the query (side 0) or key (side 1) of pair i at a position.
inline std::pair<double, double> angle(const AttentionCase &c, int64_t position, int64_t i,
                                       int side) {
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
inline void rotate(const AttentionCase &c, double *row, int64_t position, int side,
                   bool transposed) {
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
struct AttentionReference {
  Doubles q, k, v, dO, o, lse, dq, dk, dv;
  std::vector<int32_t> segments;

  AttentionReference(const AttentionCase &c, double scale) {
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

} // namespace hybrid::test
