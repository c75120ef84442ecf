//===- AttentionReference.h - attention by the textbook formula -------------===//
#pragma once
#include "test/kernels/Launch.h"

namespace hybrid::test {

/// A score that has every kind of argument: s / (1 + s²/9) + a b + c - (h + 1)(i - j)/50, with a
/// of the query, b and c of the key.
constexpr int64_t queryTerms = 1, keyTerms = 2;
struct AttentionScore {
  template <typename T> static void apply(const T *x, T *y) {
    y[0] = x[0] / (1 + x[0] * x[0] / 9) + x[4] * x[5] + x[6] - (x[3] + 1) * (x[1] - x[2]) / 50;
  }
};
struct AttentionScoreGradient {
  template <typename T> static void apply(const T *x, T *y) {
    const T square = x[0] * x[0] / 9, whole = 1 + square;
    y[0] = x[7] * (1 - square) / (whole * whole);
    y[1] = x[7] * x[5], y[2] = x[7] * x[4], y[3] = x[7];
  }
};

/// What is computed.
struct AttentionCase {
  int64_t batch = 2, length = 33, keyLength = 33, heads = 2, kvHeads = 2, headSize = 8;
  int64_t valueSize = 0; // 0: headSize
  bool causal = true;
  int64_t window = -1, rotaryDims = 0;
  bool interleaved = false, segments = false;
  double xpos = 0, scale = 0.3;
  bool score = false, lseGradient = false;
  // On CUDA: gaps between rows, and tiles of at most rowTile and columnTile.
  int64_t gap = 1;
  bool bf16 = false;
  int64_t rowTile = 128, columnTile = 64, splits = 1;
  int64_t wholeHeads = 0; // of a block that has them whole; 0: tiles

  constexpr int64_t values() const { return valueSize ? valueSize : headSize; }
};

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
  Doubles q, k, v, dO, o, lse, dq, dk, dv, dLse, ofQueries, ofKeys, dOfQueries, dOfKeys;
  std::vector<int32_t> segments;

  explicit AttentionReference(const AttentionCase &c) {
    int64_t m = c.headSize, w = c.values(), qRows = c.batch * c.length;
    int64_t kRows = c.batch * c.keyLength;
    q = randomDoubles(qRows * c.heads * m, 1), dO = randomDoubles(qRows * c.heads * w, 4);
    k = randomDoubles(kRows * c.kvHeads * m, 2), v = randomDoubles(kRows * c.kvHeads * w, 3);
    dLse = randomDoubles(qRows * c.heads, 5);
    ofQueries = randomDoubles(queryTerms * qRows * c.heads, 6);
    ofKeys = randomDoubles(keyTerms * kRows * c.heads, 7);
    dOfQueries.assign(ofQueries.size(), 0), dOfKeys.assign(ofKeys.size(), 0);
    o.assign(dO.size(), 0), dq.assign(q.size(), 0), dk.assign(k.size(), 0), dv.assign(v.size(), 0);
    lse.assign(static_cast<size_t>(c.batch * c.heads * c.length), 0);
    for (int64_t r = 0; r < kRows; ++r)
      segments.push_back(static_cast<int32_t>((r % c.keyLength) / 7 % 3));
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t h = 0; h < c.heads; ++h) {
        int64_t kv = h / (c.heads / c.kvHeads);
        auto keyAt = [&](int64_t s) { return ((b * c.keyLength + s) * c.kvHeads + kv) * m; };
        auto valueAt = [&](int64_t s) { return ((b * c.keyLength + s) * c.kvHeads + kv) * w; };
        auto termAt = [&](int64_t n, int64_t s) {
          return static_cast<size_t>(((b * keyTerms + n) * c.heads + h) * c.keyLength + s);
        };
        for (int64_t t = 0; t < c.length; ++t) {
          int64_t at = ((b * c.length + t) * c.heads + h) * m,
                  outputAt = ((b * c.length + t) * c.heads + h) * w,
                  position = t + c.keyLength - c.length;
          const auto rowAt = static_cast<size_t>((b * c.heads + h) * c.length + t);
          double scores[8] = {0, static_cast<double>(position), 0, static_cast<double>(h)};
          scores[4] = ofQueries[rowAt];
          auto setKey = [&](double product, int64_t s) {
            scores[0] = product, scores[2] = static_cast<double>(s);
            scores[5] = ofKeys[termAt(0, s)], scores[6] = ofKeys[termAt(1, s)];
          };
          Doubles products;
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
            products.push_back(score *= c.scale);
            if (c.score)
              setKey(score, s), AttentionScore::apply(scores, &score);
            p[static_cast<size_t>(s)] = seen ? score : -INFINITY;
            top = std::fmax(top, p[static_cast<size_t>(s)]);
            keys.push_back(key);
          }
          double &log = lse[rowAt];
          log = -INFINITY;
          if (top == -INFINITY)
            continue;
          for (double &x : p)
            sum += x = std::exp(x - top);
          log = top + std::log(sum);
          double delta = c.lseGradient ? -dLse[rowAt] : 0;
          for (int64_t s = 0; s < c.keyLength; ++s)
            for (int64_t d = 0; d < w; ++d)
              o[static_cast<size_t>(outputAt + d)] +=
                  p[static_cast<size_t>(s)] / sum * v[static_cast<size_t>(valueAt(s) + d)];
          for (int64_t d = 0; d < w; ++d)
            delta += o[static_cast<size_t>(outputAt + d)] * dO[static_cast<size_t>(outputAt + d)];
          for (int64_t s = 0; s < c.keyLength; ++s) {
            double weight = p[static_cast<size_t>(s)] / sum, dP = 0;
            for (int64_t d = 0; d < w; ++d)
              dP += dO[static_cast<size_t>(outputAt + d)] * v[static_cast<size_t>(valueAt(s) + d)];
            double dS = weight * (dP - delta);
            if (c.score) {
              double parts[4];
              setKey(products[static_cast<size_t>(s)], s), scores[7] = dS;
              AttentionScoreGradient::apply(scores, parts);
              dS = parts[0], dOfQueries[rowAt] += parts[1];
              dOfKeys[termAt(0, s)] += parts[2], dOfKeys[termAt(1, s)] += parts[3];
            }
            dS *= c.scale;
            Doubles dKey(static_cast<size_t>(m));
            for (int64_t d = 0; d < w; ++d)
              dv[static_cast<size_t>(valueAt(s) + d)] +=
                  weight * dO[static_cast<size_t>(outputAt + d)];
            for (int64_t d = 0; d < m; ++d) {
              auto i = static_cast<size_t>(d);
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
