//===- FuzzRTexts.cpp - no bytes crash the reader of R objects -----------------===//
#include "training/data/RTexts.h"
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)hybrid::rt::textOfRObject(std::as_bytes(std::span(data, size)));
  return 0;
}
