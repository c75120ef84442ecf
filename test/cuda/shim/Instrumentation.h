//===- Instrumentation.h - what -fsanitize=thread calls in a kernel ---------===//
//
// The compiler's instrumentation of memory accesses, without its runtime: the block checks them.
// Weak, so that the tests' program can bring ones that know whether a block runs at all.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/cuda/shim/Block.h"
#include <cstddef>

#define HYBRID_SHIM_ACCESSES(ACCESS, bytes)                                                        \
  ACCESS(__tsan_read##bytes, bytes, false)                                                         \
  ACCESS(__tsan_write##bytes, bytes, true)                                                         \
  ACCESS(__tsan_unaligned_read##bytes, bytes, false)                                               \
  ACCESS(__tsan_unaligned_write##bytes, bytes, true)
#define HYBRID_SHIM_ALL_ACCESSES(ACCESS)                                                           \
  HYBRID_SHIM_ACCESSES(ACCESS, 1)                                                                  \
  HYBRID_SHIM_ACCESSES(ACCESS, 2)                                                                  \
  HYBRID_SHIM_ACCESSES(ACCESS, 4)                                                                  \
  HYBRID_SHIM_ACCESSES(ACCESS, 8)                                                                  \
  HYBRID_SHIM_ACCESSES(ACCESS, 16)

// Vectors of 16 bytes are copied by these where the compiler does not make them one access.
#define HYBRID_SHIM_COPIES(COPY) COPY(memcpy) COPY(memmove)

#if __has_feature(thread_sanitizer)
#define HYBRID_SHIM_UNINSTRUMENTED __attribute__((weak, disable_sanitizer_instrumentation))
#define HYBRID_SHIM_ACCESS(name, bytes, write)                                                     \
  extern "C" HYBRID_SHIM_UNINSTRUMENTED void name(void *address) {                                 \
    hybrid::shim::Block &block = hybrid::shim::block();                                            \
    block.access(block, address, bytes, write);                                                    \
  }
HYBRID_SHIM_ALL_ACCESSES(HYBRID_SHIM_ACCESS)
#undef HYBRID_SHIM_ACCESS
#define HYBRID_SHIM_COPY(name)                                                                     \
  extern "C" HYBRID_SHIM_UNINSTRUMENTED void *__tsan_##name(void *to, const void *from,            \
                                                            size_t bytes) {                        \
    hybrid::shim::Block &block = hybrid::shim::block();                                            \
    block.access(block, from, static_cast<uint32_t>(bytes), false);                                \
    block.access(block, to, static_cast<uint32_t>(bytes), true);                                   \
    return __builtin_##name(to, from, bytes);                                                      \
  }
HYBRID_SHIM_COPIES(HYBRID_SHIM_COPY)
#undef HYBRID_SHIM_COPY
extern "C" HYBRID_SHIM_UNINSTRUMENTED void *__tsan_memset(void *to, int value, size_t bytes) {
  hybrid::shim::Block &block = hybrid::shim::block();
  block.access(block, to, static_cast<uint32_t>(bytes), true);
  return __builtin_memset(to, value, bytes);
}
extern "C" HYBRID_SHIM_UNINSTRUMENTED void __tsan_init() {}
#endif
