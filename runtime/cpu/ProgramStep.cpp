//===- ProgramStep.cpp - one step of a program, ready to run ------------------===//
#include "runtime/cpu/ProgramStep.h"
#include "runtime/Device.h"
#include "runtime/ExecutableVerifier.h"
#include "runtime/cpu/Parallel.h"
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>

namespace hybrid::rt {

std::byte *ProgramMemory::address(const fb::BufferRef &buffer, uint64_t tileBytes,
                                  int thread) const {
  if (!buffer.bytes())
    return nullptr;
  if (buffer.space() == fb::Space::Tile)
    return tiles + static_cast<uint64_t>(thread) * tileBytes + buffer.offset();
  return spaces[static_cast<size_t>(buffer.space())] + buffer.offset();
}

//===-- preparing --------------------------------------------------------------===//

Result<ProgramStep> ProgramStep::prepare(const fb::Step &step, const CodeObject &code, int threads,
                                         const std::string &name) {
  return prepareIn(step, nullptr, code, threads, name);
}

Result<ProgramStep> ProgramStep::prepareIn(const fb::Step &step, const fb::TileLoop *loop,
                                           const CodeObject &code, int threads,
                                           const std::string &name) {
  ProgramStep prepared;
  prepared.step = &step;
  prepared.loop = loop;
  prepared.places = buffersOf(step);
  if (const auto *launch = step.operation_as_KernelLaunch()) {
    prepared.kernel = code.find(launch->symbol()->c_str());
    if (!prepared.kernel)
      return Error{
          fmt::format("{}: its code has no kernel '{}'", name, launch->symbol()->string_view())};
    return prepared;
  }
  if (const auto *tiles = step.operation_as_TileLoop()) {
    if (tiles->steps())
      for (const fb::Step *inner : *tiles->steps()) {
        auto done = prepareIn(*inner, tiles, code, threads, name);
        if (!done)
          return done.error();
        prepared.body.push_back(std::move(*done));
      }
    return prepared;
  }
  const fb::Matmul &product = *step.operation_as_Matmul();
  if (auto done = prepared.prepareProduct(product, loop, threads, name); !done)
    return done.error();
  return prepared;
}

Result<void> ProgramStep::prepareProduct(const fb::Matmul &product, const fb::TileLoop *loop,
                                         int threads, const std::string &name) {
  MatmulShape shape{product.m(),
                    product.n(),
                    product.k(),
                    product.lda(),
                    product.ldb(),
                    product.ldc(),
                    product.transpose_a(),
                    product.transpose_b(),
                    product.accumulate(),
                    product.bias() != nullptr,
                    static_cast<DType>(product.dtype()),
                    product.batch(),
                    product.batch_stride_a(),
                    product.batch_stride_b(),
                    product.batch_stride_c(),
                    product.offsets() != nullptr};
  bool parallelTiles = loop && !loop->sequential();
  // The library plans for as many threads as it may use when it is asked.
  if (parallelTiles)
    setThreads(1);
  Result<void> outcome;
  auto make = [&](int64_t rows, bool more) -> std::unique_ptr<Matmul> {
    if (rows == 0 || !outcome)
      return nullptr;
    MatmulShape part = shape;
    if (loop)
      (product.tile_rows() ? part.m : part.k) = rows;
    part.accumulate |= more;
    auto created = Matmul::create(part);
    if (!created) {
      outcome = Error{fmt::format("{}: {}", name, created.error().message)};
      return nullptr;
    }
    return std::move(*created);
  };
  // A prepared product holds the places of its operands while it runs: threads cannot share one.
  for (int thread = 0; thread < (parallelTiles ? threads : 1); ++thread) {
    int64_t last = loop ? loop->rows() % loop->tile() : 0;
    Products &own = products.emplace_back();
    own.whole = make(loop ? loop->tile() : shape.m, false);
    own.last = make(last, false);
    if (product.tile_sum()) {
      own.wholeMore = make(loop->tile(), true);
      own.lastMore = make(last, true);
    }
  }
  setThreads(threads);
  return outcome;
}

static uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

uint64_t ProgramStep::scratchBytes() const {
  const auto *launch = step->operation_as_KernelLaunch();
  uint64_t bytes = launch ? aligned(launch->scratch_bytes()) : 0;
  for (const ProgramStep &inner : body)
    bytes = std::max(bytes, inner.scratchBytes());
  return bytes;
}

uint64_t ProgramStep::tileBytes(int threads) const {
  const auto *tiles = step->operation_as_TileLoop();
  if (!tiles)
    return 0;
  return aligned(tiles->tile_bytes()) * static_cast<uint64_t>(tiles->sequential() ? 1 : threads);
}

//===-- running ----------------------------------------------------------------===//

Result<void> ProgramStep::run(const ProgramMemory &memory) const {
  if (step->operation_as_TileLoop())
    return runLoop(memory);
  if (!products.empty())
    return products[0].whole->run(memory.address(places[0]), memory.address(places[1]),
                                  memory.address(places[2]),
                                  places.size() > 3 ? memory.address(places[3]) : nullptr);
  std::array<void *, mostLaunchBuffers> pointers;
  for (size_t i = 0; i < places.size(); ++i)
    pointers[i] = memory.address(places[i]);
  parallelFor(step->operation_as_KernelLaunch()->grid(), memory.threads,
              [&](int64_t lo, int64_t hi, int thread) {
                kernel(lo, hi, pointers.data(),
                       memory.scratch + static_cast<uint64_t>(thread) * memory.scratchBytes);
              });
  return {};
}

Result<void> ProgramStep::runLoop(const ProgramMemory &memory) const {
  const fb::TileLoop &tiles = *step->operation_as_TileLoop();
  int64_t count = (tiles.rows() + tiles.tile() - 1) / tiles.tile();
  if (tiles.sequential()) {
    for (int64_t tile = 0; tile < count; ++tile)
      for (const ProgramStep &inner : body)
        if (auto done = inner.runTile(memory, tile, 0, memory.threads); !done)
          return done;
    return {};
  }
  std::mutex mutex;
  Result<void> outcome;
  std::atomic<bool> failed = false;
  parallelFor(count, memory.threads, [&](int64_t lo, int64_t hi, int thread) {
    for (int64_t tile = lo; tile < hi && !failed; ++tile)
      for (const ProgramStep &inner : body)
        if (auto done = inner.runTile(memory, tile, thread, 1); !done) {
          std::lock_guard lock(mutex);
          outcome = done;
          failed = true;
          return;
        }
  });
  return outcome;
}

Result<void> ProgramStep::runTileByTile(const ProgramMemory &memory, const Around &around) const {
  const fb::TileLoop &tiles = *step->operation_as_TileLoop();
  for (int64_t tile = 0; tile * tiles.tile() < tiles.rows(); ++tile)
    for (const ProgramStep &inner : body) {
      Result<void> outcome;
      bool more = around(inner, [&] {
        return outcome = inner.runTile(memory, tile, 0, tiles.sequential() ? memory.threads : 1);
      });
      if (!outcome || !more)
        return outcome;
    }
  return {};
}

Result<void> ProgramStep::runTile(const ProgramMemory &memory, int64_t tile, int thread,
                                  int threads) const {
  const int64_t first = tile * loop->tile();
  const uint64_t tileBytes = aligned(loop->tile_bytes());
  if (const auto *launch = step->operation_as_KernelLaunch()) {
    std::array<void *, mostLaunchBuffers> pointers;
    for (size_t i = 0; i < places.size(); ++i) {
      // Kernels count rows from the first of all: a tile's buffer is passed as if those before it
      // lay in front of it. Only rows of the tile are touched.
      auto address = reinterpret_cast<uintptr_t>(memory.address(places[i], tileBytes, thread));
      if (places[i].space() == fb::Space::Tile)
        address -= static_cast<uintptr_t>(first) * static_cast<uintptr_t>(launch->row_bytes()->Get(
                                                       static_cast<flatbuffers::uoffset_t>(i)));
      pointers[i] = reinterpret_cast<void *>(address);
    }
    int64_t begin = tile * launch->items_per_tile(),
            end = std::min(begin + launch->items_per_tile(), launch->grid());
    parallelFor(std::max<int64_t>(0, end - begin), threads, [&](int64_t lo, int64_t hi, int inner) {
      kernel(begin + lo, begin + hi, pointers.data(),
             memory.scratch + static_cast<uint64_t>(thread + inner) * memory.scratchBytes);
    });
    return {};
  }
  const fb::Matmul &product = *step->operation_as_Matmul();
  const Products &own = products[static_cast<size_t>(thread)];
  bool isLast = first + loop->tile() > loop->rows(), more = product.tile_sum() && tile > 0;
  const auto &chosen =
      more ? (isLast ? own.lastMore : own.wholeMore) : (isLast ? own.last : own.whole);
  // The tile's rows of an operand: all of a tile buffer, a part of any other.
  auto rowsOf = [&](size_t operand, int64_t stride, int64_t size) {
    int64_t skipped = places[operand].space() == fb::Space::Tile ? 0 : first * stride * size;
    return memory.address(places[operand], tileBytes, thread) + skipped;
  };
  const int64_t factor = bytesOf(static_cast<DType>(product.dtype())),
                sum = std::max<int64_t>(factor, 4);
  return chosen->run(rowsOf(0, product.lda(), factor),
                     product.tile_sum() ? rowsOf(1, product.ldb(), factor)
                                        : memory.address(places[1]),
                     product.tile_sum() ? memory.address(places[2]) : rowsOf(2, product.ldc(), sum),
                     places.size() > 3 ? memory.address(places[3]) : nullptr);
}

} // namespace hybrid::rt
