//===- AtomicFile.cpp - files that are either whole or absent ---------------===//
#include "runtime/files/AtomicFile.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hybrid::rt {

static Error failure(const std::string &what, const std::string &path) {
  return Error{"cannot " + what + " '" + path + "': " + std::strerror(errno)};
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  AtomicFile file;
  file.path = path;
  file.temporary = path + ".tmp-XXXXXX";
  file.descriptor = mkostemp(file.temporary.data(), O_CLOEXEC);
  if (file.descriptor < 0)
    return failure("write", path);
  // mkostemp makes the file private; give it the permissions any new file of this user would get.
  mode_t mask = umask(0);
  umask(mask);
  fchmod(file.descriptor, 0666 & ~mask);
  return file;
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      descriptor(std::exchange(other.descriptor, -1)) {
  other.temporary.clear();
}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    close(descriptor);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failure("write", path);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Result<void> AtomicFile::commit() {
  if (fsync(descriptor) != 0)
    return failure("sync", path);
  int closing = close(std::exchange(descriptor, -1));
  if (closing != 0)
    return failure("write", path);
  if (rename(temporary.c_str(), path.c_str()) != 0)
    return failure("write", path);
  temporary.clear();
  int folder = open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return failure("open the folder of", path);
  // Some file systems cannot sync a folder (EINVAL); the rename is then as durable as it can be.
  bool failed = fsync(folder) != 0 && errno != EINVAL && errno != EROFS;
  Error error = failure("sync the folder of", path);
  close(folder);
  if (failed)
    return error;
  return {};
}

Result<void> writeFileAtomically(const std::string &path, std::string_view content) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.error();
  if (Result<void> done = file->write(content); !done)
    return done;
  return file->commit();
}

} // namespace hybrid::rt
