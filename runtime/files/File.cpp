//===- File.cpp - reading whole files ----------------------------------------===//
#include "runtime/files/File.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hybrid::rt {

namespace {
struct Opened {
  int descriptor = -1;
  uint64_t size = 0;
  Opened() = default;
  Opened(Opened &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)), size(other.size) {}
  ~Opened() {
    if (descriptor >= 0)
      close(descriptor);
  }
};
} // namespace

static Error cannotRead(const std::string &path, const std::string &why) {
  return Error{"cannot read '" + path + "': " + why};
}

static Result<Opened> openRegular(const std::string &path) {
  Opened file;
  // Non-blocking, so that a named pipe is refused instead of waited for.
  file.descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor < 0)
    return cannotRead(path, std::strerror(errno));
  struct stat status;
  if (fstat(file.descriptor, &status) != 0)
    return cannotRead(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode))
    return cannotRead(path, "is a directory");
  if (!S_ISREG(status.st_mode))
    return cannotRead(path, "is not a regular file");
  file.size = static_cast<uint64_t>(status.st_size);
  return file;
}

Result<std::vector<std::byte>> readFile(const std::string &path, uint64_t limit) {
  Result<Opened> file = openRegular(path);
  if (!file)
    return file.error();
  if (file->size > limit)
    return cannotRead(path, "has " + std::to_string(file->size) +
                                " bytes, more than the limit of " + std::to_string(limit));
  std::vector<std::byte> bytes(file->size);
  size_t filled = 0;
  while (filled < bytes.size()) {
    ssize_t got = read(file->descriptor, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return cannotRead(path, std::strerror(errno));
    if (got == 0)
      break; // became shorter while we read; what reads the content will say what is missing
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

Result<std::string> readText(const std::string &path) {
  auto bytes = readFile(path, mostTextBytes);
  if (!bytes)
    return bytes.error();
  return std::string(reinterpret_cast<const char *>(bytes->data()), bytes->size());
}

Result<void> makeFolder(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return Error{fmt::format("cannot make the folder '{}': {}", path, error.message())};
  return {};
}

Result<MappedFile> MappedFile::open(const std::string &path) {
  Result<Opened> file = openRegular(path);
  if (!file)
    return file.error();
  MappedFile mapped;
  if (file->size == 0)
    return mapped;
  void *data = mmap(nullptr, file->size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
  if (data == MAP_FAILED)
    return cannotRead(path, std::strerror(errno));
  mapped.data = data;
  mapped.size = file->size;
  return mapped;
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)), size(std::exchange(other.size, 0)) {}

MappedFile::~MappedFile() {
  if (data)
    munmap(data, size);
}

} // namespace hybrid::rt
