//===- TensorInput.cpp - a tensor given as a word ---------------------------------===//
#include "training/arrays/TensorInput.h"
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace hybrid::rt {

/// `2x3xf32=1,2,3,4,5,6`; nothing when the text is of no such form.
static Result<std::optional<NpyArray>> parseInline(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    return std::optional<NpyArray>();
  NpyArray array;
  std::string head = text.substr(0, equals), values = text.substr(equals + 1);
  size_t cross = head.rfind('x');
  std::string type = cross == std::string::npos ? head : head.substr(cross + 1);
  if (type != "f32" && type != "f64" && type != "i32")
    return std::optional<NpyArray>();
  array.element = type == "i32" ? NpyArray::Element::I64 : NpyArray::Element::F64;
  for (size_t at = 0; cross != std::string::npos && at < cross;) {
    size_t next = std::min(head.find('x', at), cross);
    array.shape.push_back(std::atoll(head.substr(at, next - at).c_str()));
    at = next + 1;
  }
  for (size_t at = 0; at <= values.size();) {
    size_t next = std::min(values.find(',', at), values.size());
    std::string item = values.substr(at, next - at);
    char *end = nullptr;
    double value = std::strtod(item.c_str(), &end);
    int64_t integer = std::atoll(item.c_str());
    if (item.empty() || *end)
      return Error{fmt::format("'{}' is not a number, in {}", item, text)};
    const auto *bytes = array.element == NpyArray::Element::I64
                            ? reinterpret_cast<const std::byte *>(&integer)
                            : reinterpret_cast<const std::byte *>(&value);
    array.data.insert(array.data.end(), bytes, bytes + 8);
    at = next + 1;
  }
  if (static_cast<int64_t>(array.data.size()) != array.elements() * 8)
    return Error{fmt::format("{} values are given for shape [{}]", array.data.size() / 8,
                             fmt::join(array.shape, ", "))};
  return std::optional(std::move(array));
}

Result<TensorInput> TensorInput::parse(const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    return Error{fmt::format("'{}': expected NAME=FILE.npy", text)};
  TensorInput input{text.substr(0, equals), text.substr(equals + 1), {}};
  auto given = parseInline(input.source);
  if (!given)
    return given.error();
  auto array = *given ? Result<NpyArray>(std::move(**given)) : readNpy(input.source);
  if (!array)
    return array.error();
  input.array = std::move(*array);
  return input;
}

Result<std::vector<std::byte>> TensorInput::bytesFor(const std::vector<int64_t> &shape,
                                                     DType type) const {
  if (array.shape != shape)
    return Error{fmt::format("{}: '{}' is [{}], but the model was compiled for [{}]", source, name,
                             fmt::join(array.shape, ", "), fmt::join(shape, ", "))};
  return array.convertedTo(type, name);
}

Result<const TensorInfo *> findTensor(const std::vector<TensorInfo> &tensors,
                                      const std::string &name, const std::string &prefix,
                                      const std::string &what) {
  std::vector<std::string> known;
  for (const TensorInfo &tensor : tensors) {
    if (tensor.name == prefix + name)
      return &tensor;
    if (tensor.name.starts_with(prefix) &&
        (!prefix.empty() || !tensor.name.starts_with("cotangent.")))
      known.push_back(tensor.name.substr(prefix.size()));
  }
  return Error{fmt::format("the model has no {} '{}'; it has {}", what, name,
                           known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")))};
}

} // namespace hybrid::rt
