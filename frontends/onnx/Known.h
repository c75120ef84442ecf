//===- Known.h - tensors whose values are known when compiling ------------------===//
//
// Shapes, positions, masks: what exporters compute at run time and what follows from sizes here.
// All numbers are doubles, rounded to their type after every operation; integers beyond 2^53, which
// only mean "to the end", keep that meaning.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::onnx {
class TensorProto;
}

namespace hybrid::onnx::frontend {

using Shape = llvm::SmallVector<int64_t>;

/// By ONNX's numbers.
enum class DataType : int32_t {
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  BF16 = 16
};
/// Nothing: strings, complex numbers and narrower ones are not read.
std::optional<DataType> dataType(int32_t number);
bool isFloat(DataType type);

/// Most elements that one tensor, and all of a model, may have here.
inline constexpr int64_t mostKnown = int64_t(1) << 24, mostKnownInAll = int64_t(1) << 27;

/// An integer, where values beyond 64 bits are the outermost ones.
int64_t whole(double value);

struct Known {
  DataType type = DataType::I64;
  Shape shape;
  std::vector<double> values;

  int64_t integer(size_t i) const { return whole(values[i]); }
  Shape integers() const;
  /// The value that all elements have, if they do.
  std::optional<double> everywhere() const;
};
using KnownPtr = std::shared_ptr<const Known>;

/// Elements of a shape; -1 beyond 2^40, or with a negative size.
int64_t countOf(llvm::ArrayRef<int64_t> shape);
/// As a value of the type holds it.
double rounded(double value, DataType type);
/// Each element by its index.
Known made(DataType type, Shape shape,
           llvm::function_ref<double(llvm::ArrayRef<int64_t> index)> element);
/// An element by the index of a tensor to which `known` broadcasts.
double at(const Known &known, llvm::ArrayRef<int64_t> index);

/// A stored tensor; `external` are the bytes of a file beside the model where it has them there.
/// Nothing and a message in `fault` when it has not as many as its shape says.
std::optional<Known> readTensor(const TensorProto &tensor, llvm::StringRef external,
                                std::string &fault);

} // namespace hybrid::onnx::frontend
