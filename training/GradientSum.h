//===- GradientSum.h - gradients of several batches as those of one -----------------===//
//
// The loss of a batch is the mean over its scored positions, so the gradient of all batches
// together is the mean of theirs, weighted by these numbers of positions. It is summed on the host,
// in the type of the gradients.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Session.h"
#include <vector>

namespace hybrid::rt {

class GradientSum {
public:
  explicit GradientSum(Session &session, int threads) : session(session), threads(threads) {}
  /// Adds the gradients that a replica has now, of a batch of this weight.
  Result<void> add(int64_t replica, double weight);
  /// Puts the replica's mean in place of its gradients, and begins anew. Where nothing of any
  /// weight was added they stay as they are.
  Result<void> store(int64_t replica);

private:
  struct Sum {
    double weight = 0;
    std::vector<std::vector<std::byte>> gradients; // a parameter each; empty: it has none
  };
  Session &session;
  int threads;
  std::vector<Sum> sums; // a replica each
};

} // namespace hybrid::rt
