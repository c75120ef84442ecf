//===- FuzzDatabase.cpp - no bytes crash who reads a study ------------------------===//
#include "laboratory/Protocol.h"
#include "laboratory/Results.h"
#include "laboratory/database/Schema.h"
#include "runtime/files/Json.h"
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

using namespace hybrid::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // SQLite opens a database by its name, and writes beside it.
  static const std::string path = [] {
    std::string folder = (std::filesystem::temp_directory_path() / "hybrid-fuzz-XXXXXX").string();
    if (!mkdtemp(folder.data()))
      std::abort();
    return folder + "/study.sqlite";
  }();
  for (const char *beside : {"-wal", "-shm", "-journal"})
    unlink((path + beside).c_str());
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool complete = file >= 0 && write(file, data, size) == static_cast<ssize_t>(size);
  close(file);
  if (!complete)
    return 0;
  if (auto study = lab::readStudy(path)) {
    (void)lab::Protocol::fromJson(parseJsonOrNull(study->protocol));
    (void)lab::scoreStudy(*study);
  }
  return 0;
}
