//===- Machine.cpp - runs PTX kernels on a CPU, and watches them ------------===//
#include "test/cuda/ptx/Machine.h"
#include <algorithm>
#include <cstdlib>

namespace hybrid::ptx {

const char *nameOf(Finding::Kind kind) {
  switch (kind) {
  case Finding::Kind::Race:
    return "race";
  case Finding::Kind::BlockRace:
    return "race between blocks";
  case Finding::Kind::Bounds:
    return "out of bounds";
  case Finding::Kind::Misaligned:
    return "misaligned";
  case Finding::Kind::Uninitialized:
    return "uninitialized";
  case Finding::Kind::PendingCopy:
    return "asynchronous copy";
  case Finding::Kind::Warpgroup:
    return "warpgroup";
  case Finding::Kind::ReadOnly:
    return "read-only";
  case Finding::Kind::Divergence:
    return "divergence";
  case Finding::Kind::Barrier:
    return "barrier";
  case Finding::Kind::Early:
    return "too early";
  case Finding::Kind::Endless:
    return "endless";
  case Finding::Kind::Trap:
    return "trap";
  }
  return "";
}

void Counts::add(const Counts &other) {
  for (size_t i = 0; i < pipeCount; ++i)
    instructions[i] += other.instructions[i], lanes[i] += other.lanes[i];
  loadRequests += other.loadRequests, storeRequests += other.storeRequests;
  loadSectors += other.loadSectors, storeSectors += other.storeSectors;
  loadLines += other.loadLines, storeLines += other.storeLines;
  for (size_t i = 0; i < reachCount; ++i)
    sectorReaches[i] += other.sectorReaches[i], lineReaches[i] += other.lineReaches[i];
  sharedRequests += other.sharedRequests, sharedWavefronts += other.sharedWavefronts;
  products += other.products, groupProducts += other.groupProducts, barriers += other.barriers;
  traffic.resize(std::max(traffic.size(), other.traffic.size()));
  for (size_t i = 0; i < other.traffic.size(); ++i)
    traffic[i].read += other.traffic[i].read, traffic[i].written += other.traffic[i].written,
        traffic[i].readSectors += other.traffic[i].readSectors,
        traffic[i].writtenSectors += other.traffic[i].writtenSectors;
  for (size_t i = 0; i < alone.size(); ++i)
    alone[i] = std::max(alone[i], other.alone[i]);
}

uint64_t Counts::total() const {
  uint64_t sum = 0;
  for (uint64_t count : instructions)
    sum += count;
  return sum;
}

void Block::report(Finding::Kind kind, const Instruction &in, std::string what) {
  if (findings.size() < options->mostFindings && seen.emplace(kind, in.line).second)
    findings.push_back({kind, program->name, in.line, std::move(what)});
}

void Block::stop(Finding::Kind kind, const Instruction &in, std::string what) {
  report(kind, in, std::move(what));
  stopped = true;
}

//===- Images ---------------------------------------------------------------===//

std::unique_ptr<Image> Image::load(std::string_view text, std::string &complaint) {
  auto parsed = parse(text, complaint);
  if (!parsed)
    return nullptr;
  auto image = std::make_unique<Image>();
  image->syntax = std::move(*parsed), image->text = text;
  constexpr uint64_t most = 256; // more than any variable is aligned to
  for (const Variable &variable : image->syntax.variables) {
    if (variable.space != Variable::Space::Global)
      continue;
    image->storage.push_back(std::make_unique<std::byte[]>(variable.bytes + most));
    uint64_t address =
        (reinterpret_cast<uint64_t>(image->storage.back().get()) + most - 1) / most * most;
    std::copy_n(variable.content.data(), variable.content.size(),
                reinterpret_cast<decltype(variable.content)::value_type *>(address));
    image->extents.push_back({address, variable.bytes, 0});
    image->addresses[variable.name] = address;
  }
  return image;
}

std::string Image::line(int number) const {
  size_t begin = 0;
  for (int i = 1; i < number && begin < text.size(); ++i)
    begin = std::min(text.find('\n', begin), text.size()) + 1;
  std::string found = text.substr(std::min(begin, text.size()), text.find('\n', begin) - begin);
  std::replace(found.begin(), found.end(), '\t', ' ');
  return found.substr(std::min(found.find_first_not_of(' '), found.size()));
}

const Program *Image::find(const std::string &kernel, std::string &complaint) {
  if (auto found = programs.find(kernel); found != programs.end())
    return &found->second;
  auto function = syntax.functions.find(kernel);
  if (function == syntax.functions.end() || !function->second.isEntry)
    return nullptr;
  auto decoded = decode(syntax, function->second, addresses, complaint);
  if (!decoded)
    return nullptr;
  return &programs.emplace(kernel, std::move(*decoded)).first->second;
}

//===- Launches -------------------------------------------------------------===//

Shadow *Machine::shadowOf(const Extent &allocation) {
  auto &shadow = shadows[allocation.begin];
  if (!shadow || shadow->end() < allocation.begin + allocation.bytes)
    shadow = std::make_unique<Shadow>(allocation.begin, allocation.bytes);
  return shadow.get();
}

/// Constants and special registers of a warp, and all others empty.
static void fillRows(Warp &warp, const Program &program, const Block &block) {
  for (const Constant &constant : program.constants)
    if (constant.width == Width::Double)
      std::fill_n(warp.cells<uint64_t>(constant.row), warpLanes, constant.bits);
    else
      std::fill_n(warp.cells<uint32_t>(constant.row), constant.width == Width::Bit ? 1 : warpLanes,
                  static_cast<uint32_t>(constant.bits));
  for (const SpecialRow &special : program.specials) {
    uint32_t *cells = warp.cells<uint32_t>(special.row);
    for (int lane = 0; lane < warpLanes; ++lane) {
      const auto thread = static_cast<uint32_t>(warp.number * warpLanes + lane);
      switch (special.which) {
      case Special::ThreadX:
        cells[lane] = thread;
        break;
      case Special::BlockX:
        cells[lane] = block.x;
        break;
      case Special::BlockY:
        cells[lane] = block.y;
        break;
      case Special::BlockThreads:
        cells[lane] = static_cast<uint32_t>(block.launch->threads);
        break;
      case Special::BlocksX:
        cells[lane] = block.launch->blocksX;
        break;
      case Special::BlocksY:
        cells[lane] = block.launch->blocksY;
        break;
      case Special::Lane:
        cells[lane] = static_cast<uint32_t>(lane);
        break;
      case Special::WarpNumber:
        cells[lane] = static_cast<uint32_t>(warp.number);
        break;
      case Special::Zero:
        cells[lane] = 0;
        break;
      }
    }
  }
}

static Cycles slowest(const std::vector<Warp> &warps, Cycles (Timeline::*when)() const) {
  Cycles all{};
  for (const Warp &warp : warps) {
    const Cycles cycles = (warp.timeline.*when)();
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = std::max(all[i], cycles[i]);
  }
  return all;
}

/// From barrier to barrier until all warps have returned.
static void runBlock(Block &block, std::vector<Warp> &warps, uint32_t &interval) {
  const Program &program = *block.program;
  Instruction last = program.instructions.back();
  while (!block.stopped) {
    size_t done = 0, waiting = 0;
    while (done + waiting < warps.size() && !block.stopped) {
      done = waiting = 0;
      for (size_t i = 0; i < warps.size() && !block.stopped; ++i) {
        Warp &warp = warps[block.options->reversed ? warps.size() - 1 - i : i];
        if (!warp.isDone() && !warp.waits)
          warp.run(program, block.options->turn);
        done += warp.isDone(), waiting += warp.waits;
      }
    }
    if (done == warps.size())
      requireSameProducts(block, warps);
    if (done == warps.size() || block.stopped)
      return;
    bool anyLeft = done > 0;
    for (const Warp &warp : warps) {
      anyLeft |= warp.left != 0;
      if (!warp.isDone())
        last = program.instructions[warp.paths.back().next - 1];
    }
    if (anyLeft)
      return block.stop(Finding::Kind::Barrier, last,
                        "some threads of a block wait, others have returned");
    block.now.interval = ++interval;
    for (Warp &warp : warps)
      warp.waits = false;
    if (!block.options->timeline)
      continue;
    const Cycles when = slowest(warps, &Timeline::arrived);
    for (Warp &warp : warps)
      warp.timeline.resume(when);
  }
}

static uint64_t distinct(std::vector<uint64_t> &sectors) {
  std::sort(sectors.begin(), sectors.end());
  const auto count = std::unique(sectors.begin(), sectors.end()) - sectors.begin();
  sectors.clear();
  return static_cast<uint64_t>(count);
}

static void addFootprints(Block &block) {
  Counts &counts = *block.counts;
  for (size_t i = 0; i < block.touched.size(); ++i)
    counts.traffic[i].readSectors += distinct(block.touched[i][0]),
        counts.traffic[i].writtenSectors += distinct(block.touched[i][1]);
}

static void addBlock(Block &block, const std::vector<Warp> &warps) {
  Counts &counts = *block.counts;
  if (!block.options->together)
    addFootprints(block);
  if (block.options->timeline) {
    const Cycles cycles = slowest(warps, &Timeline::last);
    for (size_t i = 0; i < cycles.size(); ++i)
      counts.alone[i] = std::max(counts.alone[i], cycles[i]);
  }
}

std::vector<Finding> Machine::run(const Image &image, const Program &program, const Launch &launch,
                                  Counts &counts) {
  Block block;
  block.program = &program, block.launch = &launch, block.options = &options,
  block.counts = &counts;
  counts.traffic.resize(program.parameterOffsets.size() + 1);
  block.now.launchFirst = interval + 1;
  if (options.footprints)
    block.touched.resize(counts.traffic.size());
  if (options.profile) {
    counts.executed.resize(program.instructions.size());
    counts.wavefronts.resize(program.instructions.size());
  }
  std::vector<std::byte> parameters(program.parameterBytes);
  for (size_t i = 0; i < program.parameterOffsets.size() && i < launch.arguments.size(); ++i)
    std::memcpy(&parameters[program.parameterOffsets[i]], &launch.arguments[i], sizeof(uint64_t));
  block.parameters = parameters.data();
  block.sharedBytes = program.staticSharedBytes + launch.sharedBytes;
  std::vector<std::byte> shared(block.sharedBytes + 256);
  auto sharedBegin = (reinterpret_cast<uint64_t>(shared.data()) + 255) / 256 * 256;
  block.shared = reinterpret_cast<std::byte *>(sharedBegin);
  Shadow sharedShadow(0, std::max<uint64_t>(block.sharedBytes, 4));
  block.sharedShadow = &sharedShadow;
  for (const Extent &extent : image.variables())
    block.variables.push_back({extent.begin, extent.begin + extent.bytes, nullptr});
  const auto warpCount = static_cast<size_t>((launch.threads + warpLanes - 1) / warpLanes);
  const size_t rowBytes = (program.rowBytes + 63) / 64 * 64 + 64;
  std::vector<std::byte> rows(warpCount * rowBytes + 64);
  auto firstRow =
      reinterpret_cast<std::byte *>((reinterpret_cast<uint64_t>(rows.data()) + 63) / 64 * 64);
  warps.resize(warpCount);
  const unsigned perRow = launch.someX ? std::min(launch.someX, launch.blocksX) : launch.blocksX,
                 total = perRow * launch.blocksY;
  for (unsigned i = 0; i < total && !block.stopped; ++i) {
    const unsigned number = options.reversed ? total - 1 - i : i;
    const unsigned x = number % perRow;
    block.x = x < (perRow + 1) / 2 ? x : launch.blocksX - perRow + x;
    block.y = number / perRow;
    block.now.interval = block.now.blockFirst = ++interval;
    if (options.reuse)
      block.reuse.clear();
    block.regions.clear();
    for (size_t j = 0; j < launch.arguments.size(); ++j) {
      Extent extent = j < launch.extents.size() ? launch.extents[j] : Extent();
      const Extent allocation =
          findAllocation(launch.extents.empty() ? launch.arguments[j] : extent.begin);
      if (launch.extents.empty())
        extent = allocation;
      extent.begin += block.y * extent.rowStride;
      block.regions.push_back({extent.begin, extent.begin + extent.bytes,
                               allocation.bytes && options.races ? shadowOf(allocation) : nullptr});
    }
    if (!program.groupProducts.empty()) {
      block.proxyFences.assign(warpCount * warpLanes, {});
      block.lastWrites.assign(options.races ? block.sharedBytes / 2 + 1 : 0, 0);
    }
    for (size_t j = 0; j < warpCount; ++j) {
      Warp &warp = warps[j];
      warp.block = &block, warp.number = static_cast<int>(j), warp.rows = firstRow + j * rowBytes;
      fillRows(warp, program, block);
      warp.begin(program, launch.threads - static_cast<int>(j) * warpLanes);
    }
    runBlock(block, warps, interval);
    addBlock(block, warps);
  }
  addFootprints(block);
  return std::move(block.findings);
}

} // namespace hybrid::ptx
