//===- Counting.h - what some blocks of a launch take -----------------------===//
#pragma once
#include "test/cuda/ptx/Machine.h"
#include <nlohmann/json_fwd.hpp>

namespace hybrid::counts {

/// Which blocks of a grid stand for it: up to `most`, evenly spaced, the first and the last among
/// them.
std::vector<uint64_t> sampled(uint64_t grid, uint64_t most);

/// Counts of one block, as an object of JSON.
nlohmann::json toJson(const ptx::Counts &counts);

/// Address space that is there when it is touched, and zero before.
class Reserved {
public:
  explicit Reserved(uint64_t bytes);
  ~Reserved();
  Reserved(const Reserved &) = delete;
  Reserved &operator=(const Reserved &) = delete;
  uint64_t begin() const { return address; }
  uint64_t size() const { return bytes; }

private:
  uint64_t address = 0, bytes = 0;
};

/// A machine that counts, and checks neither races nor what was written: the tests do.
ptx::Machine countingMachine(ptx::Machine::FindAllocation findAllocation);

} // namespace hybrid::counts
