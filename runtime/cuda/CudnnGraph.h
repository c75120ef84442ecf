//===- CudnnGraph.h - a graph of operations for cuDNN -----------------------===//
#pragma once
#include "runtime/cuda/CudnnApi.h"
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace hybrid::rt::cuda {

/// A descriptor of the library, destroyed with its owner. The calls that fill it do nothing once
/// one has failed; finish() says what.
class DnnObject {
public:
  DnnObject(const CudnnApi &api, dnn::Kind kind);
  ~DnnObject();
  DnnObject(DnnObject &&other) noexcept;
  DnnObject &operator=(DnnObject &&) = delete;

  DnnDescriptor get() const { return descriptor; }
  template <typename T>
  DnnObject &set(dnn::Attribute attribute, dnn::Type type, std::span<const T> values) {
    return setBytes(attribute, type, static_cast<int64_t>(values.size()), values.data());
  }
  template <typename T> DnnObject &set(dnn::Attribute attribute, dnn::Type type, const T &value) {
    return setBytes(attribute, type, 1, &value);
  }
  Result<void> finish();

private:
  DnnObject &setBytes(dnn::Attribute attribute, dnn::Type type, int64_t count, const void *values);
  const CudnnApi *api;
  DnnDescriptor descriptor = nullptr;
  std::optional<Error> error;
};

using DnnSizes = std::array<int64_t, 4>;

/// A tensor of a graph. Its name is a number by which a run finds its memory or value.
struct DnnTensor {
  int64_t name = 0;
  int type = dnn::f32;
  DnnSizes sizes{}, strides{};
  DnnDescriptor descriptor = nullptr;
};

DnnSizes denseStrides(const DnnSizes &sizes);

/// Operations in order. Results without memory (virtual) have dense strides; arithmetic is in f32.
class DnnGraph {
public:
  explicit DnnGraph(const CudnnApi &api) : api(api) {}

  /// A tensor that a run gives memory for, at an address that is a multiple of 16.
  DnnTensor memory(int64_t name, int type, const DnnSizes &sizes, const DnnSizes &strides);
  /// One value, given to a run from host memory.
  DnnTensor value(int64_t name, int type);
  DnnTensor intermediate(int type, const DnnSizes &sizes);
  DnnTensor intermediate(int type, const DnnSizes &sizes, const DnnSizes &strides);

  /// y = mode(x) or mode(x, b), b's axes of size 1 being repeated.
  void pointwise(dnn::Pointwise mode, const DnnTensor &x, const DnnTensor *b, const DnnTensor &y);
  DnnTensor pointwise(dnn::Pointwise mode, const DnnTensor &x, const DnnTensor *b = nullptr);
  /// The numbers of x's elements along an axis (i32).
  DnnTensor index(const DnnTensor &x, int64_t axis);
  /// a >= b, for numbers that index() made.
  DnnTensor greaterEqual(const DnnTensor &a, const DnnTensor &b);
  /// condition ? x : b.
  DnnTensor select(const DnnTensor &x, const DnnTensor &b, const DnnTensor &condition);
  /// c = a b, of the last two axes; a head of b for as many of a as divide evenly.
  void matmul(const DnnTensor &a, const DnnTensor &b, const DnnTensor &c);
  /// Along the axes that have size 1 in y.
  void reduce(dnn::Reduction operation, const DnnTensor &x, const DnnTensor &y);
  /// x with other axes: what y's sizes and strides say of it.
  void reshape(const DnnTensor &x, const DnnTensor &y);

  /// The finished graph. `handle` may be null where the device is given to the plan instead.
  Result<DnnDescriptor> finish(DnnHandle handle);

private:
  DnnTensor add(DnnTensor tensor, bool isVirtual, bool isValue);
  DnnDescriptor add(DnnObject object);
  void operation(DnnObject object);
  DnnTensor compute(dnn::Pointwise mode, int precision, const DnnTensor &x, const DnnTensor *b,
                    const DnnTensor *t, std::optional<int64_t> axis, DnnTensor y);

  const CudnnApi &api;
  std::vector<DnnObject> objects;
  std::vector<DnnDescriptor> operations;
  std::optional<Error> error;
  int64_t nextName = 1000; // of intermediates
};

} // namespace hybrid::rt::cuda
