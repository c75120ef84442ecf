//===- FuzzNpy.cpp - no bytes crash the reader of npy files --------------------===//
#include "runtime/files/Npy.h"
#include "test/fuzz/FuzzFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzFile bytes(data, size);
  if (!bytes.isComplete())
    return 0;
  auto array = hybrid::rt::readNpy(bytes.path());
  if (!array)
    return 0;
  for (auto type : {hybrid::rt::DType::F32, hybrid::rt::DType::F64, hybrid::rt::DType::I32})
    (void)array->convertedTo(type, "fuzz");
  return 0;
}
