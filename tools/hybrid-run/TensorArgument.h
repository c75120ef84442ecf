//===- TensorArgument.h - a tensor given on the command line ----------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/files/Npy.h"
#include <string>
#include <vector>

namespace hybrid::tools {

/// NAME=FILE.npy or NAME=2x3xf32=1,2,3,4,5,6.
struct TensorArgument {
  std::string name, source;
  rt::NpyArray array;

  /// Reads the array. Throws Failure naming what cannot be read.
  static TensorArgument parse(const std::string &text);
  /// The bytes of a tensor of `shape` in `type`. Throws Failure when the array has another shape.
  std::vector<std::byte> bytesFor(const std::vector<int64_t> &shape, rt::DType type) const;
};

/// The tensor called prefix + name among `tensors`. Throws Failure listing the names there are;
/// `what` is how such a tensor is called in it ("input").
const rt::TensorInfo &findTensor(const std::vector<rt::TensorInfo> &tensors,
                                 const std::string &name, const std::string &prefix,
                                 const std::string &what);

/// Makes the folder and its parents.
void makeFolder(const std::string &path);

} // namespace hybrid::tools
