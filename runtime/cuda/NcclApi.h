//===- NcclApi.h - the part of NCCL that the runtime calls ------------------===//
//
// As DriverApi.h: prototypes and constants of our own, compared with nccl.h by a test. The library
// is opened when the first session of several ranks is made.
// Source: NCCL documentation, 2.11 (scaled sums) to 2.32, in which these entry points are the same.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/Library.h"
#include <cstddef>
#include <string>
#include <string_view>

namespace hybrid::rt::cuda {

using NcclStatus = int;              // ncclResult_t; 0: success
using NcclRanks = struct ncclComm *; // ncclComm_t
using NcclType = int;                // ncclDataType_t
using NcclOperation = int;           // ncclRedOp_t

/// ncclUniqueId: what ranks find each other by.
struct NcclMeeting {
  char bytes[128];
};

constexpr NcclType ncclBytes = 1, ncclF32 = 7, ncclF64 = 8;
constexpr NcclOperation ncclAdd = 0;  // ncclSum
constexpr int ncclScalarOnDevice = 0; // ncclScalarResidence_t
constexpr int leastNcclVersion = 21100;

// Name, the symbol in the library, result, parameters.
#define HYBRID_NCCL_CALLS(CALL)                                                                    \
  CALL(version, "ncclGetVersion", NcclStatus, (int *version))                                      \
  CALL(statusText, "ncclGetErrorString", const char *, (NcclStatus status))                        \
  CALL(meeting, "ncclGetUniqueId", NcclStatus, (NcclMeeting * meeting))                            \
  CALL(join, "ncclCommInitRank", NcclStatus,                                                       \
       (NcclRanks * ranks, int count, NcclMeeting meeting, int rank))                              \
  CALL(leave, "ncclCommDestroy", NcclStatus, (NcclRanks ranks))                                    \
  CALL(scaledSum, "ncclRedOpCreatePreMulSum", NcclStatus,                                          \
       (NcclOperation * operation, void *factor, NcclType type, int residence, NcclRanks ranks))   \
  CALL(forgetSum, "ncclRedOpDestroy", NcclStatus, (NcclOperation operation, NcclRanks ranks))      \
  CALL(allReduce, "ncclAllReduce", NcclStatus,                                                     \
       (const void *from, void *to, size_t count, NcclType type, NcclOperation operation,          \
        NcclRanks ranks, Stream stream))                                                           \
  CALL(send, "ncclSend", NcclStatus,                                                               \
       (const void *from, size_t count, NcclType type, int rank, NcclRanks ranks, Stream stream))  \
  CALL(receive, "ncclRecv", NcclStatus,                                                            \
       (void *to, size_t count, NcclType type, int rank, NcclRanks ranks, Stream stream))          \
  CALL(groupBegin, "ncclGroupStart", NcclStatus, ())                                               \
  CALL(groupEnd, "ncclGroupEnd", NcclStatus, ())

HYBRID_LIBRARY_TABLE(NcclApi, HYBRID_NCCL_CALLS)

/// Opens libnccl.so.2 (or the file that HYBRID_NCCL names), once a process.
Result<const NcclApi *> openNccl();

/// "2.28.9".
std::string versionText(const NcclApi &library);
/// "ncclAllReduce: unhandled system error".
std::string describe(const NcclApi &library, std::string_view call, NcclStatus status);

} // namespace hybrid::rt::cuda
