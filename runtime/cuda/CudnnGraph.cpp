//===- CudnnGraph.cpp - a graph of operations for cuDNN ---------------------===//
#include "runtime/cuda/CudnnGraph.h"
#include <fmt/format.h>

namespace hybrid::rt::cuda {

//===-- a descriptor -----------------------------------------------------------===//

DnnObject::DnnObject(const CudnnApi &api, dnn::Kind kind) : api(&api) {
  if (DnnStatus status = api.descriptorCreate(kind, &descriptor))
    error = Error{describe(api, "cudnnBackendCreateDescriptor", status)}, descriptor = nullptr;
}

DnnObject::DnnObject(DnnObject &&other) noexcept
    : api(other.api), descriptor(std::exchange(other.descriptor, nullptr)),
      error(std::move(other.error)) {}

DnnObject::~DnnObject() {
  if (descriptor)
    api->descriptorDestroy(descriptor);
}

DnnObject &DnnObject::setBytes(dnn::Attribute attribute, dnn::Type type, int64_t count,
                               const void *values) {
  if (error)
    return *this;
  if (DnnStatus status = api->descriptorSet(descriptor, attribute, type, count, values))
    error =
        Error{describe(*api, fmt::format("cudnnBackendSetAttribute({})", int(attribute)), status)};
  return *this;
}

Result<void> DnnObject::finish() {
  if (error)
    return *error;
  if (DnnStatus status = api->descriptorFinalize(descriptor))
    return Error{describe(*api, "cudnnBackendFinalize", status)};
  return {};
}

//===-- tensors ----------------------------------------------------------------===//

DnnSizes denseStrides(const DnnSizes &sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

DnnDescriptor DnnGraph::add(DnnObject object) {
  if (auto done = object.finish(); !done && !error)
    error = done.error();
  objects.push_back(std::move(object));
  return objects.back().get();
}

DnnTensor DnnGraph::add(DnnTensor tensor, bool isVirtual, bool isValue) {
  const int64_t alignment = 16;
  DnnObject object(api, dnn::kindTensor);
  object.set(dnn::tensorType, dnn::typeDataType, tensor.type)
      .set<int64_t>(dnn::tensorSizes, dnn::typeInt64, std::span(tensor.sizes))
      .set<int64_t>(dnn::tensorStrides, dnn::typeInt64, std::span(tensor.strides))
      .set(dnn::tensorName, dnn::typeInt64, tensor.name)
      .set(dnn::tensorAlignment, dnn::typeInt64, alignment);
  if (isVirtual)
    object.set(dnn::tensorIsVirtual, dnn::typeBoolean, true);
  if (isValue)
    object.set(dnn::tensorIsByValue, dnn::typeBoolean, true);
  tensor.descriptor = add(std::move(object));
  return tensor;
}

DnnTensor DnnGraph::memory(int64_t name, int type, const DnnSizes &sizes, const DnnSizes &strides) {
  return add({name, type, sizes, strides}, false, false);
}

DnnTensor DnnGraph::value(int64_t name, int type) {
  return add({name, type, {1, 1, 1, 1}, {1, 1, 1, 1}}, false, true);
}

DnnTensor DnnGraph::intermediate(int type, const DnnSizes &sizes) {
  return intermediate(type, sizes, denseStrides(sizes));
}

DnnTensor DnnGraph::intermediate(int type, const DnnSizes &sizes, const DnnSizes &strides) {
  return add({nextName++, type, sizes, strides}, true, false);
}

//===-- operations -------------------------------------------------------------===//

void DnnGraph::operation(DnnObject object) { operations.push_back(add(std::move(object))); }

DnnTensor DnnGraph::compute(dnn::Pointwise mode, int precision, const DnnTensor &x,
                            const DnnTensor *b, const DnnTensor *t, std::optional<int64_t> axis,
                            DnnTensor y) {
  DnnObject what(api, dnn::kindPointwise);
  what.set(dnn::pointwiseMode, dnn::typePointwiseMode, int(mode))
      .set(dnn::pointwisePrecision, dnn::typeDataType, precision);
  if (axis)
    what.set(dnn::pointwiseAxis, dnn::typeInt64, *axis);
  DnnObject object(api, dnn::kindPointwiseOperation);
  object.set(dnn::pointwiseOperationDescriptor, dnn::typeDescriptor, add(std::move(what)))
      .set(dnn::pointwiseOperationX, dnn::typeDescriptor, x.descriptor)
      .set(dnn::pointwiseOperationY, dnn::typeDescriptor, y.descriptor);
  if (b)
    object.set(dnn::pointwiseOperationB, dnn::typeDescriptor, b->descriptor);
  if (t)
    object.set(dnn::pointwiseOperationT, dnn::typeDescriptor, t->descriptor);
  operation(std::move(object));
  return y;
}

void DnnGraph::pointwise(dnn::Pointwise mode, const DnnTensor &x, const DnnTensor *b,
                         const DnnTensor &y) {
  compute(mode, dnn::f32, x, b, nullptr, std::nullopt, y);
}

DnnTensor DnnGraph::pointwise(dnn::Pointwise mode, const DnnTensor &x, const DnnTensor *b) {
  return compute(mode, dnn::f32, x, b, nullptr, std::nullopt, intermediate(dnn::f32, x.sizes));
}

DnnTensor DnnGraph::index(const DnnTensor &x, int64_t axis) {
  return compute(dnn::index, dnn::f32, x, nullptr, nullptr, axis, intermediate(dnn::i32, x.sizes));
}

DnnTensor DnnGraph::greaterEqual(const DnnTensor &a, const DnnTensor &b) {
  return compute(dnn::greaterEqual, dnn::boolean, a, &b, nullptr, std::nullopt,
                 intermediate(dnn::boolean, a.sizes));
}

DnnTensor DnnGraph::select(const DnnTensor &x, const DnnTensor &b, const DnnTensor &condition) {
  return compute(dnn::select, dnn::f32, x, &b, &condition, std::nullopt,
                 intermediate(dnn::f32, x.sizes));
}

void DnnGraph::matmul(const DnnTensor &a, const DnnTensor &b, const DnnTensor &c) {
  DnnObject what(api, dnn::kindMatmul);
  what.set(dnn::matmulPrecision, dnn::typeDataType, dnn::f32);
  DnnObject object(api, dnn::kindMatmulOperation);
  object.set(dnn::matmulOperationA, dnn::typeDescriptor, a.descriptor)
      .set(dnn::matmulOperationB, dnn::typeDescriptor, b.descriptor)
      .set(dnn::matmulOperationC, dnn::typeDescriptor, c.descriptor)
      .set(dnn::matmulOperationDescriptor, dnn::typeDescriptor, add(std::move(what)));
  operation(std::move(object));
}

void DnnGraph::reduce(dnn::Reduction kind, const DnnTensor &x, const DnnTensor &y) {
  DnnObject what(api, dnn::kindReduction);
  what.set(dnn::reductionOperator, dnn::typeReduction, int(kind))
      .set(dnn::reductionPrecision, dnn::typeDataType, dnn::f32);
  DnnObject object(api, dnn::kindReductionOperation);
  object.set(dnn::reductionOperationX, dnn::typeDescriptor, x.descriptor)
      .set(dnn::reductionOperationY, dnn::typeDescriptor, y.descriptor)
      .set(dnn::reductionOperationDescriptor, dnn::typeDescriptor, add(std::move(what)));
  operation(std::move(object));
}

void DnnGraph::reshape(const DnnTensor &x, const DnnTensor &y) {
  DnnObject object(api, dnn::kindReshapeOperation);
  object.set(dnn::reshapeOperationX, dnn::typeDescriptor, x.descriptor)
      .set(dnn::reshapeOperationY, dnn::typeDescriptor, y.descriptor);
  operation(std::move(object));
}

Result<DnnDescriptor> DnnGraph::finish(DnnHandle handle) {
  DnnObject object(api, dnn::kindGraph);
  object.set<DnnDescriptor>(dnn::graphOperations, dnn::typeDescriptor, std::span(operations));
  if (handle)
    object.set(dnn::graphHandle, dnn::typeHandle, handle);
  DnnDescriptor graph = add(std::move(object));
  if (error)
    return *error;
  return graph;
}

} // namespace hybrid::rt::cuda
