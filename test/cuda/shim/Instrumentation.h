//===- Instrumentation.h - what -fsanitize=thread calls in a kernel ---------===//
//
// The compiler's instrumentation of memory accesses, without its runtime: the block checks them.
// Weak, so that the tests' program can bring ones that know whether a block runs at all.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/cuda/shim/Block.h"

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

#if __has_feature(thread_sanitizer)
#define HYBRID_SHIM_UNINSTRUMENTED __attribute__((weak, disable_sanitizer_instrumentation))
#define HYBRID_SHIM_ACCESS(name, bytes, write)                                                     \
  extern "C" HYBRID_SHIM_UNINSTRUMENTED void name(void *address) {                                 \
    hybrid::shim::Block &block = hybrid::shim::block();                                            \
    block.access(block, address, bytes, write);                                                    \
  }
HYBRID_SHIM_ALL_ACCESSES(HYBRID_SHIM_ACCESS)
#undef HYBRID_SHIM_ACCESS
extern "C" HYBRID_SHIM_UNINSTRUMENTED void __tsan_init() {}
#endif
