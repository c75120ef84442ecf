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

#define HYBRID_SHIM_COPY(name)                                                                     \
  extern "C" void *__tsan_##name(void *to, const void *from, size_t bytes) {                       \
    if (hybrid::shim::Block *block = hybrid::shim::runningBlock()) {                               \
      block->access(*block, from, static_cast<uint32_t>(bytes), false);                            \
      block->access(*block, to, static_cast<uint32_t>(bytes), true);                               \
    }                                                                                              \
    return __builtin_##name(to, from, bytes);                                                      \
  }
HYBRID_SHIM_COPIES(HYBRID_SHIM_COPY)

extern "C" void *__tsan_memset(void *to, int value, size_t bytes) {
  if (hybrid::shim::Block *block = hybrid::shim::runningBlock())
    block->access(*block, to, static_cast<uint32_t>(bytes), true);
  return __builtin_memset(to, value, bytes);
}

extern "C" void __tsan_init() {}
extern "C" void __tsan_vptr_update(void **, void *) {}
extern "C" void __tsan_vptr_read(void **) {}
