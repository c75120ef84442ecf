//===- Examples.h - finite training sets, as a device may hold them ----------===//
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace hybrid::rt {

/// Sets of training examples, and the order in which replicas go through them: number n of a
/// replica is example shuffledExample(n, size, seed) of its set (executable/Permutation.h).
struct Examples {
  struct Set {
    uint64_t size = 0;
    /// Writes an example as a row of a batch. Several threads may ask at once.
    std::function<void(uint64_t example, std::span<int32_t> inputs, std::span<int32_t> targets)>
        write;
  };
  struct Order {
    std::optional<size_t> set; // none: the replica takes no part
    uint64_t seed = 0;
  };
  std::vector<Set> sets;
  std::vector<Order> orders; // of all replicas, or of none
};

} // namespace hybrid::rt
