//===- Streams.cpp - memory, streams, events and graphs of the tests' driver ===//
#include "test/cuda/driver/Device.h"
#include <chrono>
#include <cstring>

using namespace hybrid::rt::cuda;
using namespace hybrid::shim;

static void *at(DeviceAddress address) { return reinterpret_cast<void *>(address); }

//===- Memory ---------------------------------------------------------------===//

HYBRID_DRIVER_CALL Status cuMemGetInfo_v2(size_t *free, size_t *total) {
  std::lock_guard lock(device().mutex);
  *free = device().memory.freeBytes();
  *total = device().memory.totalBytes();
  return device().ready("cuMemGetInfo");
}

HYBRID_DRIVER_CALL Status cuMemAlloc_v2(DeviceAddress *address, size_t bytes) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().readyOutsideCapture("cuMemAlloc"))
    return status;
  if (!bytes)
    return fail(errorInvalidValue, "cuMemAlloc of no bytes");
  *address = device().memory.allocate(bytes);
  if (*address)
    return success;
  return fail(errorOutOfMemory, "out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                                    std::to_string(device().memory.freeBytes()) + " are free");
}

HYBRID_DRIVER_CALL Status cuMemFree_v2(DeviceAddress address) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().readyOutsideCapture("cuMemFree"))
    return status;
  if (!address || device().memory.release(address))
    return success;
  return fail(errorInvalidValue, "cuMemFree of an address that cuMemAlloc has not given");
}

HYBRID_DRIVER_CALL Status cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().readyOutsideCapture("cuMemHostAlloc"))
    return status;
  if (!bytes)
    return fail(errorInvalidValue, "cuMemHostAlloc of no bytes");
  *address = at(device().hostMemory.allocate(bytes));
  return *address ? success : fail(errorOutOfMemory, "out of page-locked memory");
}

HYBRID_DRIVER_CALL Status cuMemFreeHost(void *address) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().readyOutsideCapture("cuMemFreeHost"))
    return status;
  if (device().hostMemory.release(reinterpret_cast<uint64_t>(address)))
    return success;
  return fail(errorInvalidValue, "cuMemFreeHost of an address that cuMemHostAlloc has not given");
}

/// A host side that is device memory is an exchanged argument.
static Status checkHostMemory(const char *call, const void *address) {
  if (device().memory.contains(reinterpret_cast<uint64_t>(address), 1))
    return fail(errorInvalidValue, std::string(call) + ": the host's address is device memory");
  return success;
}

HYBRID_DRIVER_CALL Status cuMemcpyHtoDAsync_v2(DeviceAddress to, const void *from, size_t bytes,
                                               Stream stream) {
  std::lock_guard lock(device().mutex);
  return device().enqueue("cuMemcpyHtoDAsync", stream, [=]() -> Status {
    if (Status status = checkHostMemory("cuMemcpyHtoDAsync", from))
      return status;
    if (Status status = device().checkDeviceMemory("cuMemcpyHtoDAsync", to, bytes))
      return status;
    std::memcpy(at(to), from, bytes);
    return success;
  });
}

HYBRID_DRIVER_CALL Status cuMemcpyDtoHAsync_v2(void *to, DeviceAddress from, size_t bytes,
                                               Stream stream) {
  std::lock_guard lock(device().mutex);
  return device().enqueue("cuMemcpyDtoHAsync", stream, [=]() -> Status {
    if (Status status = checkHostMemory("cuMemcpyDtoHAsync", to))
      return status;
    if (Status status = device().checkDeviceMemory("cuMemcpyDtoHAsync", from, bytes))
      return status;
    std::memcpy(to, at(from), bytes);
    return success;
  });
}

HYBRID_DRIVER_CALL Status cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, size_t bytes,
                                               Stream stream) {
  std::lock_guard lock(device().mutex);
  return device().enqueue("cuMemcpyDtoDAsync", stream, [=]() -> Status {
    for (DeviceAddress side : {to, from})
      if (Status status = device().checkDeviceMemory("cuMemcpyDtoDAsync", side, bytes))
        return status;
    if (to < from + bytes && from < to + bytes && bytes && to != from)
      return fail(errorInvalidValue, "cuMemcpyDtoDAsync between ranges that overlap");
    std::memmove(at(to), at(from), bytes);
    return success;
  });
}

/// Between places of the device only.
HYBRID_DRIVER_CALL Status cuMemcpy2DAsync_v2(const Copy2D *given, Stream stream) {
  std::lock_guard lock(device().mutex);
  return device().enqueue("cuMemcpy2DAsync", stream, [copy = *given]() -> Status {
    if (copy.fromType != memoryDevice || copy.toType != memoryDevice || copy.fromX || copy.fromY ||
        copy.toX || copy.toY)
      return fail(errorInvalidValue, "cuMemcpy2DAsync: not from device to device, or not from its "
                                     "beginning");
    if (!copy.width || !copy.height)
      return success;
    if (copy.fromPitch < copy.width || copy.toPitch < copy.width || copy.fromPitch > INT32_MAX ||
        copy.toPitch > INT32_MAX)
      return fail(errorInvalidValue, "cuMemcpy2DAsync: rows of " + std::to_string(copy.width) +
                                         " bytes that are " + std::to_string(copy.fromPitch) +
                                         " and " + std::to_string(copy.toPitch) + " apart");
    for (auto [address, pitch] :
         {std::pair(copy.from, copy.fromPitch), std::pair(copy.to, copy.toPitch)})
      if (Status status = device().checkDeviceMemory("cuMemcpy2DAsync", address,
                                                     (copy.height - 1) * pitch + copy.width))
        return status;
    for (size_t row = 0; row < copy.height; ++row)
      std::memmove(at(copy.to + row * copy.toPitch), at(copy.from + row * copy.fromPitch),
                   copy.width);
    return success;
  });
}

HYBRID_DRIVER_CALL Status cuMemsetD8Async(DeviceAddress to, unsigned char value, size_t bytes,
                                          Stream stream) {
  std::lock_guard lock(device().mutex);
  return device().enqueue("cuMemsetD8Async", stream, [=]() -> Status {
    if (Status status = device().checkDeviceMemory("cuMemsetD8Async", to, bytes))
      return status;
    std::memset(at(to), value, bytes);
    return success;
  });
}

//===- Streams and events ---------------------------------------------------===//

HYBRID_DRIVER_CALL Status cuStreamCreate(Stream *stream, unsigned flags) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuStreamCreate"))
    return status;
  *stream = device().streams.make(
      {.blocking = !(flags & streamNonBlocking), .capture = {}, .captureThread = {}});
  return success;
}

HYBRID_DRIVER_CALL Status cuStreamDestroy_v2(Stream stream) {
  std::lock_guard lock(device().mutex);
  if (device().streams.destroy(stream))
    return success;
  return fail(errorInvalidHandle, "cuStreamDestroy of a stream that does not exist");
}

HYBRID_DRIVER_CALL Status cuStreamSynchronize(Stream stream) {
  std::lock_guard lock(device().mutex);
  if (stream && !device().streams.has(stream))
    return fail(errorInvalidHandle, "cuStreamSynchronize of a stream that does not exist");
  if (stream && stream->capture) {
    stream->captureValid = false;
    return fail(errorCaptureUnsupported, "cuStreamSynchronize of a stream that captures a graph");
  }
  return device().readyOutsideCapture("cuStreamSynchronize");
}

HYBRID_DRIVER_CALL Status cuEventCreate(Event *event, unsigned flags) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuEventCreate"))
    return status;
  *event = device().events.make({.timed = !(flags & eventDisableTiming), .seconds = {}});
  return success;
}

HYBRID_DRIVER_CALL Status cuEventDestroy_v2(Event event) {
  std::lock_guard lock(device().mutex);
  if (device().events.destroy(event))
    return success;
  return fail(errorInvalidHandle, "cuEventDestroy of an event that does not exist");
}

HYBRID_DRIVER_CALL Status cuEventRecord(Event event, Stream stream) {
  std::lock_guard lock(device().mutex);
  if (!device().events.has(event))
    return fail(errorInvalidHandle, "cuEventRecord of an event that does not exist");
  const bool isThere = stream && device().streams.has(stream);
  event->stream = isThere && (stream->capture || stream->joined) ? stream : nullptr;
  const bool wasAwaited = isThere && stream->isAwaited;
  Status status = device().enqueue("cuEventRecord", stream, [=]() -> Status {
    if (!device().events.has(event))
      return fail(errorInvalidHandle, "cuEventRecord of an event that does not exist");
    std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    event->seconds = now.count();
    return success;
  });
  if (isThere)
    stream->isAwaited = wasAwaited; // an event is no work
  return status;
}

/// Streams do their work at once, so there is nothing to wait for; but a stream that waits for one
/// that captures becomes a part of that capture, until the capturing stream has waited for it.
HYBRID_DRIVER_CALL Status cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuStreamWaitEvent"))
    return status;
  if (!stream || !device().streams.has(stream) || !device().events.has(event) || flags)
    return fail(errorInvalidHandle, "cuStreamWaitEvent: no such stream or event, or flags");
  Stream from = event->stream && device().streams.has(event->stream) ? event->stream : nullptr;
  Stream capturing = from && from->joined ? from->joined : from;
  const bool isCaptured = capturing && capturing->capture;
  Stream own = stream->joined ? stream->joined : stream->capture ? stream : nullptr;
  if (!isCaptured)
    return own ? fail(errorCaptureUnsupported,
                      "cuStreamWaitEvent in a capture, for an event outside of it")
               : success;
  if (own && own != capturing)
    return fail(errorCaptureUnsupported, "cuStreamWaitEvent between two captures");
  if (stream == capturing)
    from->isAwaited = true;
  else
    stream->joined = capturing;
  return success;
}

HYBRID_DRIVER_CALL Status cuEventSynchronize(Event event) {
  std::lock_guard lock(device().mutex);
  if (!device().events.has(event))
    return fail(errorInvalidHandle, "cuEventSynchronize of an event that does not exist");
  return device().readyOutsideCapture("cuEventSynchronize");
}

HYBRID_DRIVER_CALL Status cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
  std::lock_guard lock(device().mutex);
  for (Event event : {begin, end})
    if (!device().events.has(event) || !event->timed || !event->seconds)
      return fail(errorInvalidHandle,
                  "cuEventElapsedTime of an event that is not there, not timed or not recorded");
  *milliseconds = static_cast<float>((*end->seconds - *begin->seconds) * 1e3);
  return device().ready("cuEventElapsedTime");
}

//===- Graphs ---------------------------------------------------------------===//

HYBRID_DRIVER_CALL Status cuStreamBeginCapture_v2(Stream stream, int mode) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuStreamBeginCapture"))
    return status;
  if (!stream)
    return fail(errorCaptureUnsupported, "cuStreamBeginCapture on the null stream");
  if (!device().streams.has(stream))
    return fail(errorInvalidHandle, "cuStreamBeginCapture on a stream that does not exist");
  if (stream->capture)
    return fail(errorIllegalState, "cuStreamBeginCapture on a stream that captures already");
  stream->capture.emplace();
  stream->captureValid = true;
  stream->captureMode = mode;
  stream->captureThread = std::this_thread::get_id();
  return success;
}

HYBRID_DRIVER_CALL Status cuStreamEndCapture(Stream stream, Graph *graph) {
  std::lock_guard lock(device().mutex);
  *graph = nullptr;
  if (Status status = device().ready("cuStreamEndCapture"))
    return status;
  if (!device().streams.has(stream) || !stream->capture)
    return fail(errorIllegalState, "cuStreamEndCapture on a stream that does not capture");
  CUgraph_st captured = std::move(*stream->capture);
  stream->capture.reset();
  bool isJoined = true;
  for (auto &[other, owner] : device().streams.all())
    if (other->joined == stream) {
      isJoined = isJoined && other->isAwaited;
      other->joined = nullptr, other->isAwaited = true;
    }
  if (!isJoined)
    return fail(errorCaptureUnjoined,
                "cuStreamEndCapture before the stream has waited for all that joined it");
  if (!stream->captureValid)
    return fail(errorCaptureInvalidated, "cuStreamEndCapture of a capture that has failed");
  *graph = device().graphs.make(std::move(captured));
  return success;
}

HYBRID_DRIVER_CALL Status cuGraphInstantiateWithFlags(GraphExec *executable, Graph graph,
                                                      unsigned long long flags) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuGraphInstantiateWithFlags"))
    return status;
  if (!device().graphs.has(graph) || flags)
    return fail(errorInvalidValue, "cuGraphInstantiateWithFlags: no such graph, or flags");
  *executable = device().executables.make({graph->operations});
  return success;
}

HYBRID_DRIVER_CALL Status cuGraphLaunch(GraphExec executable, Stream stream) {
  std::lock_guard lock(device().mutex);
  if (!device().executables.has(executable))
    return fail(errorInvalidHandle, "cuGraphLaunch of a graph that does not exist");
  if (stream && device().streams.has(stream) && stream->capture)
    return fail(errorNotSupported, "cuGraphLaunch within a capture");
  return device().enqueue("cuGraphLaunch", stream, [=]() -> Status {
    for (const Operation &operation : executable->operations)
      if (Status status = operation())
        return status;
    return success;
  });
}

HYBRID_DRIVER_CALL Status cuGraphDestroy(Graph graph) {
  std::lock_guard lock(device().mutex);
  if (device().graphs.destroy(graph))
    return success;
  return fail(errorInvalidHandle, "cuGraphDestroy of a graph that does not exist");
}

HYBRID_DRIVER_CALL Status cuGraphExecDestroy(GraphExec executable) {
  std::lock_guard lock(device().mutex);
  if (device().executables.destroy(executable))
    return success;
  return fail(errorInvalidHandle, "cuGraphExecDestroy of a graph that does not exist");
}
