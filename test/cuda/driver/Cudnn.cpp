//===- Cudnn.cpp - the tests' cuDNN -----------------------------------------===//
//
// Graphs of the operations that attention is made of, through the backend interface: descriptors
// take the attributes that they have, of their types and in their numbers, once, and only finished
// ones are of use. Any graph that makes sense runs; whether the real library has an engine for it
// is another question (test/unit/cuda/CudnnOracleTest.cpp). Two engines are offered, the first of
// which says that its sums vary from run to run.
//
//===----------------------------------------------------------------------===//
#include "executable/AttentionMemory.h"
#include "runtime/cuda/CudnnApi.h"
#include "test/cuda/driver/Device.h"
#include "test/cuda/driver/TensorProgram.h"
#include <cstring>
#include <map>
#include <span>

using namespace hybrid::rt::cuda;
using namespace hybrid::shim;

namespace hybrid::rt::cuda {
struct cudnnContext {
  Stream stream = nullptr;
};
} // namespace hybrid::rt::cuda

namespace {

constexpr DnnStatus dnnNotInitialized = 1001, dnnBadParameter = 2000, dnnNotSupported = 3000,
                    dnnExecutionFailed = 5000;

struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<std::byte> bytes;

  template <typename T> T as(int64_t i = 0) const {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    return value;
  }
};

struct Descriptor {
  int kind = 0;
  bool finished = false;
  std::map<int, Attribute> attributes;
  // What finishing makes of them.
  GraphTensor tensor;
  GraphOperation operation;
  std::shared_ptr<const TensorProgram> program; // of graphs and what is made of them
  int engine = 0;

  bool has(int attribute) const { return attributes.count(attribute); }
  const Attribute &at(int attribute) const { return attributes.at(attribute); }
};

struct Library {
  Handles<cudnnContext> contexts;
  Handles<Descriptor> descriptors;
};
Library &library() {
  static auto *all = new Library();
  return *all;
}

thread_local std::string lastMessage;
DnnStatus failDnn(DnnStatus status, std::string message) {
  lastMessage = std::move(message);
  return status;
}

//===-- which attributes there are ---------------------------------------------===//

/// An attribute that a descriptor takes; `kind` of what a descriptor points at, -1 for operations.
struct Rule {
  int kind, attribute, type;
  int64_t least, most;
  bool required;
  int of = 0;
};
constexpr int anyOperation = -1;
constexpr int64_t manyItems = 1 << 16;

constexpr Rule rules[] = {
    {dnn::kindTensor, dnn::tensorType, dnn::typeDataType, 1, 1, true},
    {dnn::kindTensor, dnn::tensorSizes, dnn::typeInt64, 4, 4, true},
    {dnn::kindTensor, dnn::tensorStrides, dnn::typeInt64, 4, 4, true},
    {dnn::kindTensor, dnn::tensorName, dnn::typeInt64, 1, 1, true},
    {dnn::kindTensor, dnn::tensorAlignment, dnn::typeInt64, 1, 1, true},
    {dnn::kindTensor, dnn::tensorIsVirtual, dnn::typeBoolean, 1, 1, false},
    {dnn::kindTensor, dnn::tensorIsByValue, dnn::typeBoolean, 1, 1, false},
    {dnn::kindPointwise, dnn::pointwiseMode, dnn::typePointwiseMode, 1, 1, true},
    {dnn::kindPointwise, dnn::pointwisePrecision, dnn::typeDataType, 1, 1, true},
    {dnn::kindPointwise, dnn::pointwiseAxis, dnn::typeInt64, 1, 1, false},
    {dnn::kindMatmul, dnn::matmulPrecision, dnn::typeDataType, 1, 1, true},
    {dnn::kindReduction, dnn::reductionOperator, dnn::typeReduction, 1, 1, true},
    {dnn::kindReduction, dnn::reductionPrecision, dnn::typeDataType, 1, 1, true},
    {dnn::kindPointwiseOperation, dnn::pointwiseOperationDescriptor, dnn::typeDescriptor, 1, 1,
     true, dnn::kindPointwise},
    {dnn::kindPointwiseOperation, dnn::pointwiseOperationX, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindPointwiseOperation, dnn::pointwiseOperationB, dnn::typeDescriptor, 1, 1, false,
     dnn::kindTensor},
    {dnn::kindPointwiseOperation, dnn::pointwiseOperationT, dnn::typeDescriptor, 1, 1, false,
     dnn::kindTensor},
    {dnn::kindPointwiseOperation, dnn::pointwiseOperationY, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindMatmulOperation, dnn::matmulOperationDescriptor, dnn::typeDescriptor, 1, 1, true,
     dnn::kindMatmul},
    {dnn::kindMatmulOperation, dnn::matmulOperationA, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindMatmulOperation, dnn::matmulOperationB, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindMatmulOperation, dnn::matmulOperationC, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindReductionOperation, dnn::reductionOperationDescriptor, dnn::typeDescriptor, 1, 1,
     true, dnn::kindReduction},
    {dnn::kindReductionOperation, dnn::reductionOperationX, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindReductionOperation, dnn::reductionOperationY, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindReshapeOperation, dnn::reshapeOperationX, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindReshapeOperation, dnn::reshapeOperationY, dnn::typeDescriptor, 1, 1, true,
     dnn::kindTensor},
    {dnn::kindGraph, dnn::graphOperations, dnn::typeDescriptor, 1, manyItems, true, anyOperation},
    {dnn::kindGraph, dnn::graphHandle, dnn::typeHandle, 1, 1, true},
    {dnn::kindHeuristics, dnn::heuristicsGraph, dnn::typeDescriptor, 1, 1, true, dnn::kindGraph},
    {dnn::kindHeuristics, dnn::heuristicsMode, dnn::typeHeuristicsMode, 1, 1, true},
    {dnn::kindPlan, dnn::planConfig, dnn::typeDescriptor, 1, 1, true, dnn::kindEngineConfig},
    {dnn::kindPlan, dnn::planHandle, dnn::typeHandle, 1, 1, true},
    {dnn::kindVariantPack, dnn::packNames, dnn::typeInt64, 1, manyItems, true},
    {dnn::kindVariantPack, dnn::packPointers, dnn::typePointer, 1, manyItems, true},
    {dnn::kindVariantPack, dnn::packWorkspace, dnn::typePointer, 1, 1, false},
};

size_t bytesOfType(int type) {
  switch (type) {
  case dnn::typeBoolean:
    return 1;
  case dnn::typeInt64:
  case dnn::typePointer:
  case dnn::typeDescriptor:
  case dnn::typeHandle:
    return 8;
  default: // enumerations
    return 4;
  }
}

Descriptor *find(DnnDescriptor descriptor) {
  auto *found = static_cast<Descriptor *>(descriptor);
  return library().descriptors.has(found) ? found : nullptr;
}

bool isOperation(int kind) {
  return kind == dnn::kindPointwiseOperation || kind == dnn::kindMatmulOperation ||
         kind == dnn::kindReductionOperation || kind == dnn::kindReshapeOperation;
}

std::string nameOf(const Descriptor &descriptor, int attribute = -1) {
  std::string text = "descriptor of kind " + std::to_string(descriptor.kind);
  return attribute < 0 ? text : text + ", attribute " + std::to_string(attribute);
}

//===-- finishing ----------------------------------------------------------------===//

const GraphTensor &tensorOf(const Descriptor &descriptor, int attribute) {
  return find(descriptor.at(attribute).as<DnnDescriptor>())->tensor;
}

std::string finishTensor(Descriptor &descriptor) {
  GraphTensor &tensor = descriptor.tensor;
  tensor.type = descriptor.at(dnn::tensorType).as<int>();
  tensor.name = descriptor.at(dnn::tensorName).as<int64_t>();
  tensor.alignment = descriptor.at(dnn::tensorAlignment).as<int64_t>();
  for (int64_t i = 0; i < 4; ++i) {
    tensor.sizes[i] = descriptor.at(dnn::tensorSizes).as<int64_t>(i);
    tensor.strides[i] = descriptor.at(dnn::tensorStrides).as<int64_t>(i);
    if (tensor.sizes[i] < 1 || tensor.strides[i] < 0)
      return "a tensor with a size or stride that is none";
  }
  auto flag = [&](int attribute) {
    return descriptor.has(attribute) && descriptor.at(attribute).as<bool>();
  };
  tensor.isVirtual = flag(dnn::tensorIsVirtual), tensor.isValue = flag(dnn::tensorIsByValue);
  if (!tensorElementBytes(tensor.type))
    return "a tensor of type " + std::to_string(tensor.type);
  if (tensor.alignment < 1 || (tensor.alignment & (tensor.alignment - 1)))
    return "a tensor with an alignment of " + std::to_string(tensor.alignment);
  if (tensor.isVirtual && tensor.isValue)
    return "a tensor that is virtual and a value";
  if (tensor.isValue && (tensor.elements() != 1 || tensor.type != dnn::f32))
    return "a value that is not one number of f32";
  if (!tensor.isVirtual && tensor.type != dnn::f32 && tensor.type != dnn::bf16)
    return "memory of a type that the tests' cuDNN does not read";
  return "";
}

std::string finishOperation(Descriptor &descriptor) {
  GraphOperation &op = descriptor.operation;
  auto what = [&](int attribute) -> const Descriptor & {
    return *find(descriptor.at(attribute).as<DnnDescriptor>());
  };
  switch (descriptor.kind) {
  case dnn::kindPointwiseOperation: {
    op.kind = GraphOperation::Kind::Pointwise;
    const Descriptor &mode = what(dnn::pointwiseOperationDescriptor);
    op.mode = mode.at(dnn::pointwiseMode).as<int>();
    op.x = tensorOf(descriptor, dnn::pointwiseOperationX);
    op.y = tensorOf(descriptor, dnn::pointwiseOperationY);
    if ((op.hasB = descriptor.has(dnn::pointwiseOperationB)))
      op.b = tensorOf(descriptor, dnn::pointwiseOperationB);
    if ((op.hasT = descriptor.has(dnn::pointwiseOperationT)))
      op.t = tensorOf(descriptor, dnn::pointwiseOperationT);
    const bool hasAxis = mode.has(dnn::pointwiseAxis);
    op.axis = hasAxis ? mode.at(dnn::pointwiseAxis).as<int64_t>() : 0;
    if (op.mode == dnn::index && (!hasAxis || op.axis < 0 || op.axis > 3))
      return "an index without an axis";
    const int wanted = op.mode == dnn::greaterEqual ? dnn::boolean : dnn::f32;
    if (mode.at(dnn::pointwisePrecision).as<int>() != wanted)
      return "a pointwise operation of mode " + std::to_string(op.mode) + " in a wrong precision";
    break;
  }
  case dnn::kindMatmulOperation:
    op.kind = GraphOperation::Kind::Matmul;
    op.x = tensorOf(descriptor, dnn::matmulOperationA);
    op.b = tensorOf(descriptor, dnn::matmulOperationB), op.hasB = true;
    op.y = tensorOf(descriptor, dnn::matmulOperationC);
    if (what(dnn::matmulOperationDescriptor).at(dnn::matmulPrecision).as<int>() != dnn::f32)
      return "a product that is not summed in f32";
    break;
  case dnn::kindReductionOperation: {
    op.kind = GraphOperation::Kind::Reduction;
    const Descriptor &mode = what(dnn::reductionOperationDescriptor);
    op.mode = mode.at(dnn::reductionOperator).as<int>();
    op.x = tensorOf(descriptor, dnn::reductionOperationX);
    op.y = tensorOf(descriptor, dnn::reductionOperationY);
    if ((op.mode != dnn::sum && op.mode != dnn::maximum) ||
        mode.at(dnn::reductionPrecision).as<int>() != dnn::f32)
      return "a reduction that the tests' cuDNN does not have";
    break;
  }
  default:
    op.kind = GraphOperation::Kind::Reshape;
    op.x = tensorOf(descriptor, dnn::reshapeOperationX);
    op.y = tensorOf(descriptor, dnn::reshapeOperationY);
  }
  return op.fault();
}

std::string finishGraph(Descriptor &descriptor) {
  auto program = std::make_shared<TensorProgram>();
  const Attribute &operations = descriptor.at(dnn::graphOperations);
  for (int64_t i = 0; i < operations.count; ++i)
    program->operations.push_back(find(operations.as<DnnDescriptor>(i))->operation);
  std::string fault = program->fault();
  descriptor.program = std::move(program);
  return fault;
}

std::string finish(Descriptor &descriptor) {
  for (const Rule &rule : rules) {
    if (rule.kind != descriptor.kind)
      continue;
    if (!descriptor.has(rule.attribute)) {
      if (rule.required)
        return nameOf(descriptor, rule.attribute) + " is missing";
      continue;
    }
    const Attribute &attribute = descriptor.at(rule.attribute);
    for (int64_t i = 0; i < attribute.count; ++i) {
      if (rule.type == dnn::typeDescriptor) {
        Descriptor *pointed = find(attribute.as<DnnDescriptor>(i));
        if (!pointed || !pointed->finished ||
            (rule.of == anyOperation ? !isOperation(pointed->kind) : pointed->kind != rule.of))
          return nameOf(descriptor, rule.attribute) + " is not a finished descriptor of its kind";
      }
      if (rule.type == dnn::typeHandle && !library().contexts.has(attribute.as<DnnHandle>(i)))
        return nameOf(descriptor, rule.attribute) + " is no handle";
    }
  }
  if (descriptor.kind == dnn::kindTensor)
    return finishTensor(descriptor);
  if (isOperation(descriptor.kind))
    return finishOperation(descriptor);
  if (descriptor.kind == dnn::kindGraph)
    return finishGraph(descriptor);
  if (descriptor.kind == dnn::kindHeuristics) {
    descriptor.program = find(descriptor.at(dnn::heuristicsGraph).as<DnnDescriptor>())->program;
    if (descriptor.at(dnn::heuristicsMode).as<int>() != dnn::heuristicsA)
      return "heuristics of another mode than A";
  }
  if (descriptor.kind == dnn::kindPlan) {
    const Descriptor &config = *find(descriptor.at(dnn::planConfig).as<DnnDescriptor>());
    descriptor.program = config.program, descriptor.engine = config.engine;
  }
  if (descriptor.kind == dnn::kindVariantPack &&
      descriptor.at(dnn::packNames).count != descriptor.at(dnn::packPointers).count)
    return "a variant pack of " + std::to_string(descriptor.at(dnn::packNames).count) +
           " names and " + std::to_string(descriptor.at(dnn::packPointers).count) + " pointers";
  return "";
}

//===-- engines ------------------------------------------------------------------===//

constexpr int64_t engineCount = 2; // engine 0 is the one that is not deterministic

/// As much as the real one's engines for attention want, so that its use is tested.
uint64_t workspaceBytes(const TensorProgram &program) {
  const GraphOperation *first = nullptr;
  bool backward = false;
  for (const GraphOperation &op : program.operations) {
    if (op.kind == GraphOperation::Kind::Matmul && !first)
      first = &op;
    backward = backward || op.kind == GraphOperation::Kind::Reshape;
  }
  if (!first)
    return 0;
  auto size = [](int64_t number) { return static_cast<uint64_t>(number); };
  const auto &[b, h, n, d] = first->x.sizes;
  return hybrid::attentionWorkspace(backward, size(b * h), size(n), size(first->y.sizes[3]),
                                    size(d), first->b.sizes[1] < h);
}

template <typename T>
DnnStatus give(std::span<const T> from, int64_t room, int64_t *count, void *values) {
  *count = static_cast<int64_t>(from.size());
  for (int64_t i = 0; values && i < std::min<int64_t>(room, *count); ++i)
    static_cast<T *>(values)[i] = from[i];
  return success;
}

/// Fills the descriptors that the caller brings.
DnnStatus giveDescriptors(const Descriptor &from, int kind, int64_t found, int64_t room,
                          int64_t *count, void *values) {
  *count = found;
  for (int64_t i = 0; values && i < std::min(room, found); ++i) {
    Descriptor *to = find(static_cast<DnnDescriptor *>(values)[i]);
    if (!to || to->kind != kind || to->finished)
      return failDnn(dnnBadParameter, "results want fresh descriptors of their kind");
    to->finished = true, to->program = from.program;
    to->engine = kind == dnn::kindEngineConfig ? static_cast<int>(i) : from.engine;
  }
  return success;
}

} // namespace

//===-- the interface ------------------------------------------------------------===//

HYBRID_DRIVER_CALL size_t cudnnGetVersion() { return 91900; }

HYBRID_DRIVER_CALL const char *cudnnGetErrorString(DnnStatus status) {
  switch (status) {
  case success:
    return "CUDNN_STATUS_SUCCESS";
  case dnnNotInitialized:
    return "CUDNN_STATUS_NOT_INITIALIZED";
  case dnnBadParameter:
    return "CUDNN_STATUS_BAD_PARAM";
  case dnnNotSupported:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  case dnnExecutionFailed:
    return "CUDNN_STATUS_EXECUTION_FAILED";
  }
  return "CUDNN_STATUS_UNKNOWN";
}

HYBRID_DRIVER_CALL void cudnnGetLastErrorString(char *text, size_t bytes) {
  std::strncpy(text, lastMessage.c_str(), bytes);
  if (bytes)
    text[bytes - 1] = '\0';
}

HYBRID_DRIVER_CALL DnnStatus cudnnCreate(DnnHandle *handle) {
  std::lock_guard lock(device().mutex);
  if (device().ready("cudnnCreate"))
    return failDnn(dnnNotInitialized, "cudnnCreate without a current context");
  *handle = library().contexts.make({});
  return success;
}

HYBRID_DRIVER_CALL DnnStatus cudnnDestroy(DnnHandle handle) {
  std::lock_guard lock(device().mutex);
  if (library().contexts.destroy(handle))
    return success;
  return failDnn(dnnBadParameter, "cudnnDestroy of a handle that does not exist");
}

HYBRID_DRIVER_CALL DnnStatus cudnnSetStream(DnnHandle handle, Stream stream) {
  std::lock_guard lock(device().mutex);
  if (!library().contexts.has(handle) || (stream && !device().streams.has(stream)))
    return failDnn(dnnBadParameter, "cudnnSetStream of a handle or stream that does not exist");
  handle->stream = stream;
  return success;
}

HYBRID_DRIVER_CALL DnnStatus cudnnBackendCreateDescriptor(int kind, DnnDescriptor *descriptor) {
  std::lock_guard lock(device().mutex);
  const bool isResult = kind == dnn::kindEngine || kind == dnn::kindEngineConfig;
  bool known = isResult;
  for (const Rule &rule : rules)
    known = known || rule.kind == kind;
  if (!known)
    return failDnn(dnnNotSupported, "no descriptors of kind " + std::to_string(kind));
  Descriptor made;
  made.kind = kind;
  *descriptor = library().descriptors.make(std::move(made));
  return success;
}

HYBRID_DRIVER_CALL DnnStatus cudnnBackendDestroyDescriptor(DnnDescriptor descriptor) {
  std::lock_guard lock(device().mutex);
  if (library().descriptors.destroy(static_cast<Descriptor *>(descriptor)))
    return success;
  return failDnn(dnnBadParameter, "cudnnBackendDestroyDescriptor of what does not exist");
}

HYBRID_DRIVER_CALL DnnStatus cudnnBackendSetAttribute(DnnDescriptor given, int attribute, int type,
                                                      int64_t count, const void *values) {
  std::lock_guard lock(device().mutex);
  Descriptor *descriptor = find(given);
  if (!descriptor || descriptor->finished)
    return failDnn(dnnBadParameter, "cudnnBackendSetAttribute of no descriptor, or a finished one");
  for (const Rule &rule : rules) {
    if (rule.kind != descriptor->kind || rule.attribute != attribute)
      continue;
    if (type != rule.type || count < rule.least || count > rule.most || !values)
      return failDnn(dnnBadParameter, nameOf(*descriptor, attribute) + " was given " +
                                          std::to_string(count) + " of type " +
                                          std::to_string(type));
    const auto *from = static_cast<const std::byte *>(values);
    const size_t bytes = static_cast<size_t>(count) * bytesOfType(type);
    descriptor->attributes[attribute] = {type, count, {from, from + bytes}};
    return success;
  }
  return failDnn(dnnNotSupported, nameOf(*descriptor, attribute) + ": there is none");
}

HYBRID_DRIVER_CALL DnnStatus cudnnBackendGetAttribute(DnnDescriptor given, int attribute, int type,
                                                      int64_t room, int64_t *count, void *values) {
  std::lock_guard lock(device().mutex);
  Descriptor *descriptor = find(given);
  if (!descriptor || !descriptor->finished || room < 0 || !count)
    return failDnn(dnnBadParameter,
                   "cudnnBackendGetAttribute of no descriptor, or one that is not finished");
  const int kind = descriptor->kind;
  if (kind == dnn::kindHeuristics && attribute == dnn::heuristicsResults &&
      type == dnn::typeDescriptor)
    return giveDescriptors(*descriptor, dnn::kindEngineConfig, engineCount, room, count, values);
  if (kind == dnn::kindEngineConfig && attribute == dnn::configEngine &&
      type == dnn::typeDescriptor)
    return giveDescriptors(*descriptor, dnn::kindEngine, 1, room, count, values);
  if (kind == dnn::kindEngine && attribute == dnn::engineNotes && type == dnn::typeNote) {
    constexpr int tensorCores = 0;
    const std::vector<int> notes = descriptor->engine == 0
                                       ? std::vector{tensorCores, dnn::noteNondeterministic}
                                       : std::vector{tensorCores};
    return give(std::span<const int>(notes), room, count, values);
  }
  if (kind == dnn::kindPlan && attribute == dnn::planWorkspace && type == dnn::typeInt64) {
    const auto bytes = static_cast<int64_t>(workspaceBytes(*descriptor->program));
    return give(std::span<const int64_t>(&bytes, 1), room, count, values);
  }
  return failDnn(dnnNotSupported, nameOf(*descriptor, attribute) + " of type " +
                                      std::to_string(type) + ": there is none to get");
}

HYBRID_DRIVER_CALL DnnStatus cudnnBackendFinalize(DnnDescriptor given) {
  std::lock_guard lock(device().mutex);
  Descriptor *descriptor = find(given);
  if (!descriptor || descriptor->finished)
    return failDnn(dnnBadParameter, "cudnnBackendFinalize of no descriptor, or a finished one");
  if (std::string fault = finish(*descriptor); !fault.empty())
    return failDnn(dnnBadParameter, std::move(fault));
  descriptor->finished = true;
  return success;
}

HYBRID_DRIVER_CALL DnnStatus cudnnBackendExecute(DnnHandle handle, DnnDescriptor givenPlan,
                                                 DnnDescriptor givenPack) {
  std::lock_guard lock(device().mutex);
  Descriptor *plan = find(givenPlan), *pack = find(givenPack);
  if (!library().contexts.has(handle) || !plan || plan->kind != dnn::kindPlan || !plan->finished ||
      !pack || pack->kind != dnn::kindVariantPack || !pack->finished)
    return failDnn(dnnBadParameter, "cudnnBackendExecute wants a handle, a plan and a pack");
  if (plan->at(dnn::planHandle).as<DnnHandle>() != handle)
    return failDnn(dnnBadParameter, "cudnnBackendExecute of a plan of another handle");
  std::map<int64_t, GraphTensor> wanted = plan->program->outside();
  std::map<int64_t, void *> memory;
  std::map<int64_t, float> values;
  for (int64_t i = 0; i < pack->at(dnn::packNames).count; ++i) {
    const auto name = pack->at(dnn::packNames).as<int64_t>(i);
    void *pointer = pack->at(dnn::packPointers).as<void *>(i);
    auto found = wanted.find(name);
    if (found == wanted.end() || memory.count(name) || values.count(name) || !pointer)
      return failDnn(dnnBadParameter, "the pack has no use for tensor " + std::to_string(name) +
                                          ", has it twice or nowhere");
    const GraphTensor &tensor = found->second;
    const bool onDevice = device().memory.contains(reinterpret_cast<uint64_t>(pointer), 1);
    if (tensor.isValue == onDevice)
      return failDnn(dnnBadParameter, "tensor " + std::to_string(name) +
                                          (onDevice ? " is a value, but lies in the device's memory"
                                                    : " does not lie in the device's memory"));
    if (tensor.isValue)
      values[name] = *static_cast<const float *>(pointer);
    else
      memory[name] = pointer;
    if (!tensor.isValue && reinterpret_cast<uint64_t>(pointer) % tensor.alignment)
      return failDnn(dnnBadParameter, "tensor " + std::to_string(name) + " is not aligned");
  }
  if (memory.size() + values.size() != wanted.size())
    return failDnn(dnnBadParameter,
                   "the pack has " + std::to_string(memory.size() + values.size()) +
                       " of the graph's " + std::to_string(wanted.size()) + " tensors");
  void *workspace =
      pack->has(dnn::packWorkspace) ? pack->at(dnn::packWorkspace).as<void *>() : nullptr;
  const uint64_t bytes = workspaceBytes(*plan->program);
  auto program = plan->program;
  Status status = device().enqueue("cudnnBackendExecute", handle->stream, [=]() -> Status {
    for (const auto &[name, address] : memory)
      if (!device().memory.contains(reinterpret_cast<uint64_t>(address),
                                    wanted.at(name).extentBytes()))
        return device().failForEver(errorIllegalAddress, "cudnnBackendExecute: tensor " +
                                                             std::to_string(name) +
                                                             " leaves the device's memory");
    if (bytes && !device().memory.contains(reinterpret_cast<uint64_t>(workspace), bytes))
      return device().failForEver(errorIllegalAddress, "cudnnBackendExecute: the workspace does "
                                                       "not lie in the device's memory");
    if (bytes) // it is the library's to write
      std::memset(workspace, 0xff, bytes);
    program->run(memory, values);
    return success;
  });
  if (!status)
    return success;
  const std::string *message = messageOf(status);
  return failDnn(dnnExecutionFailed,
                 message ? *message : "cudnnBackendExecute after an earlier error");
}
