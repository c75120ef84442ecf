//===- OpenRanks.cpp - the ranks that this process was started with -------------===//
#include "runtime/ranks/OpenRanks.h"
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {

// Each of them is in the environment of what was started, and not in that of a batch script.
int ranksStarted() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char *value = std::getenv(name); value && *value)
      return std::max(1, std::atoi(value));
  return 1;
}

Result<std::unique_ptr<Transport>> openRanks() {
  constexpr const char *library = "libhybrid-mpi.so";
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = program.parent_path().parent_path() / "lib" / library;
  // MPI's own parts look for its symbols among those of the process.
  void *handle = dlopen(std::filesystem::exists(beside, error) ? beside.c_str() : library,
                        RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return Error{fmt::format("{} processes were started together, but {} cannot be opened: {}. "
                             "Install libopenmpi-dev or libmpich-dev and build again",
                             ranksStarted(), library, dlerror())};
  using Open = Transport *(std::string * why);
  auto *open = reinterpret_cast<Open *>(dlsym(handle, "hybridOpenMpi"));
  if (!open)
    return Error{fmt::format("{} is no library of this program: build both together", library)};
  std::string why;
  std::unique_ptr<Transport> transport(open(&why));
  if (!transport)
    return Error{"MPI cannot be started: " + why};
  return transport;
}

} // namespace hybrid::rt
