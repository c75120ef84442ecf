//===- AtomicFile.cpp - files that are either whole or absent ---------------===//
#include "runtime/files/AtomicFile.h"

namespace hybrid::rt {

static Result<void> resultOf(const std::string &error) {
  return error.empty() ? Result<void>() : Result<void>(Error{error});
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  AtomicFile atomic(path);
  if (!atomic.file.error().empty())
    return Error{atomic.file.error()};
  return atomic;
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  file.write(bytes);
  return resultOf(file.error());
}

Result<void> AtomicFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Result<void> AtomicFile::commit() { return resultOf(file.commit()); }

Result<void> writeFileAtomically(const std::string &path, std::string_view content) {
  return resultOf(writeOutputFile(path, content));
}

} // namespace hybrid::rt
