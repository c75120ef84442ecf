//===- FuzzCheckpoint.cpp - no bytes crash who resumes a run ----------------------===//
//
// The bytes are a whole file. Seeds are checkpoints of the model that the tests of training have.
//
//===----------------------------------------------------------------------===//
#include "runtime/files/Safetensors.h"
#include "test/fuzz/FuzzFile.h"
#include "test/unit/training/FakeModel.h"
#include "training/Checkpoint.h"
#include <cstdlib>

using namespace hybrid::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzFile bytes(data, size);
  if (!bytes.isComplete())
    return 0;
  FakeModel model(4, 10, 5);
  auto state = loadCheckpoint(bytes.path(), model);
  if (state && (state->step < 0 || state->metricsLines < 0))
    std::abort();
  return 0;
}
