//===- Counting.cpp - what some blocks of a launch take ---------------------===//
#include "test/cuda/counts/Counting.h"
#include <nlohmann/json.hpp>
#include <sys/mman.h>

namespace hybrid::counts {

std::vector<uint64_t> sampled(uint64_t grid, uint64_t most) {
  std::vector<uint64_t> blocks;
  const uint64_t count = std::min(grid, most);
  for (uint64_t i = 0; i < count; ++i)
    blocks.push_back(count == 1 ? 0 : i * (grid - 1) / (count - 1));
  return blocks;
}

nlohmann::json toJson(const ptx::Counts &counts) {
  nlohmann::json made;
  for (size_t i = 0; i < ptx::pipeCount; ++i)
    made[ptx::pipeNames[i]] = counts.instructions[i];
  made["load_sectors"] = counts.loadSectors, made["store_sectors"] = counts.storeSectors;
  made["store_lines"] = counts.storeLines;
  made["load_requests"] = counts.loadRequests, made["store_requests"] = counts.storeRequests;
  made["sector_reaches"] = counts.sectorReaches, made["line_reaches"] = counts.lineReaches;
  made["shared_wavefronts"] = counts.sharedWavefronts;
  made["shared_requests"] = counts.sharedRequests;
  made["products"] = counts.products, made["group_products"] = counts.groupProducts;
  made["barriers"] = counts.barriers;
  made["alone"] = counts.alone;
  for (const ptx::Counts::Traffic &traffic : counts.traffic) {
    made["touched"].push_back({traffic.readSectors, traffic.writtenSectors});
    made["kept"].push_back(traffic.isKept);
  }
  return made;
}

Reserved::Reserved(uint64_t wanted) : bytes(std::max<uint64_t>(wanted, 1)) {
  void *space = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space != MAP_FAILED)
    address = reinterpret_cast<uint64_t>(space);
}
Reserved::~Reserved() {
  if (address)
    munmap(reinterpret_cast<void *>(address), bytes);
}

ptx::Machine countingMachine(ptx::Machine::FindAllocation findAllocation) {
  ptx::Machine machine(std::move(findAllocation));
  machine.options.races = false;
  machine.options.footprints = machine.options.timeline = machine.options.reuse = true;
  machine.options.turn = 32; // as on a GPU all warps read a little at a time
  machine.options.mostInstructions = 500'000'000;
  return machine;
}

} // namespace hybrid::counts
