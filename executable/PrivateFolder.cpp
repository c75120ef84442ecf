//===- PrivateFolder.cpp - folders that only one user may write to ----------===//
#include "executable/PrivateFolder.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hybrid {

std::string userFolder(const char *variable, const std::string &below) {
  const char *given = std::getenv(variable), *home = std::getenv("HOME");
  if (given && *given == '/')
    return std::string(given) + "/hybrid";
  if (!home || *home != '/') {
    const passwd *user = getpwuid(geteuid());
    home = user ? user->pw_dir : nullptr;
  }
  return home && *home == '/' ? std::string(home) + "/" + below + "/hybrid" : "";
}

std::string makePrivateFolder(const std::string &path) {
  auto cannot = [&](const std::string &why) {
    return "cannot make the folder '" + path + "': " + why;
  };
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error)
    return cannot(error.message());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return cannot(std::strerror(errno));
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return cannot(std::strerror(errno));
  if (!S_ISDIR(status.st_mode))
    return "'" + path + "' is no folder";
  if (status.st_uid != geteuid())
    return "'" + path + "' belongs to another user";
  if ((status.st_mode & 077) != 0 && chmod(path.c_str(), 0700) != 0)
    return "others have rights to '" + path +
           "', and they cannot be taken away: " + std::strerror(errno);
  return "";
}

} // namespace hybrid
