//===- KernelShapes.h - launches against what their kernels were made for ------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/Result.h"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

/// The kernels of an executable as it describes them. Machine code takes its sizes from when it was
/// compiled: a launch that fits none of these would touch memory that is not its own.
class KernelShapes {
public:
  /// Fails where a description itself makes no sense.
  Result<void> read(const fb::Executable &executable);
  /// The kernel that a launch is of; `loop` is the one that it is in, or null. Null for an
  /// executable older than format 3, of which nothing is known. `where` and the symbol are for the
  /// error.
  Result<const fb::Kernel *> find(const fb::KernelLaunch &launch, const fb::TileLoop *loop,
                                  const std::string &where) const;

private:
  bool known = false;
  std::map<std::string_view, std::vector<const fb::Kernel *>> kernels; // by symbol
};

} // namespace hybrid::rt
