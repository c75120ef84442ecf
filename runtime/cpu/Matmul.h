//===- Matmul.h - matrix products of the library ------------------------------===//
//
// oneDNN for f32 and bf16; Eigen for f64, which oneDNN does not have and only gradient checks use.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/Result.h"
#include <cstdint>
#include <memory>
#include <string>

namespace hybrid::rt {

/// C[m,n] = A B (+ bias[n]) (+ C), row-major, leading dimensions in elements; see Matmul in
/// executable/Executable.fbs.
struct MatmulShape {
  int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  bool transposeA = false, transposeB = false, accumulate = false, bias = false;
  DType dtype = DType::F32;  // of a and b; c and bias are f32 for BF16, else the same ...
  bool roundsResult = false; // ... unless the complete sums are rounded to BF16
  int64_t batch = 1, batchStrideA = 0, batchStrideB = 0, batchStrideC = 0;
  bool grouped = false; // `batch` products of rows that `offsets` give when it runs
};

/// A product prepared once and run many times, in parts of C that threads compute each by itself.
/// The parts follow from the shape alone, so a result depends on no number of threads.
class Matmul {
public:
  enum class Use { InParts, Whole };
  /// For `threads` threads, which share it in parts, or each compute a whole one at times.
  static Result<std::unique_ptr<Matmul>> create(const MatmulShape &shape, int threads,
                                                Use use = Use::InParts);
  virtual ~Matmul() = default;

  int64_t parts() const { return partCount; }
  /// Computes a part on one of the threads, in any order, several at once. `extra` is the bias,
  /// the offsets of a grouped product (int32 [batch + 1]), or null when the shape has neither.
  /// Fails when the library cannot get memory.
  virtual Result<void> run(int64_t part, int thread, const void *a, const void *b, void *c,
                           const void *extra) = 0;
  /// All parts, on one thread.
  Result<void> runWhole(int thread, const void *a, const void *b, void *c, const void *extra);

protected:
  explicit Matmul(int64_t parts) : partCount(parts) {}

private:
  int64_t partCount;
};

/// "oneDNN 3.1.0".
std::string matrixLibraryVersion();

} // namespace hybrid::rt
