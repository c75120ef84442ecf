//===- AttentionMemory.h - what library attention takes besides its tensors --===//
#pragma once
#include <cstdint>

namespace hybrid {

/// Attention by the library runs in parts of its batch rows and heads where all of it at once would
/// take more workspace than this: a gradient whose sums are in a fixed order keeps one matrix of
/// queries and keys a head.
constexpr uint64_t attentionWorkspaceGoal = (uint64_t(1) << 30) + 4096; // 2^29 scores, and some

/// Bytes of workspace for `heads` heads, over all batch rows, that run together: as cuDNN 9.19 says
/// for sm_90.
constexpr uint64_t attentionWorkspace(bool backward, uint64_t heads, uint64_t length,
                                      uint64_t keyLength, uint64_t headSize, bool sharesKeys) {
  if (!backward)
    return 256;
  const uint64_t rows = (length + 63) / 64 * 64, columns = (keyLength + 127) / 128 * 128;
  return 2 * heads * rows * columns + (sharesKeys ? 4 * heads * keyLength * headSize : 0) + 256;
}

} // namespace hybrid
