//===- TensorInput.h - a tensor given as a word -----------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/files/Npy.h"
#include <string>
#include <vector>

namespace hybrid::rt {

/// NAME=FILE.npy or NAME=2x3xf32=1,2,3,4,5,6.
struct TensorInput {
  std::string name, source;
  NpyArray array;

  /// Reads the array; the error names what cannot be read.
  static Result<TensorInput> parse(const std::string &text);
  /// The bytes of a tensor of `shape` in `type`; an error when the array has another shape.
  Result<std::vector<std::byte>> bytesFor(const std::vector<int64_t> &shape, DType type) const;
};

/// The tensor called prefix + name among `tensors`. The error lists the names there are; `what` is
/// how such a tensor is called in it ("input").
Result<const TensorInfo *> findTensor(const std::vector<TensorInfo> &tensors,
                                      const std::string &name, const std::string &prefix,
                                      const std::string &what);

} // namespace hybrid::rt
