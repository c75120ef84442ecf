//===- Device.h - the state of the tests' CUDA driver -----------------------===//
//
// One device whose memory is the host's. Streams do their work at once, in the call; calls that a
// GPU would refuse, or that would go wrong on it later, fail with the status of the driver API and
// a sentence that cuGetErrorString returns. Graphs run in orders that their edges allow and that
// are not the one in which they were captured.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/cuda/DriverApi.h"
#include "test/cuda/driver/Memory.h"
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define HYBRID_DRIVER_CALL extern "C" __attribute__((visibility("default")))

namespace hybrid::rt::cuda {

/// Something that a stream does; repeated by graphs, so it holds copies of all it needs.
using Operation = std::function<Status()>;

struct CUgraph_st {
  struct Node {
    Operation operation;
    std::vector<size_t> after; ///< nodes that end before it begins
  };
  std::vector<Node> nodes; ///< in the order in which they were captured
};
struct CUgraphExec_st {
  CUgraph_st graph;
  size_t launches = 0;
};
struct CUstream_st {
  bool blocking; ///< with the null stream
  std::optional<CUgraph_st> capture;
  bool captureValid = false;
  int captureMode = 0;
  size_t captureNumber = 0; ///< of all that began
  std::thread::id captureThread;
  /// The stream whose capture this one has joined by waiting for an event of it.
  CUstream_st *joined = nullptr;
  /// What its next node of a captured graph waits for, and whether another stream's is among it.
  std::vector<size_t> last = {};
  bool waitsForOther = false;
};
struct CUevent_st {
  bool timed;
  std::optional<double> seconds; ///< when it was recorded last
  CUstream_st *stream = nullptr; ///< that it was recorded on last, while that captured
  size_t captureNumber = 0;
  std::vector<size_t> after = {}; ///< what that stream's next node waited for then
};
struct CUctx_st {};

} // namespace hybrid::rt::cuda

namespace hybrid::shim {

using rt::cuda::Status;

// Further values of CUresult.
constexpr Status errorInvalidDevice = 101, errorInvalidImage = 200, errorInvalidContext = 201,
                 errorInvalidHandle = 400, errorNotReady = 600, errorIllegalAddress = 700,
                 errorLaunchFailed = 719, errorNotSupported = 801, errorCaptureUnsupported = 900,
                 errorCaptureInvalidated = 901, errorCaptureUnjoined = 904, errorIllegalState = 401,
                 errorCaptureImplicit = 906;

/// Objects that callers hold by pointer.
template <typename T> class Handles {
public:
  T *make(T value) {
    auto object = std::make_unique<T>(std::move(value));
    T *address = object.get();
    objects[address] = std::move(object);
    return address;
  }
  bool has(T *object) const { return objects.count(object); }
  bool destroy(T *object) { return objects.erase(object); }
  void clear() { objects.clear(); }
  const auto &all() const { return objects; }

private:
  std::unordered_map<T *, std::unique_ptr<T>> objects;
};

class Device {
public:
  Device();
  std::mutex mutex;
  bool initialized = false;
  int retained = 0; ///< the primary context exists while it is not 0
  rt::cuda::CUctx_st context;
  Memory memory, hostMemory;
  Handles<rt::cuda::CUstream_st> streams;
  Handles<rt::cuda::CUevent_st> events;
  Handles<rt::cuda::CUgraph_st> graphs;
  Handles<rt::cuda::CUgraphExec_st> executables;
  /// The error of a kernel: every later call fails with it until the context is gone, as on a GPU.
  Status lasting = rt::cuda::success;

  /// Whether a call that needs a context may go on.
  Status ready(const char *call);
  /// The same, for calls that must not happen while this thread captures; they spoil the capture.
  Status readyOutsideCapture(const char *call);
  /// Does it now, or adds it to the graph that the stream captures.
  Status enqueue(const char *call, rt::cuda::Stream stream, rt::cuda::Operation operation);
  /// The stream whose capture this one is a part of, or null.
  rt::cuda::Stream capturing(rt::cuda::Stream stream) const;
  /// Success when the bytes are device memory.
  Status checkDeviceMemory(const char *call, uint64_t address, size_t bytes);
  /// A kernel or a product went wrong while it ran.
  Status failForEver(Status status, std::string message);
  void destroyContext();
};

Device &device();
/// Remembers the sentence for cuGetErrorString.
Status fail(Status status, std::string message);
const std::string *messageOf(Status status);
void destroyModules(); // Module.cpp

} // namespace hybrid::shim
