//===- TensorProgram.h - what graphs of the tests' cuDNN compute ------------===//
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::shim {

using Sizes = std::array<int64_t, 4>;

/// A tensor of a graph, of a cudnnDataType_t. A virtual one lives within a run; a value is one
/// number that the caller passes.
struct GraphTensor {
  int64_t name = 0;
  int type = 0;
  Sizes sizes{}, strides{};
  int64_t alignment = 1;
  bool isVirtual = false, isValue = false;

  int64_t elements() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  /// Bytes from the first element to behind the last.
  size_t extentBytes() const;
};
/// Bytes of an element; 0 for a type that the shim does not know.
size_t tensorElementBytes(int type);

struct GraphOperation {
  enum class Kind { Pointwise, Matmul, Reduction, Reshape } kind = Kind::Pointwise;
  int mode = 0;     // cudnnPointwiseMode_t or cudnnReduceTensorOp_t
  int64_t axis = 0; // of an index
  GraphTensor x, b, t, y;
  bool hasB = false, hasT = false;

  /// What is wrong with its shapes and types; empty when nothing is.
  std::string fault() const;
};

struct TensorProgram {
  std::vector<GraphOperation> operations;

  /// What is wrong with the order of operations and with names; empty when nothing is.
  std::string fault() const;
  /// Tensors that are not virtual, by their names.
  std::map<int64_t, GraphTensor> outside() const;
  /// Computes all in order, virtual tensors rounded to their types. `memory` has an address for
  /// each of outside(); numbers of values are given apart.
  void run(const std::map<int64_t, void *> &memory, const std::map<int64_t, float> &values) const;
};

} // namespace hybrid::shim
