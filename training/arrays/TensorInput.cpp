//===- TensorInput.cpp - a tensor given as a word ---------------------------------===//
#include "training/arrays/TensorInput.h"
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace hybrid::rt {

/// What the whole of a text says.
template <typename T> static std::optional<T> numberOf(std::string_view text) {
  T number{};
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

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
    auto size = numberOf<int64_t>(std::string_view(head).substr(at, next - at));
    if (!size || *size < 1)
      return Error{fmt::format("'{}' is not a size, in {}", head.substr(at, next - at), text)};
    array.shape.push_back(*size);
    at = next + 1;
  }
  for (size_t at = 0; at <= values.size();) {
    size_t next = std::min(values.find(',', at), values.size());
    std::string item = values.substr(at, next - at);
    auto append = [&](const auto &number) {
      if (!number)
        return false;
      const auto *bytes = reinterpret_cast<const std::byte *>(&*number);
      array.data.insert(array.data.end(), bytes, bytes + sizeof *number);
      return true;
    };
    const bool isInteger = array.element == NpyArray::Element::I64;
    if (isInteger ? !append(numberOf<int64_t>(item)) : !append(numberOf<double>(item)))
      return Error{
          fmt::format("'{}' is not {}, in {}", item, isInteger ? "an integer" : "a number", text)};
    at = next + 1;
  }
  auto rows = static_cast<int64_t>(array.data.size() / 8); // of the sizes that are left
  for (int64_t size : array.shape)
    rows = rows % size == 0 ? rows / size : 0;
  if (rows != 1)
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
