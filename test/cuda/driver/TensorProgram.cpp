//===- TensorProgram.cpp - what graphs of the tests' cuDNN compute ----------===//
//
// Slow and plain: a tensor is a dense array of f32, sums are in f64.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/driver/TensorProgram.h"
#include "runtime/cuda/CudnnApi.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace dnn = hybrid::rt::cuda::dnn;

namespace hybrid::shim {
namespace {

using Values = std::vector<float>;

std::string text(const Sizes &sizes) {
  std::string result = "[";
  for (size_t i = 0; i < sizes.size(); ++i)
    result += (i ? ", " : "") + std::to_string(sizes[i]);
  return result + "]";
}

float fromBf16Bits(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

/// To the nearest, ties to even.
uint16_t toBf16Bits(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  if (std::isnan(value))
    return static_cast<uint16_t>(word >> 16 | 0x40);
  return static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

float rounded(int type, float value) {
  return type == dnn::bf16 ? fromBf16Bits(toBf16Bits(value)) : value;
}

/// Calls `visit` with the number and the four indices of each element, in order.
template <typename Visit> void forEach(const Sizes &sizes, Visit &&visit) {
  int64_t number = 0;
  Sizes at{};
  for (at[0] = 0; at[0] < sizes[0]; ++at[0])
    for (at[1] = 0; at[1] < sizes[1]; ++at[1])
      for (at[2] = 0; at[2] < sizes[2]; ++at[2])
        for (at[3] = 0; at[3] < sizes[3]; ++at[3])
          visit(number++, at);
}

int64_t place(const Sizes &at, const Sizes &strides) {
  return at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2] + at[3] * strides[3];
}

Sizes dense(const Sizes &sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

/// Strides of an operand whose axes of size 1 are repeated.
Sizes broadcast(const Sizes &sizes) {
  Sizes strides = dense(sizes);
  for (size_t i = 0; i < 4; ++i)
    if (sizes[i] == 1)
      strides[i] = 0;
  return strides;
}

Values read(const GraphTensor &tensor, const void *memory) {
  Values values(static_cast<size_t>(tensor.elements()));
  forEach(tensor.sizes, [&](int64_t number, const Sizes &at) {
    const int64_t from = place(at, tensor.strides);
    values[number] = tensor.type == dnn::bf16
                         ? fromBf16Bits(static_cast<const uint16_t *>(memory)[from])
                         : static_cast<const float *>(memory)[from];
  });
  return values;
}

void write(const GraphTensor &tensor, const Values &values, void *memory) {
  forEach(tensor.sizes, [&](int64_t number, const Sizes &at) {
    const int64_t to = place(at, tensor.strides);
    if (tensor.type == dnn::bf16)
      static_cast<uint16_t *>(memory)[to] = toBf16Bits(values[number]);
    else
      static_cast<float *>(memory)[to] = values[number];
  });
}

float applied(int mode, float x, float b, float t) {
  switch (mode) {
  case dnn::add:
    return x + b;
  case dnn::multiply:
    return x * b;
  case dnn::divide:
    return x / b;
  case dnn::subtract:
    return x - b;
  case dnn::exponential:
    return std::exp(x);
  case dnn::logarithm:
    return std::log(x);
  case dnn::greaterEqual:
    return x >= b ? 1.0f : 0.0f;
  case dnn::select:
    return t != 0 ? x : b;
  default:
    return std::numeric_limits<float>::quiet_NaN();
  }
}

void pointwise(const GraphOperation &op, const Values &x, const Values *b, const Values *t,
               Values &y) {
  if (op.mode == dnn::index)
    return forEach(op.y.sizes, [&](int64_t number, const Sizes &at) {
      y[number] = static_cast<float>(at[op.axis]);
    });
  const Sizes ofX = broadcast(op.x.sizes), ofB = broadcast(op.b.sizes), ofT = broadcast(op.t.sizes);
  forEach(op.y.sizes, [&](int64_t number, const Sizes &at) {
    y[number] = applied(op.mode, x[place(at, ofX)], b ? (*b)[place(at, ofB)] : 0,
                        t ? (*t)[place(at, ofT)] : 0);
  });
}

void matmul(const GraphOperation &op, const Values &a, const Values &b, Values &c) {
  const auto [batch, heads, m, n] = op.y.sizes;
  const int64_t k = op.x.sizes[3], sharing = heads / op.b.sizes[1];
  std::vector<double> row(static_cast<size_t>(n));
  for (int64_t i = 0; i < batch * heads; ++i) {
    const int64_t other = i / heads * op.b.sizes[1] + i % heads / sharing;
    for (int64_t r = 0; r < m; ++r) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int64_t j = 0; j < k; ++j) {
        const double factor = a[(i * m + r) * k + j];
        const float *from = &b[(other * k + j) * n];
        for (int64_t column = 0; column < n; ++column)
          row[column] += factor * from[column];
      }
      for (int64_t column = 0; column < n; ++column)
        c[(i * m + r) * n + column] = static_cast<float>(row[column]);
    }
  }
}

void reduce(const GraphOperation &op, const Values &x, Values &y) {
  const bool isMaximum = op.mode == dnn::maximum;
  std::vector<double> sums(y.size(), isMaximum ? -std::numeric_limits<double>::infinity() : 0.0);
  const Sizes strides = dense(op.y.sizes);
  Sizes group;
  for (size_t i = 0; i < 4; ++i)
    group[i] = op.x.sizes[i] / op.y.sizes[i];
  forEach(op.x.sizes, [&](int64_t number, const Sizes &at) {
    Sizes to;
    for (size_t i = 0; i < 4; ++i)
      to[i] = at[i] / group[i];
    double &sum = sums[place(to, strides)];
    sum = isMaximum ? std::max<double>(sum, x[number]) : sum + x[number];
  });
  std::copy(sums.begin(), sums.end(), y.begin());
}

/// The elements of x in the order of its strides are those of y in the order of its own.
void reshape(const GraphOperation &op, const Values &x, Values &y) {
  Values byPlace(op.x.extentBytes() / tensorElementBytes(op.x.type),
                 std::numeric_limits<float>::quiet_NaN());
  forEach(op.x.sizes,
          [&](int64_t number, const Sizes &at) { byPlace[place(at, op.x.strides)] = x[number]; });
  forEach(op.y.sizes,
          [&](int64_t number, const Sizes &at) { y[number] = byPlace[place(at, op.y.strides)]; });
}

bool isFactor(const Sizes &x, const Sizes &y) {
  for (size_t i = 0; i < 4; ++i)
    if (x[i] != y[i] && x[i] != 1)
      return false;
  return true;
}

} // namespace

size_t tensorElementBytes(int type) {
  switch (type) {
  case dnn::f32:
  case dnn::i32:
    return 4;
  case dnn::bf16:
    return 2;
  case dnn::boolean:
    return 1;
  default:
    return 0;
  }
}

size_t GraphTensor::extentBytes() const {
  int64_t last = 0;
  for (size_t i = 0; i < 4; ++i)
    last += (sizes[i] - 1) * strides[i];
  return static_cast<size_t>(last + 1) * tensorElementBytes(type);
}

std::string GraphOperation::fault() const {
  switch (kind) {
  case Kind::Pointwise: {
    const bool binary = mode == dnn::add || mode == dnn::multiply || mode == dnn::divide ||
                        mode == dnn::subtract || mode == dnn::greaterEqual || mode == dnn::select;
    if (hasB != binary || hasT != (mode == dnn::select))
      return "a pointwise operation of mode " + std::to_string(mode) +
             " with operands too many or too few";
    if (!isFactor(x.sizes, y.sizes) || (hasB && !isFactor(b.sizes, y.sizes)) ||
        (hasT && !isFactor(t.sizes, y.sizes)))
      return "a pointwise operation of " + text(x.sizes) + " to " + text(y.sizes);
    if ((mode == dnn::greaterEqual) != (y.type == dnn::boolean) ||
        (mode == dnn::index) != (y.type == dnn::i32) || (hasT && t.type != dnn::boolean))
      return "a pointwise operation of mode " + std::to_string(mode) + " of a wrong type";
    return "";
  }
  case Kind::Matmul:
    if (x.sizes[0] != y.sizes[0] || b.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1] ||
        y.sizes[1] % b.sizes[1] != 0 || x.sizes[2] != y.sizes[2] || x.sizes[3] != b.sizes[2] ||
        b.sizes[3] != y.sizes[3])
      return "a product of " + text(x.sizes) + " and " + text(b.sizes) + " to " + text(y.sizes);
    return "";
  case Kind::Reduction:
    for (size_t i = 0; i < 4; ++i)
      if (x.sizes[i] % y.sizes[i] != 0)
        return "a reduction of " + text(x.sizes) + " to " + text(y.sizes);
    return "";
  case Kind::Reshape:
    if (x.elements() != y.elements() || x.extentBytes() / tensorElementBytes(x.type) !=
                                            y.extentBytes() / tensorElementBytes(y.type))
      return "a reshape of " + text(x.sizes) + " to " + text(y.sizes);
    return "";
  }
  return "an operation of no known kind";
}

std::string TensorProgram::fault() const {
  std::set<int64_t> written;
  std::map<int64_t, GraphTensor> known;
  for (const GraphOperation &op : operations) {
    if (std::string fault = op.fault(); !fault.empty())
      return fault;
    auto check = [&](const GraphTensor &tensor) -> std::string {
      auto [entry, isNew] = known.emplace(tensor.name, tensor);
      if (!isNew && (entry->second.sizes != tensor.sizes ||
                     entry->second.strides != tensor.strides || entry->second.type != tensor.type))
        return "two tensors of the name " + std::to_string(tensor.name);
      return "";
    };
    for (const GraphTensor *operand : {&op.x, op.hasB ? &op.b : nullptr, op.hasT ? &op.t : nullptr})
      if (operand) {
        if (std::string fault = check(*operand); !fault.empty())
          return fault;
        if (operand->isVirtual && !written.count(operand->name))
          return "virtual tensor " + std::to_string(operand->name) + " is read before it is there";
      }
    if (std::string fault = check(op.y); !fault.empty())
      return fault;
    if (op.y.isValue || !written.insert(op.y.name).second)
      return "tensor " + std::to_string(op.y.name) + " is a value or written twice";
  }
  return operations.empty() ? "a graph without operations" : "";
}

std::map<int64_t, GraphTensor> TensorProgram::outside() const {
  std::map<int64_t, GraphTensor> tensors;
  for (const GraphOperation &op : operations)
    for (const GraphTensor *each :
         {&op.x, op.hasB ? &op.b : nullptr, op.hasT ? &op.t : nullptr, &op.y})
      if (each && !each->isVirtual)
        tensors[each->name] = *each;
  return tensors;
}

void TensorProgram::run(const std::map<int64_t, void *> &memory,
                        const std::map<int64_t, float> &values) const {
  std::map<int64_t, size_t> lastUse;
  for (size_t i = 0; i < operations.size(); ++i)
    for (const GraphTensor *each : {&operations[i].x, &operations[i].b, &operations[i].t})
      lastUse[each->name] = i;
  std::map<int64_t, Values> tensors;
  auto load = [&](const GraphTensor &tensor) -> const Values & {
    auto found = tensors.find(tensor.name);
    if (found == tensors.end())
      found = tensors
                  .emplace(tensor.name, tensor.isValue ? Values{values.at(tensor.name)}
                                                       : read(tensor, memory.at(tensor.name)))
                  .first;
    return found->second;
  };
  for (size_t i = 0; i < operations.size(); ++i) {
    const GraphOperation &op = operations[i];
    Values result(static_cast<size_t>(op.y.elements()));
    const Values &x = load(op.x);
    const Values *b = op.hasB ? &load(op.b) : nullptr, *t = op.hasT ? &load(op.t) : nullptr;
    switch (op.kind) {
    case GraphOperation::Kind::Pointwise:
      pointwise(op, x, b, t, result);
      break;
    case GraphOperation::Kind::Matmul:
      matmul(op, x, *b, result);
      break;
    case GraphOperation::Kind::Reduction:
      reduce(op, x, result);
      break;
    case GraphOperation::Kind::Reshape:
      reshape(op, x, result);
      break;
    }
    for (float &value : result)
      value = rounded(op.y.type, value);
    if (!op.y.isVirtual)
      write(op.y, result, memory.at(op.y.name));
    tensors[op.y.name] = std::move(result);
    for (const GraphTensor *each : {&op.x, &op.b, &op.t})
      if (lastUse[each->name] == i)
        tensors.erase(each->name);
  }
}

} // namespace hybrid::shim
