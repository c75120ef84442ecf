//===- KeyFile.cpp - keys that say who compiled ------------------------------===//
#include "executable/KeyFile.h"
#include "executable/OutputFile.h"
#include "executable/PrivateFolder.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hybrid {
namespace {

constexpr size_t digits = 64;

struct Descriptor {
  int number;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};

int digitOf(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// One that another process makes first stays.
std::string makeKey(const std::string &path) {
  Key key;
  if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    return "cannot make '" + path + "': " + std::strerror(errno);
  return writeOutputFile(path, hexadecimal(key) + "\n", OutputFile::Kind::Secret);
}

} // namespace

std::string ownKeyFile() {
  const std::string folder = userFolder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? "" : folder + "/key";
}

std::optional<Key> readKey(const std::string &path, unsigned owner, bool shared,
                           std::string &fault) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (file.number < 0 || fstat(file.number, &status) != 0)
    return std::nullopt;
  const mode_t others = shared ? S_IWGRP | S_IWOTH : S_IRWXG | S_IRWXO;
  char text[digits + 2];
  if (!S_ISREG(status.st_mode) || status.st_uid != owner)
    fault = "'" + path + "' is no file of " + (shared ? "root" : "this user");
  else if (status.st_mode & others)
    fault = "others than its owner may " + std::string(shared ? "write to '" : "use '") + path +
            "': chmod " + (shared ? "go-w" : "600") + " it, or remove it if they may have";
  else if (ssize_t got = read(file.number, text, sizeof text);
           got < static_cast<ssize_t>(digits) ||
           (got > static_cast<ssize_t>(digits) && text[digits] != '\n'))
    fault = "'" + path + "' is no key: expected 64 hexadecimal digits";
  else {
    Key key;
    bool sound = true;
    for (size_t i = 0; i < key.size(); ++i) {
      const int high = digitOf(text[2 * i]), low = digitOf(text[2 * i + 1]);
      sound = sound && high >= 0 && low >= 0;
      key[i] = static_cast<uint8_t>(high << 4 | low);
    }
    if (sound)
      return key;
    fault = "'" + path + "' is no key: expected 64 hexadecimal digits";
  }
  return std::nullopt;
}

std::optional<Key> signingKey(std::string &fault) {
  if (auto shared = readKey(sharedKeyFile, 0, true, fault))
    return shared;
  const std::string path = ownKeyFile();
  if (path.empty()) {
    fault = "there is no home folder for a key: set XDG_CONFIG_HOME to a folder of yours";
    return std::nullopt;
  }
  if (fault = makePrivateFolder(path.substr(0, path.rfind('/'))); !fault.empty())
    return std::nullopt;
  if (access(path.c_str(), F_OK) != 0)
    if (fault = makeKey(path); !fault.empty())
      return std::nullopt;
  auto key = readKey(path, geteuid(), false, fault);
  if (!key && fault.empty())
    fault = "cannot read '" + path + "': " + std::strerror(errno);
  return key;
}

std::vector<Key> knownKeys(std::string &fault) {
  std::vector<Key> keys;
  if (auto shared = readKey(sharedKeyFile, 0, true, fault))
    keys.push_back(*shared);
  if (const std::string path = ownKeyFile(); !path.empty())
    if (auto own = readKey(path, geteuid(), false, fault))
      keys.push_back(*own);
  return keys;
}

} // namespace hybrid
