//===- AppendFile.cpp - files that grow record by record --------------------===//
#include "runtime/files/AppendFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace hybrid::rt {

static Error cannot(const char *what, const std::string &path, int reason) {
  return Error{fmt::format("cannot {} '{}': {}", what, path, std::strerror(reason))};
}

Result<AppendFile> AppendFile::open(std::string path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return cannot("write", path, errno);
  return AppendFile(std::move(path), descriptor);
}

AppendFile::AppendFile(AppendFile &&other) noexcept
    : name(std::move(other.name)), descriptor(std::exchange(other.descriptor, -1)) {}

AppendFile &AppendFile::operator=(AppendFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(descriptor, other.descriptor);
  return *this;
}

AppendFile::~AppendFile() {
  if (descriptor >= 0)
    close(descriptor);
}

Result<void> AppendFile::append(std::string_view record) {
  size_t done = 0;
  while (done < record.size()) {
    const ssize_t written = write(descriptor, record.data() + done, record.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      const int reason = errno;
      // Where even that fails a part of the record stays; the error is that of writing.
      const off_t end = lseek(descriptor, 0, SEEK_END), part = static_cast<off_t>(done);
      [[maybe_unused]] const bool undone = end >= part && ftruncate(descriptor, end - part) == 0;
      return cannot("write", name, reason);
    }
    done += static_cast<size_t>(written);
  }
  return {};
}

Result<void> AppendFile::cut(uint64_t bytes) {
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
    return cannot("write", name, errno);
  return {};
}

Result<void> AppendFile::sync() {
  if (fdatasync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
    return cannot("sync", name, errno);
  return {};
}

} // namespace hybrid::rt
