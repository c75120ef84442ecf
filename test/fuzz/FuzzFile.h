//===- FuzzFile.h - bytes as a file --------------------------------------------===//
//
// Readers that take a path read the fuzzer's bytes through a file that is only in memory.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

class FuzzFile {
public:
  FuzzFile(const uint8_t *data, size_t size) : descriptor(memfd_create("fuzz", MFD_CLOEXEC)) {
    complete = descriptor >= 0 && write(descriptor, data, size) == static_cast<ssize_t>(size);
  }
  FuzzFile(const FuzzFile &) = delete;
  FuzzFile &operator=(const FuzzFile &) = delete;
  ~FuzzFile() { close(descriptor); }

  bool isComplete() const { return complete; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
  bool complete;
};
