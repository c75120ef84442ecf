//===- Memory.cpp - what the tests' driver has given out --------------------===//
#include "test/cuda/driver/Memory.h"
#include <cstdlib>
#include <cstring>

using namespace hybrid::shim;

static constexpr size_t alignment = 256, guardBytes = 256;
static constexpr unsigned char guardByte = 0xa5, poisonByte = 0xff;

static unsigned char *at(uint64_t address) { return reinterpret_cast<unsigned char *>(address); }

static void setGuards(uint64_t address, size_t bytes) {
  std::memset(at(address) - guardBytes, guardByte, guardBytes);
  std::memset(at(address) + bytes, guardByte, guardBytes);
}

uint64_t Memory::allocate(size_t bytes) {
  if (bytes > freeBytes())
    return 0;
  size_t rounded = (bytes + alignment - 1) / alignment * alignment + 2 * guardBytes;
  void *space = std::aligned_alloc(alignment, rounded);
  if (!space)
    return 0;
  uint64_t address = reinterpret_cast<uint64_t>(space) + guardBytes;
  std::memset(at(address), poisonByte, bytes);
  setGuards(address, bytes);
  allocations[address] = bytes;
  used += bytes;
  return address;
}

bool Memory::release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return false;
  used -= found->second;
  std::free(at(address) - guardBytes);
  allocations.erase(found);
  return true;
}

void Memory::releaseAll() {
  while (!allocations.empty())
    release(allocations.begin()->first);
}

std::pair<uint64_t, size_t> Memory::allocationOf(uint64_t address) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return {0, 0};
  auto [begin, size] = *--after;
  return address - begin <= size ? std::pair(begin, size) : std::pair(uint64_t(0), size_t(0));
}

bool Memory::contains(uint64_t address, size_t bytes) const {
  auto [begin, size] = allocationOf(address);
  if (!size)
    return false;
  uint64_t offset = address - begin;
  return offset <= size && bytes <= size - offset;
}

std::string Memory::findOverrun() {
  auto changed = [](const unsigned char *guard) { // compares it with itself, moved by one byte
    return *guard != guardByte || std::memcmp(guard, guard + 1, guardBytes - 1);
  };
  std::string message;
  for (auto [address, bytes] : allocations) {
    bool before = changed(at(address) - guardBytes);
    if (!before && !changed(at(address) + bytes))
      continue;
    if (message.empty())
      message = std::string("wrote ") + (before ? "before" : "beyond") + " an allocation of " +
                std::to_string(bytes) + " bytes";
    setGuards(address, bytes);
  }
  return message;
}
