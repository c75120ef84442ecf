//===- FolderLock.cpp - one process a folder ----------------------------------===//
#include "training/record/FolderLock.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace hybrid::rt {

Result<FolderLock> FolderLock::take(const std::string &folder, const std::string &instead) {
  FolderLock lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.descriptor < 0)
    return Error{fmt::format("cannot open the folder '{}': {}", folder, std::strerror(errno))};
  if (flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{fmt::format("another process is writing '{}': wait for it, stop it, or {}", folder,
                             instead)};
  return lock;
}

FolderLock::FolderLock(FolderLock &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    close(descriptor);
}

} // namespace hybrid::rt
