//===- OutputFile.cpp - the one way both programs write a file --------------===//
#include "executable/OutputFile.h"
#include "executable/TemporaryOutput.h"
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hybrid {
namespace {

/// The number in /dev/fd/7, /proc/self/fd/7, /dev/stdout or /dev/stderr.
std::optional<int> ownDescriptor(std::string_view path) {
  if (path == "/dev/stdout")
    return STDOUT_FILENO;
  if (path == "/dev/stderr")
    return STDERR_FILENO;
  for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder))
      continue;
    int number = -1;
    const char *end = path.data() + path.size();
    auto [stop, fault] = std::from_chars(path.data() + folder.size(), end, number);
    if (fault == std::errc() && stop == end && number >= 0)
      return number;
  }
  return std::nullopt;
}

/// What a chain of symbolic links names in the end, there or not; empty with errno when that cannot
/// be said.
std::string endOfLinks(std::string path) {
  constexpr int mostLinks = 40; // as the kernel
  for (int links = 0; links <= mostLinks; ++links) {
    struct stat status;
    if (lstat(path.c_str(), &status) != 0)
      return errno == ENOENT ? path : std::string();
    if (!S_ISLNK(status.st_mode))
      return path;
    std::string named(4096, '\0');
    ssize_t length = readlink(path.c_str(), named.data(), named.size());
    if (length < 0)
      return {};
    named.resize(static_cast<size_t>(length));
    path = named.starts_with('/') ? named : folderOf(path) + "/" + named;
  }
  errno = ELOOP;
  return {};
}

} // namespace

OutputFile::OutputFile(std::string path, Kind kind) : path(std::move(path)), kind(kind) { begin(); }

void OutputFile::begin() {
  struct stat status;
  bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return fail("write");
  }
  if (ownDescriptor(path) || (exists && !S_ISREG(status.st_mode)))
    return openThrough();
  target = endOfLinks(path);
  if (target.empty())
    return fail("write");
  // A rename asks for no permission of the file that it replaces.
  if (exists && access(target.c_str(), W_OK) != 0)
    return fail("write");
  removeAbandonedOnce(folderOf(target));
  openTemporary();
  if (descriptor < 0)
    return;
  if (kind == Kind::Secret)
    return;
  // mkostemp makes the file private; give it the permissions that the old one has, or any new file
  // of this user would get.
  mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, exists ? status.st_mode & 0777 : 0666 & ~mask);
}

void OutputFile::openThrough() {
  if (std::optional<int> own = ownDescriptor(path)) {
    if (*own == STDOUT_FILENO)
      std::fflush(stdout);
    descriptor = fcntl(*own, F_DUPFD_CLOEXEC, 3);
  } else {
    descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  }
  if (descriptor < 0)
    fail("write");
}

void OutputFile::openTemporary() {
  do {
    if (descriptor >= 0)
      close(descriptor);
    temporary = temporaryTemplate(target);
    descriptor = mkostemp(temporary.data(), O_CLOEXEC);
    if (descriptor < 0) {
      temporary.clear();
      return fail("write");
    }
  } while (!markAlive(descriptor, temporary));
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)), kind(other.kind), target(std::move(other.target)),
      temporary(std::exchange(other.temporary, {})), fault(std::move(other.fault)),
      descriptor(std::exchange(other.descriptor, -1)) {}

OutputFile::~OutputFile() {
  if (!temporary.empty())
    unlink(temporary.c_str());
  if (descriptor >= 0)
    close(descriptor);
}

void OutputFile::fail(const std::string &what) {
  if (fault.empty())
    fault = "cannot " + what + " '" + path + "': " + std::strerror(errno);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (fault.empty() && !bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail("write");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

const std::string &OutputFile::commit() {
  // Pipes and devices cannot be synced (EINVAL).
  if (fault.empty() && fsync(descriptor) != 0 && !(target.empty() && errno == EINVAL))
    fail("sync");
  // Renamed before it is closed: the lock goes with the descriptor.
  if (fault.empty() && !target.empty())
    putInPlace();
  if (!fault.empty())
    return fault;
  if (close(std::exchange(descriptor, -1)) != 0)
    fail("write");
  return fault;
}

void OutputFile::putInPlace() {
  if (kind == Kind::Secret) { // the first one counts, whoever wrote it
    if (link(temporary.c_str(), target.c_str()) != 0 && errno != EEXIST)
      return fail("write");
    unlink(temporary.c_str());
  } else if (std::string why = moveInPlace(temporary, target); !why.empty()) {
    fault = "cannot write '" + path + "': " + why;
    return;
  }
  temporary.clear();
}

std::string writeOutputFile(const std::string &path, std::string_view content,
                            OutputFile::Kind kind) {
  OutputFile file(path, kind);
  file.write(content);
  return file.commit();
}

void letFullFilesBeErrors() { std::signal(SIGXFSZ, SIG_IGN); }

std::string flushStandardOutput() {
  bool lost = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !lost)
    return {};
  return std::string("cannot write to standard output: ") +
         (errno ? std::strerror(errno) : "something was lost");
}

int finishStandardOutput(int status) {
  const std::string lost = flushStandardOutput();
  if (lost.empty())
    return status;
  std::fprintf(stderr, "error: %s\n", lost.c_str());
  return status == 0 ? 1 : status;
}

} // namespace hybrid
