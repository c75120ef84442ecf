//===- FuzzSafetensors.cpp - no bytes crash the reader of safetensors ----------===//
#include "runtime/files/Safetensors.h"
#include "test/fuzz/FuzzFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzFile bytes(data, size);
  if (!bytes.isComplete())
    return 0;
  auto file = hybrid::rt::SafetensorsFile::open(bytes.path());
  if (!file)
    return 0;
  // Every byte of every tensor must be readable.
  volatile unsigned sum = 0;
  for (const auto &[name, tensor] : file->tensors())
    for (std::byte byte : tensor.data)
      sum = sum + static_cast<unsigned>(byte);
  return 0;
}
