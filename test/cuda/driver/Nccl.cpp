//===- Nccl.cpp - the tests' NCCL ------------------------------------------===//
//
// Ranks are processes or threads of one machine. They meet in a file of shared memory that has a
// slot for every pair of them; all they do is made of one exchange, in which a rank puts pieces
// into slots and takes pieces out of them. Sums are in the order of ranks. What a rank sends, the
// other must take: a size that differs is an error, and so is a rank that does not come in time.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/NcclApi.h"
#include "test/cuda/driver/Device.h"
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace hybrid::rt::cuda;
using namespace hybrid::shim;

namespace {

constexpr NcclStatus ncclSystemError = 2, ncclInvalidArgument = 4, ncclInvalidUsage = 5;
constexpr size_t pieceBytes = 1 << 16;
constexpr int mostRanks = 64;

thread_local std::string lastMessage;
NcclStatus failNccl(NcclStatus status, std::string message) {
  lastMessage = std::move(message);
  return status;
}

/// From one rank to another. Memory of a new file is zeros: an empty slot.
struct Slot {
  std::atomic<uint32_t> full;
  uint32_t bytes;   // of the piece
  uint64_t message; // bytes of all pieces of one message
  std::byte piece[pieceBytes];
};
struct Meeting {
  std::atomic<int> arrived;
};

size_t bytesOfType(NcclType type) {
  return type == ncclF64 ? 8 : type == ncclF32 ? 4 : type == ncclBytes ? 1 : 0;
}

/// One side of a message between two ranks.
struct Transfer {
  int other;
  std::byte *memory;
  size_t bytes, done = 0;
  bool begun = false;
  bool isOver() const { return begun && done == bytes; }
};

} // namespace

namespace hybrid::rt::cuda {
struct ncclComm {
  int rank, size;
  Meeting *meeting;
  Slot *slots;
  size_t mapped;
  std::map<NcclOperation, DeviceAddress> factors; // of scaled sums
  NcclOperation next = 5;
  Slot &slot(int from, int to) { return slots[from * size + to]; }
};
} // namespace hybrid::rt::cuda

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(120);

/// Others of this process need the driver meanwhile.
class Unlocked {
public:
  Unlocked() { device().mutex.unlock(); }
  ~Unlocked() { device().mutex.lock(); }
};

/// A piece more of a message, where the slot lets it. What was wrong; null: nothing.
const char *advance(Slot &slot, Transfer &transfer, bool sends, bool &moved) {
  if ((slot.full.load(std::memory_order_acquire) != 0) == sends)
    return nullptr;
  if (sends) {
    slot.message = transfer.bytes;
    slot.bytes = static_cast<uint32_t>(std::min(pieceBytes, transfer.bytes - transfer.done));
    std::memcpy(slot.piece, transfer.memory + transfer.done, slot.bytes);
  } else if (slot.message != transfer.bytes) {
    return "a rank takes another number of bytes than it is sent";
  } else {
    std::memcpy(transfer.memory + transfer.done, slot.piece, slot.bytes);
  }
  transfer.done += slot.bytes;
  transfer.begun = moved = true;
  slot.full.store(sends, std::memory_order_release);
  return nullptr;
}

/// Both lists hold, for each other rank, its messages in their order.
NcclStatus exchange(ncclComm &ranks, std::vector<Transfer> sends, std::vector<Transfer> takes) {
  Unlocked others;
  auto last = Clock::now();
  while (true) {
    bool moved = false, isOver = true;
    for (auto *list : {&sends, &takes}) {
      std::vector<bool> isBusy(static_cast<size_t>(ranks.size));
      for (Transfer &transfer : *list) {
        if (transfer.isOver() || isBusy[static_cast<size_t>(transfer.other)])
          continue;
        isBusy[static_cast<size_t>(transfer.other)] = true;
        isOver = false;
        const bool out = list == &sends;
        Slot &slot =
            out ? ranks.slot(ranks.rank, transfer.other) : ranks.slot(transfer.other, ranks.rank);
        if (const char *wrong = advance(slot, transfer, out, moved))
          return failNccl(ncclInvalidUsage, wrong);
      }
    }
    if (isOver)
      return 0;
    const auto now = Clock::now();
    if (moved)
      last = now;
    else if (now - last > patience)
      return failNccl(ncclSystemError, "another rank did not come");
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

template <typename T>
NcclStatus sum(ncclComm &ranks, std::byte *memory, size_t count, DeviceAddress factor) {
  T *values = reinterpret_cast<T *>(memory);
  std::vector<T> mine(values, values + count);
  if (factor)
    for (T &value : mine)
      value *= *reinterpret_cast<const T *>(factor);
  std::vector<std::vector<T>> all(static_cast<size_t>(ranks.size), std::vector<T>(count));
  std::vector<Transfer> sends, takes;
  for (int rank = 0; rank < ranks.size; ++rank) {
    const size_t bytes = count * sizeof(T);
    sends.push_back({rank, reinterpret_cast<std::byte *>(mine.data()), bytes});
    takes.push_back(
        {rank, reinterpret_cast<std::byte *>(all[static_cast<size_t>(rank)].data()), bytes});
  }
  if (NcclStatus status = exchange(ranks, std::move(sends), std::move(takes)))
    return status;
  for (size_t i = 0; i < count; ++i) {
    T total = 0;
    for (const std::vector<T> &one : all)
      total += one[i];
    values[i] = total;
  }
  return 0;
}

/// The driver's status for what went wrong on a stream.
Status onStream(NcclStatus status) {
  return status ? device().failForEver(errorLaunchFailed, "NCCL: " + lastMessage) : success;
}

/// Calls of a group, done together at its end.
struct Group {
  int depth = 0;
  NcclRanks ranks = nullptr;
  Stream stream = nullptr;
  std::vector<Transfer> sends, takes;
};
thread_local Group group;

NcclStatus enqueue(const char *call, Stream stream, hybrid::rt::cuda::Operation operation) {
  if (device().enqueue(call, stream, std::move(operation)) == success)
    return 0;
  const std::string *message = nullptr;
  for (Status status : {errorLaunchFailed, errorInvalidValue, errorInvalidHandle})
    if (!message)
      message = messageOf(status);
  return failNccl(1, message ? *message : "unhandled cuda error"); // ncclUnhandledCudaError
}

NcclStatus runGroup() {
  if (group.sends.empty() && group.takes.empty())
    return 0;
  NcclRanks ranks = group.ranks;
  return enqueue("ncclGroupEnd", group.stream,
                 [ranks, sends = std::move(group.sends), takes = std::move(group.takes)] {
                   return onStream(exchange(*ranks, sends, takes));
                 });
}

NcclStatus addTransfer(bool sends, const void *memory, size_t count, NcclType type, int other,
                       NcclRanks ranks, Stream stream) {
  std::lock_guard lock(device().mutex);
  if (!ranks || other < 0 || other >= ranks->size || !bytesOfType(type))
    return failNccl(ncclInvalidArgument, "no such rank, or no such type");
  const size_t bytes = count * bytesOfType(type);
  if (!device().memory.contains(reinterpret_cast<uint64_t>(memory), bytes))
    return failNccl(ncclInvalidArgument, "what is sent or taken is not memory of the device");
  if (group.depth && group.ranks && (group.ranks != ranks || group.stream != stream))
    return failNccl(ncclInvalidUsage, "the tests' NCCL has one communicator and stream a group");
  group.ranks = ranks, group.stream = stream;
  (sends ? group.sends : group.takes)
      .push_back({other, static_cast<std::byte *>(const_cast<void *>(memory)), bytes});
  if (group.depth)
    return 0;
  NcclStatus status = runGroup();
  group = {};
  return status;
}

} // namespace

HYBRID_DRIVER_CALL NcclStatus ncclGetVersion(int *version) {
  *version = 22800;
  return 0;
}

HYBRID_DRIVER_CALL const char *ncclGetErrorString(NcclStatus status) {
  return status == 0 ? "no error" : lastMessage.c_str();
}

HYBRID_DRIVER_CALL NcclStatus ncclGetUniqueId(NcclMeeting *meeting) {
  std::error_code none;
  std::string name = std::filesystem::temp_directory_path(none) / "hybrid-nccl-XXXXXX";
  const int file = name.size() < sizeof(meeting->bytes) ? mkstemp(name.data()) : -1;
  if (file < 0)
    return failNccl(ncclSystemError, "no file for shared memory: " + name);
  close(file);
  *meeting = {};
  std::memcpy(meeting->bytes, name.data(), name.size());
  return 0;
}

HYBRID_DRIVER_CALL NcclStatus ncclCommInitRank(NcclRanks *joined, int count, NcclMeeting meeting,
                                               int rank) {
  if (count < 1 || count > mostRanks || rank < 0 || rank >= count)
    return failNccl(ncclInvalidArgument, "no such rank");
  auto ranks = std::make_unique<ncclComm>();
  ranks->rank = rank, ranks->size = count;
  const auto pairs = static_cast<size_t>(count) * static_cast<size_t>(count);
  ranks->mapped = 4096 + pairs * sizeof(Slot);
  const int file = open(meeting.bytes, O_RDWR | O_CLOEXEC);
  void *memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(ranks->mapped)) == 0)
    memory = mmap(nullptr, ranks->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0)
    close(file);
  if (memory == MAP_FAILED)
    return failNccl(ncclSystemError, "no shared memory");
  ranks->meeting = static_cast<Meeting *>(memory);
  ranks->slots = reinterpret_cast<Slot *>(static_cast<std::byte *>(memory) + 4096);
  ++ranks->meeting->arrived;
  for (auto begin = Clock::now(); ranks->meeting->arrived < count;) {
    if (Clock::now() - begin > patience)
      return failNccl(ncclSystemError, "another rank did not come");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (rank == 0)
    unlink(meeting.bytes); // all have it open
  *joined = ranks.release();
  return 0;
}

HYBRID_DRIVER_CALL NcclStatus ncclCommDestroy(NcclRanks ranks) {
  munmap(ranks->meeting, ranks->mapped);
  delete ranks;
  return 0;
}

HYBRID_DRIVER_CALL NcclStatus ncclRedOpCreatePreMulSum(NcclOperation *operation, void *factor,
                                                       NcclType type, int residence,
                                                       NcclRanks ranks) {
  std::lock_guard lock(device().mutex);
  const auto address = reinterpret_cast<uint64_t>(factor);
  if (residence != ncclScalarOnDevice || (type != ncclF32 && type != ncclF64) ||
      !device().memory.contains(address, bytesOfType(type)))
    return failNccl(ncclInvalidArgument, "the factor is no number on the device");
  *operation = ranks->next++;
  ranks->factors[*operation] = address;
  return 0;
}

HYBRID_DRIVER_CALL NcclStatus ncclRedOpDestroy(NcclOperation operation, NcclRanks ranks) {
  return ranks->factors.erase(operation) ? 0 : failNccl(ncclInvalidArgument, "no such operation");
}

HYBRID_DRIVER_CALL NcclStatus ncclAllReduce(const void *from, void *to, size_t count, NcclType type,
                                            NcclOperation operation, NcclRanks ranks,
                                            Stream stream) {
  std::lock_guard lock(device().mutex);
  const auto factor = ranks->factors.find(operation);
  if ((type != ncclF32 && type != ncclF64) || from != to ||
      (operation != ncclAdd && factor == ranks->factors.end()))
    return failNccl(ncclInvalidArgument, "the tests' NCCL sums f32 and f64, in place");
  if (!device().memory.contains(reinterpret_cast<uint64_t>(to), count * bytesOfType(type)))
    return failNccl(ncclInvalidArgument, "what is summed is not memory of the device");
  const DeviceAddress by = operation == ncclAdd ? 0 : factor->second;
  auto *memory = static_cast<std::byte *>(to);
  return enqueue("ncclAllReduce", stream, [=] {
    return onStream(type == ncclF64 ? sum<double>(*ranks, memory, count, by)
                                    : sum<float>(*ranks, memory, count, by));
  });
}

HYBRID_DRIVER_CALL NcclStatus ncclSend(const void *from, size_t count, NcclType type, int rank,
                                       NcclRanks ranks, Stream stream) {
  return addTransfer(true, from, count, type, rank, ranks, stream);
}

HYBRID_DRIVER_CALL NcclStatus ncclRecv(void *to, size_t count, NcclType type, int rank,
                                       NcclRanks ranks, Stream stream) {
  return addTransfer(false, to, count, type, rank, ranks, stream);
}

HYBRID_DRIVER_CALL NcclStatus ncclGroupStart() {
  ++group.depth;
  return 0;
}

HYBRID_DRIVER_CALL NcclStatus ncclGroupEnd() {
  if (--group.depth)
    return 0;
  std::lock_guard lock(device().mutex);
  NcclStatus status = runGroup();
  group = {};
  return status;
}
