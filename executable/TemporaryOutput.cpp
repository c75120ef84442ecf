//===- TemporaryOutput.cpp - what is being written, and by whom -------------===//
#include "executable/TemporaryOutput.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hybrid {

static constexpr std::string_view temporaryMark = ".hybrid-tmp-";
static constexpr size_t randomLetters = 6; // that mkostemp and mkdtemp fill in

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporaryTemplate(const std::string &target) {
  return target + std::string(temporaryMark) + std::string(randomLetters, 'X');
}

static bool isTemporaryName(std::string_view name) {
  size_t mark = name.rfind(temporaryMark);
  return mark != std::string_view::npos &&
         name.size() == mark + temporaryMark.size() + randomLetters;
}

bool markAlive(int descriptor, const std::string &path) {
  struct stat held, named;
  if (flock(descriptor, LOCK_EX) != 0 || fstat(descriptor, &held) != 0)
    return true; // a file system without locks: nobody removes either
  return stat(path.c_str(), &named) == 0 && named.st_ino == held.st_ino &&
         named.st_dev == held.st_dev;
}

void removeAbandonedOutput(const std::string &folder) {
  DIR *entries = opendir(folder.c_str());
  if (!entries)
    return;
  while (const dirent *entry = readdir(entries)) {
    if (!isTemporaryName(entry->d_name))
      continue;
    // Some file systems lock only what is open for writing, which a folder cannot be.
    constexpr int careful = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int file = openat(dirfd(entries), entry->d_name, O_RDWR | careful);
    if (file < 0)
      file = openat(dirfd(entries), entry->d_name, O_RDONLY | careful);
    if (file < 0)
      continue;
    std::error_code ignored;
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
      std::filesystem::remove_all(folder + "/" + entry->d_name, ignored);
    close(file);
  }
  closedir(entries);
}

void removeAbandonedOnce(const std::string &folder) {
  static std::mutex mutex;
  static auto *seen = new std::set<std::string>();
  {
    std::lock_guard lock(mutex);
    if (!seen->insert(folder).second)
      return;
  }
  removeAbandonedOutput(folder);
}

std::string moveInPlace(const std::string &from, const std::string &to) {
  if (rename(from.c_str(), to.c_str()) != 0)
    return std::strerror(errno);
  const int folder = open(folderOf(to).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A folder that may be written but not read cannot be opened; some file systems cannot sync one
  // (EINVAL). The rename is then as durable as it can be.
  if (folder < 0)
    return "";
  const bool synced = fsync(folder) == 0 || errno == EINVAL || errno == EROFS;
  const std::string fault = synced ? "" : std::strerror(errno);
  close(folder);
  return fault;
}

TemporaryFolder::TemporaryFolder(std::string wanted) : target(std::move(wanted)) {
  removeAbandonedOnce(folderOf(target));
  while (true) {
    folder = temporaryTemplate(target);
    if (!mkdtemp(folder.data())) {
      fault = "cannot make the folder '" + target + "': " + std::strerror(errno);
      folder.clear();
      return;
    }
    descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0 ? markAlive(descriptor, folder) : errno != ENOENT)
      return;
    if (descriptor >= 0)
      close(descriptor);
  }
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other) noexcept
    : target(std::move(other.target)), folder(std::exchange(other.folder, {})),
      fault(std::move(other.fault)), descriptor(std::exchange(other.descriptor, -1)) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
  if (descriptor >= 0)
    close(descriptor);
}

const std::string &TemporaryFolder::commit() {
  if (!fault.empty())
    return fault;
  const mode_t mask = umask(0);
  umask(mask);
  // mkdtemp makes it private; any new folder of this user would get these permissions.
  chmod(folder.c_str(), 0777 & ~mask);
  if (std::string why = moveInPlace(folder, target); !why.empty())
    fault = "cannot make the folder '" + target + "': " + why;
  else
    folder.clear();
  return fault;
}

} // namespace hybrid
