//===- InputIds.cpp - inputs whose integers name a place --------------------===//
#include "runtime/InputIds.h"
#include "executable/Executable_generated.h"
#include <fmt/format.h>

namespace hybrid::rt {

std::string InputIds::text() const {
  const bool more = also < 0 || also >= below;
  return fmt::format("0 to {}{}", below - 1, more ? fmt::format(", or {}", also) : "");
}

std::optional<InputIds> idsOf(const Executable &executable, std::string_view program,
                              std::string_view input) {
  for (const fb::Program *candidate : *executable.format().programs())
    if (candidate->name()->string_view() == program && candidate->inputs())
      for (const fb::Tensor *tensor : *candidate->inputs())
        if (tensor->name()->string_view() == input && tensor->ids_below() > 0)
          return InputIds{tensor->ids_below(), tensor->ids_also()};
  return std::nullopt;
}

Result<void> checkIds(const Executable &executable, std::string_view program,
                      std::string_view input, std::span<const std::byte> data,
                      std::span<const int64_t> shape) {
  const std::optional<InputIds> ids = idsOf(executable, program, input);
  for (size_t i = 0; ids && i < data.size() / sizeof(int32_t); ++i) {
    const auto id = static_cast<int32_t>(numberAt(DType::I32, data, i));
    if (ids->has(id))
      continue;
    std::vector<size_t> place(shape.size());
    size_t rest = i;
    for (size_t axis = shape.size(); axis-- > 0;) {
      place[axis] = rest % static_cast<size_t>(shape[axis]);
      rest /= static_cast<size_t>(shape[axis]);
    }
    return Error{fmt::format("'{}' holds the id {} at [{}], expected {}", input, id,
                             fmt::join(place, ", "), ids->text())};
  }
  return {};
}

} // namespace hybrid::rt
