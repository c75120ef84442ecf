//===- Known.cpp - tensors whose values are known when compiling ----------------===//
#include "frontends/onnx/Known.h"
#include "formats/onnx/Onnx.pb.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace hybrid::onnx::frontend {

std::optional<DataType> dataType(int32_t number) {
  switch (number) {
  case 1:
  case 2:
  case 3:
  case 4:
  case 5:
  case 6:
  case 7:
  case 9:
  case 10:
  case 11:
  case 12:
  case 13:
  case 16:
    return static_cast<DataType>(number);
  default:
    return std::nullopt;
  }
}

bool isFloat(DataType type) {
  return type == DataType::F32 || type == DataType::F64 || type == DataType::F16 ||
         type == DataType::BF16;
}

static int64_t bytesOf(DataType type) {
  switch (type) {
  case DataType::U8:
  case DataType::I8:
  case DataType::Bool:
    return 1;
  case DataType::U16:
  case DataType::I16:
  case DataType::F16:
  case DataType::BF16:
    return 2;
  case DataType::F32:
  case DataType::I32:
  case DataType::U32:
    return 4;
  case DataType::F64:
  case DataType::I64:
  case DataType::U64:
    return 8;
  }
  llvm_unreachable("a type that is not read");
}

int64_t whole(double value) {
  if (value >= 0x1p63)
    return INT64_MAX;
  return value <= -0x1p63 || std::isnan(value) ? INT64_MIN : static_cast<int64_t>(value);
}

Shape Known::integers() const {
  Shape all;
  for (size_t i = 0; i < values.size(); ++i)
    all.push_back(integer(i));
  return all;
}

std::optional<double> Known::everywhere() const {
  if (values.empty() || !llvm::all_of(values, [&](double value) { return value == values[0]; }))
    return std::nullopt;
  return values[0];
}

int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || MulOverflow(count, size, count) || count > (int64_t(1) << 40))
      return -1;
  return count;
}

double rounded(double value, DataType type) {
  switch (type) {
  case DataType::F32:
  case DataType::F16: // as f32: only what is stored has fewer digits
  case DataType::BF16:
    return static_cast<double>(static_cast<float>(value));
  case DataType::F64:
    return value;
  case DataType::Bool:
    return value != 0 ? 1 : 0;
  default:
    return std::trunc(value);
  }
}

Known made(DataType type, Shape shape, function_ref<double(ArrayRef<int64_t> index)> element) {
  Known result{type, std::move(shape), {}};
  const int64_t count = countOf(result.shape);
  result.values.reserve(static_cast<size_t>(count));
  Shape index(result.shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    result.values.push_back(rounded(element(index), type));
    for (size_t d = index.size(); d-- > 0 && ++index[d] == result.shape[d];)
      index[d] = 0;
  }
  return result;
}

double at(const Known &known, ArrayRef<int64_t> index) {
  const size_t skipped = index.size() - known.shape.size();
  int64_t place = 0;
  for (size_t d = 0; d < known.shape.size(); ++d)
    place = place * known.shape[d] + (known.shape[d] == 1 ? 0 : index[skipped + d]);
  return known.values[static_cast<size_t>(place)];
}

//===-- stored tensors -----------------------------------------------------------------===//

template <typename T> static double loaded(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

static double half(const char *bytes, const fltSemantics &semantics) {
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return APFloat(semantics, APInt(16, bits)).convertToFloat();
}

static double element(const char *bytes, DataType type) {
  switch (type) {
  case DataType::F32:
    return loaded<float>(bytes);
  case DataType::F64:
    return loaded<double>(bytes);
  case DataType::F16:
    return half(bytes, APFloat::IEEEhalf());
  case DataType::BF16:
    return half(bytes, APFloat::BFloat());
  case DataType::U8:
  case DataType::Bool:
    return loaded<uint8_t>(bytes);
  case DataType::I8:
    return loaded<int8_t>(bytes);
  case DataType::U16:
    return loaded<uint16_t>(bytes);
  case DataType::I16:
    return loaded<int16_t>(bytes);
  case DataType::I32:
    return loaded<int32_t>(bytes);
  case DataType::U32:
    return loaded<uint32_t>(bytes);
  case DataType::I64:
    return loaded<int64_t>(bytes);
  case DataType::U64:
    return loaded<uint64_t>(bytes);
  }
  llvm_unreachable("a type that is not read");
}

std::optional<Known> readTensor(const TensorProto &tensor, StringRef external, std::string &fault) {
  std::optional<DataType> type = dataType(tensor.data_type());
  if (!type) {
    fault = "holds elements of ONNX's type " + std::to_string(tensor.data_type()) +
            ", expected floating-point numbers, integers or booleans";
    return std::nullopt;
  }
  Known known{*type, Shape(tensor.dims().begin(), tensor.dims().end()), {}};
  const int64_t count = countOf(known.shape);
  const bool isExternal = tensor.data_location() == TensorProto::EXTERNAL;
  StringRef raw = isExternal ? external : StringRef(tensor.raw_data());
  auto fields = [&](const auto &values, auto convert) {
    for (auto value : values)
      known.values.push_back(convert(value));
  };
  auto plain = [](auto value) { return static_cast<double>(value); };
  // Bytes are compared with the shape before anything is made of that size.
  auto wrong = [&](int64_t has) {
    fault = "has " + std::to_string(has) + " numbers, expected " +
            (count < 0 ? std::string("fewer than 2^40") : std::to_string(count)) + " for its shape";
    return std::nullopt;
  };
  const int64_t bytes = bytesOf(*type);
  if (isExternal || tensor.has_raw_data()) {
    const auto size = static_cast<int64_t>(raw.size());
    if (count < 0 || size != count * bytes)
      return wrong(size / bytes);
    known.values.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      known.values.push_back(element(raw.data() + i * bytes, *type));
    return known;
  }
  if (tensor.float_data_size() > 0)
    fields(tensor.float_data(), plain);
  else if (tensor.double_data_size() > 0)
    fields(tensor.double_data(), plain);
  else if (tensor.int64_data_size() > 0)
    fields(tensor.int64_data(), plain);
  else if (*type == DataType::F16 || *type == DataType::BF16)
    fields(tensor.int32_data(), [&](int32_t bits) {
      const auto narrow = static_cast<uint16_t>(bits);
      return element(reinterpret_cast<const char *>(&narrow), *type);
    });
  else
    fields(tensor.int32_data(), plain);
  if (static_cast<int64_t>(known.values.size()) != count)
    return wrong(static_cast<int64_t>(known.values.size()));
  return known;
}

} // namespace hybrid::onnx::frontend
