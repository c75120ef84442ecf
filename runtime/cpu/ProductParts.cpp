//===- ProductParts.cpp - a matrix product as parts that threads take ---------===//
#include "runtime/cpu/ProductParts.h"
#include <algorithm>
#include <bit>

namespace hybrid::rt {
namespace {

/// Microseconds on one core, roughly: what counts is that a part is neither so small that handing
/// it out shows nor so large that others wait for it.
double microseconds(const MatmulShape &s) {
  constexpr double flopsAMicrosecond = 1e5, bytesAMicrosecond = 1e4;
  auto products = static_cast<double>(s.grouped ? 1 : s.batch), m = static_cast<double>(s.m),
       n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  double bytes = static_cast<double>(bytesOf(s.dtype)) * (m * k + k * n + m * n);
  return products * std::max(2 * m * n * k / flopsAMicrosecond, bytes / bytesAMicrosecond);
}

/// The rows and columns that a part has at least, so that the library packs operands seldom enough.
/// Measured on an EPYC with AVX-512, oneDNN 2.6.3, GFLOP/s of one thread for parts of 4096, 128 and
/// 64 rows: 4096 x 512 x 128: 103, 99, 95; 4096 x 128 x 512: 107, 102, 106; and of Aᵀ·B for parts
/// of 512, 64 and 32 rows: 512 x 128 x 4096: 111, 109, 107; 128 x 512 x 4096 from 128: 109, 110,
/// 109. Columns: 64 cost a tenth, 128 nothing.
int64_t leastRows(const MatmulShape &s) {
  if (!s.transposeA)
    return 128;
  return s.m >= 256 ? 64 : 32;
}
constexpr int64_t leastColumns = 128;

/// In at most `parts` stretches of about the same size, `least` or more and a multiple of 16.
Division divide(int64_t size, int64_t parts, int64_t least) {
  int64_t step = std::max(least, (size + parts - 1) / parts);
  step = (step + 15) / 16 * 16;
  return {size, std::max<int64_t>(1, std::min(step, size))};
}

} // namespace

ProductParts ProductParts::whole(const MatmulShape &s) {
  return {{s.batch, s.grouped ? 1 : s.batch}, {s.m, s.m}, {s.n, s.n}};
}

ProductParts ProductParts::of(const MatmulShape &s) {
  constexpr double leastMicroseconds = 40;
  constexpr int64_t most = 64;
  const double whole = microseconds(s) / leastMicroseconds;
  int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(std::min(whole, 1e6)), 1, most);
  wanted = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(wanted)));
  auto left = [&](const Division &done) { return std::max<int64_t>(1, wanted / done.count()); };

  ProductParts parts;
  parts.batch = {s.batch, s.grouped ? 1 : std::max<int64_t>(1, (s.batch + wanted - 1) / wanted)};
  if (!s.grouped)
    wanted = left(parts.batch);
  parts.rows = divide(s.m, wanted, leastRows(s));
  wanted = s.grouped ? 1 : left(parts.rows);
  parts.columns = divide(s.n, wanted, leastColumns);
  return parts;
}

} // namespace hybrid::rt
