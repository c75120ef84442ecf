//===- KernelShapes.cpp - launches against what their kernels were made for ----===//
#include "runtime/KernelShapes.h"
#include <bit>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// What keeps a launch from being one of this kernel; empty where nothing does.
std::string mismatch(const fb::Kernel &kernel, const fb::KernelLaunch &launch,
                     const fb::TileLoop *loop) {
  const std::tuple<std::string_view, int64_t, int64_t> numbers[] = {
      {"work items", launch.grid(), kernel.grid()},
      {"work items a tile", launch.items_per_tile(), kernel.items_per_tile()},
      {"rows a tile", loop ? loop->tile() : 0, kernel.tile()},
      {"bytes of scratch", static_cast<int64_t>(launch.scratch_bytes()),
       static_cast<int64_t>(kernel.scratch_bytes())},
      {"threads", launch.threads(), kernel.threads()},
      {"buffers", launch.buffers() ? launch.buffers()->size() : 0, kernel.buffers()->size()}};
  for (auto [what, has, wanted] : numbers)
    if (has != wanted)
      return fmt::format("has {} {}, expected {}", has, what, wanted);
  const auto *rows = launch.row_bytes();
  for (unsigned i = 0; i < kernel.buffers()->size(); ++i) {
    const fb::KernelBuffer &wanted = *kernel.buffers()->Get(i);
    const fb::BufferRef &buffer = *launch.buffers()->Get(i);
    if (buffer.bytes() < wanted.bytes() || (buffer.bytes() != 0) != (wanted.bytes() != 0))
      return fmt::format("has {} bytes for buffer {}, expected {}", buffer.bytes(), i,
                         wanted.bytes());
    if (buffer.offset() % wanted.alignment() != 0)
      return fmt::format("has buffer {} at offset {}, expected a multiple of {}", i,
                         buffer.offset(), wanted.alignment());
    if (buffer.bytes() && (buffer.space() == fb::Space::Tile) != wanted.in_tile())
      return fmt::format("has buffer {} {} a tile", i, wanted.in_tile() ? "outside" : "in");
    const int64_t distance = rows && rows->size() ? rows->Get(i) : 0;
    if (distance != wanted.row_bytes())
      return fmt::format("has rows of buffer {} {} bytes apart, expected {}", i, distance,
                         wanted.row_bytes());
  }
  return "";
}

} // namespace

Result<void> KernelShapes::read(const fb::Executable &executable) {
  known = executable.version_major() >= 3;
  if (!executable.kernels())
    return {};
  for (const fb::Kernel *kernel : *executable.kernels()) {
    const std::string_view symbol = kernel->symbol()->string_view();
    if (!kernel->buffers() || (kernel->buffers()->size() &&
                               reinterpret_cast<uintptr_t>(kernel->buffers()->Data()) % 8 != 0))
      return Error{fmt::format("corrupt: the description of a kernel ({}) has no buffers",
                               symbol.substr(0, 64))};
    for (const fb::KernelBuffer *buffer : *kernel->buffers())
      if (!std::has_single_bit(buffer->alignment()))
        return Error{fmt::format("corrupt: the description of a kernel ({}) has an alignment of {}",
                                 symbol.substr(0, 64), buffer->alignment())};
    kernels[symbol].push_back(kernel);
  }
  return {};
}

Result<const fb::Kernel *> KernelShapes::find(const fb::KernelLaunch &launch,
                                              const fb::TileLoop *loop,
                                              const std::string &where) const {
  const std::string_view symbol = launch.symbol()->string_view();
  auto found = kernels.find(symbol);
  if (!known)
    return nullptr;
  if (found == kernels.end())
    return Error{fmt::format(
        "corrupt: {} is of a kernel ({}) that the executable does not describe", where, symbol)};
  std::string why;
  for (const fb::Kernel *kernel : found->second) {
    std::string fault = mismatch(*kernel, launch, loop);
    if (fault.empty())
      return kernel;
    why = std::move(fault);
  }
  return Error{fmt::format("corrupt: {} ({}) is no launch that its kernel was made for: it {}",
                           where, symbol, why)};
}

} // namespace hybrid::rt
