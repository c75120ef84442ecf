//===- Streams.cpp - memory, streams, events and graphs of the tests' driver ===//
#include "test/cuda/driver/Device.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

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
  if (stream && !device().streams.has(stream))
    return fail(errorInvalidHandle, "cuEventRecord on a stream that does not exist");
  Stream owner = stream ? device().capturing(stream) : nullptr;
  event->stream = owner ? stream : nullptr;
  if (owner) { // it is no node of the graph, but a place between them
    event->after = stream->last, event->captureNumber = owner->captureNumber;
    return owner->captureValid
               ? device().ready("cuEventRecord")
               : fail(errorCaptureInvalidated, "cuEventRecord in a capture that has failed");
  }
  return device().enqueue("cuEventRecord", stream, [=]() -> Status {
    std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    event->seconds = now.count();
    return success;
  });
}

/// Streams do their work at once, so there is nothing to wait for; but a stream that waits for one
/// that captures becomes a part of that capture, until that ends.
HYBRID_DRIVER_CALL Status cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  std::lock_guard lock(device().mutex);
  if (Status status = device().ready("cuStreamWaitEvent"))
    return status;
  if (!stream || !device().streams.has(stream) || !device().events.has(event) || flags)
    return fail(errorInvalidHandle, "cuStreamWaitEvent: no such stream or event, or flags");
  Stream from = event->stream && device().streams.has(event->stream) ? event->stream : nullptr;
  Stream capturing = from ? device().capturing(from) : nullptr;
  if (capturing && capturing->captureNumber != event->captureNumber)
    capturing = nullptr;
  Stream own = device().capturing(stream);
  if (!capturing)
    return own ? fail(errorCaptureUnsupported,
                      "cuStreamWaitEvent in a capture, for an event outside of it")
               : success;
  if (own && own != capturing)
    return fail(errorCaptureUnsupported, "cuStreamWaitEvent between two captures");
  if (stream != capturing && !stream->joined)
    stream->joined = capturing, stream->last.clear();
  for (size_t node : event->after)
    if (std::find(stream->last.begin(), stream->last.end(), node) == stream->last.end())
      stream->last.push_back(node), stream->waitsForOther = true;
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
  stream->last.clear();
  stream->captureValid = true;
  static size_t captures = 0;
  stream->captureNumber = ++captures;
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
  for (auto &[other, owner] : device().streams.all())
    if (other->joined == stream || other == stream)
      other->joined = nullptr, other->waitsForOther = false;
  std::vector<bool> awaited(captured.nodes.size()); // by the stream's end
  for (size_t node : stream->last)
    awaited[node] = true;
  for (size_t node = captured.nodes.size(); node-- > 0;)
    for (size_t before : captured.nodes[node].after)
      awaited[before] = awaited[before] || awaited[node];
  if (std::find(awaited.begin(), awaited.end(), false) != awaited.end())
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
  *executable = device().executables.make({*graph});
  return success;
}

/// An order of the nodes that their edges allow, far from that in which they were captured: each as
/// late as it can be, those captured first behind all others, or the other way round.
static std::vector<size_t> orderOf(const CUgraph_st &graph, bool late) {
  const size_t count = graph.nodes.size();
  // Edges as they are looked at: from the end where nodes are late.
  std::vector<std::vector<size_t>> next(count);
  std::vector<size_t> waits(count), order;
  for (size_t node = 0; node < count; ++node)
    for (size_t before : graph.nodes[node].after) {
      next[late ? node : before].push_back(late ? before : node);
      ++waits[late ? before : node];
    }
  std::set<size_t> ready;
  for (size_t node = 0; node < count; ++node)
    if (waits[node] == 0)
      ready.insert(node);
  while (!ready.empty()) {
    const size_t node = late ? *ready.begin() : *ready.rbegin();
    ready.erase(node);
    order.push_back(node);
    for (size_t other : next[node])
      if (--waits[other] == 0)
        ready.insert(other);
  }
  if (late)
    std::reverse(order.begin(), order.end());
  return order;
}

HYBRID_DRIVER_CALL Status cuGraphLaunch(GraphExec executable, Stream stream) {
  std::lock_guard lock(device().mutex);
  if (!device().executables.has(executable))
    return fail(errorInvalidHandle, "cuGraphLaunch of a graph that does not exist");
  if (stream && device().streams.has(stream) && stream->capture)
    return fail(errorNotSupported, "cuGraphLaunch within a capture");
  return device().enqueue("cuGraphLaunch", stream, [=]() -> Status {
    for (size_t node : orderOf(executable->graph, executable->launches++ % 2 == 0))
      if (Status status = executable->graph.nodes[node].operation())
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
