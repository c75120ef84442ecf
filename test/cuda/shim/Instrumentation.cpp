//===- Instrumentation.cpp - memory accesses of a whole instrumented program ===//
//
// Unit tests are instrumented with all their code, most of which runs outside of blocks.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/shim/Instrumentation.h"
#include "test/cuda/shim/Launch.h"

#define HYBRID_SHIM_ACCESS(name, bytes, write)                                                     \
  extern "C" void name(void *address) {                                                            \
    if (hybrid::shim::Block *block = hybrid::shim::runningBlock())                                 \
      block->access(*block, address, bytes, write);                                                \
  }
HYBRID_SHIM_ALL_ACCESSES(HYBRID_SHIM_ACCESS)

extern "C" void __tsan_init() {}
extern "C" void __tsan_vptr_update(void **, void *) {}
extern "C" void __tsan_vptr_read(void **) {}
