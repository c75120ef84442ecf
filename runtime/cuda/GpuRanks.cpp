//===- GpuRanks.cpp - the ranks of a job, each with a GPU -------------------===//
#include "runtime/cuda/GpuRanks.h"
#include "runtime/ranks/Collectives.h"
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace hybrid::rt::cuda {

static void *at(DeviceAddress address) { return reinterpret_cast<void *>(address); }

Result<int> placeOnMachine(Communicator &ranks) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0)
    return Error{fmt::format("gethostname: {}", std::strerror(errno))};
  auto hosts = ranks.run(
      [&](Transport &transport) { return gatherAll(transport, std::as_bytes(std::span(host))); });
  if (!hosts)
    return hosts.error();
  int before = 0;
  for (int rank = 0; rank < ranks.rank(); ++rank)
    before +=
        std::memcmp((*hosts)[static_cast<size_t>(rank)].data(), host.data(), host.size()) == 0;
  return before;
}

Result<std::unique_ptr<GpuRanks>> GpuRanks::join(const Gpu &gpu, Communicator &ranks) {
  // Where one cannot, all must know: the others would wait in NCCL for ever.
  auto library = openNccl();
  auto lacking =
      ranks.run([&](Transport &transport) { return largest(transport, library ? 0 : 1); });
  if (!library)
    return library.error();
  if (!lacking)
    return lacking.error();
  if (*lacking)
    return Error{"another rank has no NCCL"};
  std::unique_ptr<GpuRanks> joining(new GpuRanks(gpu, **library));
  joining->place = ranks.rank(), joining->count = ranks.size();
  const DriverApi &driver = gpu.driver();
  auto prepared =
      gpu.check("cuStreamCreate", driver.streamCreate(&joining->stream, streamNonBlocking));
  for (Event *event : {&joining->given, &joining->done})
    if (prepared)
      prepared = gpu.check("cuEventCreate", driver.eventCreate(event, eventDisableTiming));
  if (!prepared)
    return prepared.error();
  NcclMeeting meeting{};
  if (ranks.isFirst())
    if (auto made = joining->check("ncclGetUniqueId", joining->library.meeting(&meeting)); !made)
      return made.error();
  auto told = ranks.run([&](Transport &transport) {
    return broadcast(transport, std::as_writable_bytes(std::span(meeting.bytes)));
  });
  if (!told)
    return told.error();
  if (auto met =
          joining->check("ncclCommInitRank", joining->library.join(&joining->joined, joining->count,
                                                                   meeting, joining->place));
      !met)
    return met.error();
  return joining;
}

GpuRanks::~GpuRanks() {
  // Nothing can be done about what fails here.
  for (const auto &[key, sum] : scaledSums)
    library.forgetSum(sum, joined);
  if (joined)
    library.leave(joined);
  for (Event event : {given, done})
    if (event)
      gpu.driver().eventDestroy(event);
  if (stream)
    gpu.driver().streamDestroy(stream);
}

Result<void> GpuRanks::check(std::string_view call, NcclStatus status) const {
  if (status == 0)
    return {};
  return Error{fmt::format("rank {} of {}: {}", place, count, describe(library, call, status))};
}

Result<void> GpuRanks::follow() {
  const DriverApi &driver = gpu.driver();
  if (auto noted = gpu.check("cuEventRecord", driver.eventRecord(given, gpu.stream())); !noted)
    return noted;
  return gpu.check("cuStreamWaitEvent", driver.streamWait(stream, given, 0));
}

Result<void> GpuRanks::await() {
  const DriverApi &driver = gpu.driver();
  if (auto noted = gpu.check("cuEventRecord", driver.eventRecord(done, stream)); !noted)
    return noted;
  return gpu.check("cuStreamWaitEvent", driver.streamWait(gpu.stream(), done, 0));
}

template <typename Work> Result<void> GpuRanks::together(Work &&work) {
  if (auto begun = check("ncclGroupStart", library.groupBegin()); !begun)
    return begun;
  auto worked = work();
  auto ended = check("ncclGroupEnd", library.groupEnd());
  return worked ? ended : worked;
}

template <typename Work> Result<void> GpuRanks::exchange(Work &&work) {
  if (auto followed = follow(); !followed)
    return followed;
  if (auto worked = work(); !worked)
    return worked;
  return await();
}

Result<NcclOperation> GpuRanks::sumOf(DType type, DeviceAddress factor) {
  if (!factor)
    return ncclAdd;
  auto [entry, isNew] = scaledSums.try_emplace({type, factor}, ncclAdd);
  if (!isNew)
    return entry->second;
  auto made =
      check("ncclRedOpCreatePreMulSum",
            library.scaledSum(&entry->second, at(factor), type == DType::F64 ? ncclF64 : ncclF32,
                              ncclScalarOnDevice, joined));
  if (made)
    return entry->second;
  scaledSums.erase(entry);
  return made.error();
}

Result<void> GpuRanks::beginSum(std::span<const Values> values, DType type, DeviceAddress factor) {
  auto sum = sumOf(type, factor);
  if (!sum)
    return sum.error();
  if (auto followed = follow(); !followed)
    return followed;
  return together([&]() -> Result<void> {
    for (const Values &part : values)
      if (auto begun = check("ncclAllReduce",
                             library.allReduce(at(part.address), at(part.address), part.elements,
                                               type == DType::F64 ? ncclF64 : ncclF32, *sum, joined,
                                               stream));
          !begun)
        return begun;
    return {};
  });
}

Result<void> GpuRanks::swap(const SequenceRanks &ranks, DeviceAddress send, DeviceAddress receive,
                            size_t bytes) {
  const size_t part = bytes / static_cast<size_t>(ranks.size);
  return exchange([&] {
    return together([&]() -> Result<void> {
      for (int i = 0; i < ranks.size; ++i) {
        const DeviceAddress skipped = static_cast<size_t>(i) * part;
        if (auto sent = check("ncclSend", library.send(at(send + skipped), part, ncclBytes,
                                                       ranks.first + i, joined, stream));
            !sent)
          return sent;
        if (auto taken = check("ncclRecv", library.receive(at(receive + skipped), part, ncclBytes,
                                                           ranks.first + i, joined, stream));
            !taken)
          return taken;
      }
      return {};
    });
  });
}

Result<void> GpuRanks::send(int rank, DeviceAddress from, size_t bytes) {
  return exchange([&] {
    return check("ncclSend", library.send(at(from), bytes, ncclBytes, rank, joined, stream));
  });
}

Result<void> GpuRanks::receive(int rank, DeviceAddress to, size_t bytes) {
  return exchange([&] {
    return check("ncclRecv", library.receive(at(to), bytes, ncclBytes, rank, joined, stream));
  });
}

} // namespace hybrid::rt::cuda
