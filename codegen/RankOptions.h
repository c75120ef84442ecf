//===- RankOptions.h - what ranks that train together do ------------------===//
#pragma once
#include <string>

namespace hybrid {

/// What the ranks that train a model together do.
struct RankOptions {
  /// What they have shares of, beside the batch.
  enum class Shards { None, OptimizerState, Parameters };
  std::string wire;      // in which gradients are sent: f32 or bf16; empty: there is one rank
  bool weighted = false; // gradients are sums over positions: ranks have parts of sequences
  Shards shards = Shards::None;

  bool areSeveral() const { return !wire.empty(); }
};

} // namespace hybrid
