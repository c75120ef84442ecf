//===- Trust.cpp - whose machine code runs ------------------------------------===//
#include "runtime/Trust.h"
#include "executable/KeyFile.h"
#include "executable/PrivateFolder.h"
#include "runtime/files/AtomicFile.h"
#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

namespace hybrid::rt {

static std::string trustFolder() {
  const std::string folder = userFolder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? "" : folder + "/trusted";
}

bool isTrusted(const Seal &seal, std::string &fault) {
  const std::vector<Key> keys = knownKeys(fault);
  if (std::any_of(keys.begin(), keys.end(), [&](const Key &key) { return seal.isSignedWith(key); }))
    return true;
  // Only what lies in a folder that nobody else may write to.
  const std::string folder = trustFolder();
  struct stat status;
  return !folder.empty() && stat(folder.c_str(), &status) == 0 && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         access((folder + "/" + hexadecimal(seal.content)).c_str(), F_OK) == 0;
}

Result<void> rememberTrust(const Seal &seal) {
  const std::string folder = trustFolder();
  if (folder.empty())
    return Error{"there is no home folder to remember it in: set XDG_CONFIG_HOME to one of yours"};
  for (const std::string &each : {folder.substr(0, folder.rfind('/')), folder})
    if (std::string why = makePrivateFolder(each); !why.empty())
      return Error{why};
  return writeFileAtomically(folder + "/" + hexadecimal(seal.content), "");
}

} // namespace hybrid::rt
