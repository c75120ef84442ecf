//===- TensorArgument.cpp - a tensor given on the command line --------------------===//
#include "tools/hybrid-run/TensorArgument.h"
#include "tools/hybrid-run/Verbs.h"
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace hybrid::tools {

/// `2x3xf32=1,2,3,4,5,6`; nothing when the text is of no such form.
static std::optional<rt::NpyArray> parseInline(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    return std::nullopt;
  rt::NpyArray array;
  std::string head = text.substr(0, equals), values = text.substr(equals + 1);
  size_t cross = head.rfind('x');
  std::string type = cross == std::string::npos ? head : head.substr(cross + 1);
  if (type != "f32" && type != "f64" && type != "i32")
    return std::nullopt;
  array.element = type == "i32" ? rt::NpyArray::Element::I64 : rt::NpyArray::Element::F64;
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
      throw Failure(fmt::format("'{}' is not a number, in {}", item, text));
    const auto *bytes = array.element == rt::NpyArray::Element::I64
                            ? reinterpret_cast<const std::byte *>(&integer)
                            : reinterpret_cast<const std::byte *>(&value);
    array.data.insert(array.data.end(), bytes, bytes + 8);
    at = next + 1;
  }
  if (static_cast<int64_t>(array.data.size()) != array.elements() * 8)
    throw Failure(fmt::format("{} values are given for shape [{}]", array.data.size() / 8,
                              fmt::join(array.shape, ", ")));
  return array;
}

TensorArgument TensorArgument::parse(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw Failure(fmt::format("'{}': expected NAME=FILE.npy", text));
  TensorArgument argument{text.substr(0, equals), text.substr(equals + 1), {}};
  std::optional<rt::NpyArray> given = parseInline(argument.source);
  argument.array = given ? std::move(*given) : valueOf(rt::readNpy(argument.source));
  return argument;
}

std::vector<std::byte> TensorArgument::bytesFor(const std::vector<int64_t> &shape,
                                                rt::DType type) const {
  if (array.shape != shape)
    throw Failure(fmt::format("{}: '{}' is [{}], but the model was compiled for [{}]", source, name,
                              fmt::join(array.shape, ", "), fmt::join(shape, ", ")));
  return valueOf(array.convertedTo(type, name));
}

const rt::TensorInfo &findTensor(const std::vector<rt::TensorInfo> &tensors,
                                 const std::string &name, const std::string &prefix,
                                 const std::string &what) {
  std::vector<std::string> known;
  for (const rt::TensorInfo &tensor : tensors) {
    if (tensor.name == prefix + name)
      return tensor;
    if (tensor.name.starts_with(prefix) &&
        (!prefix.empty() || !tensor.name.starts_with("cotangent.")))
      known.push_back(tensor.name.substr(prefix.size()));
  }
  throw Failure(fmt::format("the model has no {} '{}'; it has {}", what, name,
                            known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

void makeFolder(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw Failure(fmt::format("cannot make the folder '{}': {}", path, error.message()));
}

} // namespace hybrid::tools
