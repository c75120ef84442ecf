//===- Device.cpp - the state of the tests' CUDA driver ---------------------===//
#include "test/cuda/driver/Device.h"
#include "test/cuda/driver/CodeImage.h"
#include <cstdlib>

using namespace hybrid::rt::cuda;
using namespace hybrid::shim;

static thread_local hybrid::rt::cuda::Context currentContext = nullptr;
static thread_local Status lastStatus = success;
static thread_local std::string lastMessage;

static size_t budgetBytes() {
  const char *text = std::getenv("HYBRID_SHIM_MEMORY");
  return text && *text ? std::strtoull(text, nullptr, 10) : size_t(16) << 30;
}

int hybrid::shim::deviceVersion() {
  static const int version = [] {
    const char *text = std::getenv("HYBRID_SHIM_DEVICE");
    return text ? static_cast<int>(std::strtod(text, nullptr) * 10 + 0.5) : 0;
  }();
  return version;
}

hybrid::shim::Device::Device() : memory(budgetBytes()), hostMemory(size_t(16) << 30) {}

hybrid::shim::Device &hybrid::shim::device() {
  static auto *device = new Device(); // never destroyed: exit handlers of others may call us
  return *device;
}

Status hybrid::shim::fail(Status status, std::string message) {
  lastStatus = status;
  lastMessage = std::move(message);
  return status;
}

const std::string *hybrid::shim::messageOf(Status status) {
  return status && status == lastStatus ? &lastMessage : nullptr;
}

Status hybrid::shim::Device::ready(const char *call) {
  if (!initialized)
    return fail(errorNotInitialized, std::string(call) + " before cuInit");
  if (!retained || currentContext != &context)
    return fail(errorInvalidContext, std::string(call) + " without a current context");
  return lasting;
}

Status hybrid::shim::Device::readyOutsideCapture(const char *call) {
  if (Status status = ready(call))
    return status;
  constexpr int modeGlobal = 0, modeRelaxed = 2;
  for (auto &[stream, owner] : streams.all()) {
    bool forbidden =
        stream->captureMode == modeGlobal ||
        (stream->captureMode != modeRelaxed && stream->captureThread == std::this_thread::get_id());
    if (!stream->capture || !forbidden)
      continue;
    stream->captureValid = false;
    return fail(errorCaptureUnsupported, std::string(call) + " while a stream captures a graph");
  }
  return success;
}

Status hybrid::shim::Device::enqueue(const char *call, Stream stream, Operation operation) {
  if (Status status = ready(call))
    return status;
  if (!stream) {
    for (auto &[other, owner] : streams.all())
      if (other->capture && other->blocking) {
        other->captureValid = false;
        return fail(errorCaptureImplicit,
                    std::string(call) + " on the null stream while a stream captures a graph");
      }
    return operation();
  }
  if (!streams.has(stream))
    return fail(errorInvalidHandle, std::string(call) + " on a stream that does not exist");
  Stream owner = capturing(stream);
  if (!owner)
    return operation();
  if (!owner->captureValid)
    return fail(errorCaptureInvalidated, std::string(call) + " in a capture that has failed");
  owner->capture->nodes.push_back({std::move(operation), std::move(stream->last)});
  stream->last = {owner->capture->nodes.size() - 1};
  stream->waitsForOther = false;
  return success;
}

Stream hybrid::shim::Device::capturing(Stream stream) const {
  Stream owner = stream->joined ? stream->joined : stream;
  return owner->capture ? owner : nullptr;
}

Status hybrid::shim::Device::checkDeviceMemory(const char *call, uint64_t address, size_t bytes) {
  if (memory.contains(address, bytes))
    return success;
  return fail(errorInvalidValue, std::string(call) + ": " + std::to_string(bytes) +
                                     " bytes that are not in one allocation of the device");
}

Status hybrid::shim::Device::failForEver(Status status, std::string message) {
  lasting = status;
  return fail(status, std::move(message));
}

void hybrid::shim::Device::destroyContext() {
  executables.clear();
  graphs.clear();
  events.clear();
  streams.clear();
  destroyModules();
  memory.releaseAll();
  hostMemory.releaseAll();
  lasting = success;
}

//===- Start, devices, contexts ---------------------------------------------===//

HYBRID_DRIVER_CALL Status cuInit(unsigned flags) {
  std::lock_guard lock(device().mutex);
  if (flags)
    return fail(errorInvalidValue, "cuInit takes no flags");
  device().initialized = true;
  return success;
}

HYBRID_DRIVER_CALL Status cuDriverGetVersion(int *version) {
  const char *text = std::getenv("HYBRID_SHIM_CUDA");
  *version = text ? std::atoi(text) : 13000;
  return success;
}

static const struct {
  Status status;
  const char *name, *text;
} statuses[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {errorInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {errorOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {errorNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {errorNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {errorInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {errorInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {errorInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {errorNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available"},
    {errorInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {errorIllegalState, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed now"},
    {errorNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {errorNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {errorIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"},
    {errorLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {errorNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {errorCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {errorCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {errorCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "the capture was not joined to the original stream"},
    {errorCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
};

HYBRID_DRIVER_CALL Status cuGetErrorName(Status error, const char **text) {
  for (auto &known : statuses)
    if (known.status == error) {
      *text = known.name;
      return success;
    }
  *text = nullptr;
  return errorInvalidValue;
}

/// The sentence of the calling thread's last failure when that was it, else the general one.
HYBRID_DRIVER_CALL Status cuGetErrorString(Status error, const char **text) {
  if (const std::string *message = messageOf(error)) {
    *text = message->c_str();
    return success;
  }
  for (auto &known : statuses)
    if (known.status == error) {
      *text = known.text;
      return success;
    }
  *text = nullptr;
  return errorInvalidValue;
}

static Status checkDevice(const char *call, DeviceNumber number) {
  if (!device().initialized)
    return fail(errorNotInitialized, std::string(call) + " before cuInit");
  if (number)
    return fail(errorInvalidDevice,
                std::string(call) + ": device " + std::to_string(number) + " of one device");
  return success;
}

HYBRID_DRIVER_CALL Status cuDeviceGetCount(int *count) {
  *count = 1;
  return checkDevice("cuDeviceGetCount", 0);
}

HYBRID_DRIVER_CALL Status cuDeviceGet(DeviceNumber *number, int ordinal) {
  *number = ordinal;
  return checkDevice("cuDeviceGet", ordinal);
}

HYBRID_DRIVER_CALL Status cuDeviceGetName(char *name, int length, DeviceNumber number) {
  std::string ours = "CPU standing in for a GPU";
  if (length > 0)
    name[ours.copy(name, static_cast<size_t>(length) - 1)] = 0;
  return checkDevice("cuDeviceGetName", number);
}

/// Compute capability 0.0: there is no such GPU, so images for GPUs are not for us. With one of a
/// GPU the device runs PTX.
HYBRID_DRIVER_CALL Status cuDeviceGetAttribute(int *value, int attribute, DeviceNumber number) {
  if (Status status = checkDevice("cuDeviceGetAttribute", number))
    return status;
  switch (attribute) {
  case attributeMaxGridX:
    *value = INT32_MAX;
    return success;
  case attributeMultiprocessors:
    *value = 4;
    return success;
  case attributeMajor:
    *value = deviceVersion() / 10;
    return success;
  case attributeMinor:
    *value = deviceVersion() % 10;
    return success;
  case attributeSharedMemoryOptIn:
    *value = 227 * 1024;
    return success;
  }
  return fail(errorInvalidValue, "cuDeviceGetAttribute: attribute " + std::to_string(attribute) +
                                     " is not one that the shim knows");
}

HYBRID_DRIVER_CALL Status cuDeviceTotalMem_v2(size_t *bytes, DeviceNumber number) {
  *bytes = device().memory.totalBytes();
  return checkDevice("cuDeviceTotalMem", number);
}

HYBRID_DRIVER_CALL Status cuDevicePrimaryCtxRetain(hybrid::rt::cuda::Context *context,
                                                   DeviceNumber number) {
  std::lock_guard lock(device().mutex);
  if (Status status = checkDevice("cuDevicePrimaryCtxRetain", number))
    return status;
  ++device().retained;
  *context = &device().context;
  return success;
}

HYBRID_DRIVER_CALL Status cuDevicePrimaryCtxRelease_v2(DeviceNumber number) {
  std::lock_guard lock(device().mutex);
  if (Status status = checkDevice("cuDevicePrimaryCtxRelease", number))
    return status;
  if (!device().retained)
    return fail(errorInvalidContext, "cuDevicePrimaryCtxRelease of a context nobody has retained");
  if (!--device().retained)
    device().destroyContext();
  return success;
}

HYBRID_DRIVER_CALL Status cuCtxSetCurrent(hybrid::rt::cuda::Context context) {
  std::lock_guard lock(device().mutex);
  if (context && (context != &device().context || !device().retained))
    return fail(errorInvalidContext, "cuCtxSetCurrent of a context that does not exist");
  currentContext = context;
  return success;
}
