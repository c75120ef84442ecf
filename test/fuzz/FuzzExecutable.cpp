//===- FuzzExecutable.cpp - no bytes crash the loader of executables -----------===//
#include "runtime/Executable.h"
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const auto *bytes = reinterpret_cast<const std::byte *>(data);
  auto executable = hybrid::rt::Executable::fromBytes({bytes, bytes + size}, "fuzz.hyx");
  // What was accepted can be described without a fault, and what was refused has a reason.
  if (!executable)
    return executable.error().message.size() > 10 ? 0 : (std::abort(), 0);
  int64_t elements = 0;
  for (const auto &parameter : (*executable)->parameters())
    elements += parameter.elements();
  for (const auto &program : (*executable)->programs())
    for (const auto &output : program.outputs)
      elements += output.elements();
  if (elements < 0)
    std::abort();
  (void)(*executable)->fingerprint();
  return 0;
}
