//===- Memory.h - what the tests' driver has given out ----------------------===//
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace hybrid::shim {

/// Allocations between guards, within a budget. Begins as bytes 0xff: not a number in every format.
class Memory {
public:
  explicit Memory(size_t budgetBytes) : budget(budgetBytes) {}
  ~Memory() { releaseAll(); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// A multiple of 256, as a GPU gives; 0 when the budget is spent.
  uint64_t allocate(size_t bytes);
  /// False when no allocation begins there.
  bool release(uint64_t address);
  void releaseAll();

  /// Whether all these bytes lie in one allocation.
  bool contains(uint64_t address, size_t bytes) const;
  /// The allocation that holds an address, or ends there: its begin and bytes; none: no bytes.
  std::pair<uint64_t, size_t> allocationOf(uint64_t address) const;
  /// Names an allocation whose guards were written over, and mends them. Empty when none was.
  std::string findOverrun();
  size_t totalBytes() const { return budget; }
  size_t freeBytes() const { return budget - used; }

private:
  std::map<uint64_t, size_t> allocations; ///< bytes by address
  size_t budget, used = 0;
};

} // namespace hybrid::shim
