//===- ProgramStep.cpp - one step of a program, ready to run ------------------===//
#include "runtime/cpu/ProgramStep.h"
#include "executable/OptimizerShards.h"
#include "executable/RankSteps.h"
#include "runtime/Device.h"
#include "runtime/cpu/OwnedMemory.h"
#include "runtime/ranks/Collectives.h"
#include "runtime/ranks/SequenceParts.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {

std::byte *ProgramMemory::address(const fb::BufferRef &buffer, uint64_t tileBytes,
                                  int thread) const {
  if (!buffer.bytes())
    return nullptr;
  if (buffer.space() == fb::Space::Tile)
    return tiles + static_cast<uint64_t>(thread) * tileBytes + buffer.offset();
  if (buffer.space() == fb::Space::Arena)
    for (const Redirect &redirect : redirects)
      if (buffer.offset() >= redirect.offset && buffer.offset() - redirect.offset < redirect.bytes)
        return redirect.memory + (buffer.offset() - redirect.offset);
  return spaces[static_cast<size_t>(buffer.space())] + buffer.offset();
}

//===-- preparing --------------------------------------------------------------===//

static OwnedItems ownedItemsOf(const fb::KernelLaunch &launch, int rank, int ranks) {
  OwnedItems owned;
  const auto &spans = *launch.item_spans();
  for (unsigned i = 0; i < spans.size(); ++i) {
    const fb::ItemSpan &span = *spans.Get(i);
    const int64_t end = i + 1 < spans.size() ? spans.Get(i + 1)->first() : launch.grid();
    for (int64_t item = span.first(); item < end; ++item) {
      const uint64_t at = span.offset() + static_cast<uint64_t>(item - span.first()) * span.bytes();
      if (!ownsAny(at, span.bytes(), rank, ranks))
        continue;
      if (!owned.ranges.empty() && owned.ranges.back().second == item) {
        ++owned.ranges.back().second;
      } else {
        owned.ranges.emplace_back(item, item + 1);
        owned.before.push_back(owned.count);
      }
      ++owned.count;
    }
  }
  return owned;
}

Result<ProgramStep> ProgramStep::prepare(const fb::Step &step, const CodeObject &code, int threads,
                                         const std::string &name, const Communicator *ranks) {
  auto prepared = prepareIn(step, nullptr, code, threads, name);
  const auto *launch = step.operation_as_KernelLaunch();
  if (prepared && launch && ranks && launch->item_spans() && launch->item_spans()->size() > 0)
    prepared->share = ownedItemsOf(*launch, ranks->rank(), ranks->size());
  return prepared;
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
  if (isOverRanks(step))
    return prepared;
  const fb::Matmul &product = *step.operation_as_Matmul();
  if (auto done = prepared.prepareProduct(product, loop, threads, name); !done)
    return done.error();
  return prepared;
}

Result<void> ProgramStep::prepareProduct(const fb::Matmul &product, const fb::TileLoop *loop,
                                         int threads, const std::string &name) {
  const MatmulShape shape{product.m(),
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
                          product.rounds_result(),
                          product.batch(),
                          product.batch_stride_a(),
                          product.batch_stride_b(),
                          product.batch_stride_c(),
                          product.offsets() != nullptr};
  const auto use = loop && !loop->sequential() ? Matmul::Use::Whole : Matmul::Use::InParts;
  Result<void> outcome;
  auto make = [&](int64_t rows, bool more) -> std::unique_ptr<Matmul> {
    if (rows == 0 || !outcome)
      return nullptr;
    MatmulShape part = shape;
    if (loop)
      (product.tile_rows() ? part.m : part.k) = rows;
    part.accumulate |= more;
    auto created = Matmul::create(part, threads, use);
    if (!created) {
      outcome = Error{fmt::format("{}: {}", name, created.error().message)};
      return nullptr;
    }
    return std::move(*created);
  };
  const int64_t last = loop ? loop->rows() % loop->tile() : 0;
  products.whole = make(loop ? loop->tile() : shape.m, false);
  products.last = make(last, false);
  if (product.tile_sum()) {
    products.wholeMore = make(loop->tile(), true);
    products.lastMore = make(last, true);
  }
  return outcome;
}

static uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

//===-- running ----------------------------------------------------------------===//

namespace {
/// What a kernel is called with: mostly a few, without an allocation.
class Pointers {
public:
  explicit Pointers(size_t count) : many(count > few.size() ? count : 0) {}
  void *&operator[](size_t i) { return data()[i]; }
  void **data() { return many.empty() ? few.data() : many.data(); }

private:
  std::array<void *, 64> few;
  std::vector<void *> many;
};
} // namespace

bool ProgramStep::run(const ProgramMemory &memory, Member &member, Failure &failure) const {
  if (step->operation_as_TileLoop())
    return runLoop(memory, member, failure);
  if (step->operation_as_Exchange())
    return runExchange(memory, member, failure);
  if (isOverRanks(*step))
    return !memory.ranks || runOverRanks(memory, member, failure);
  auto address = [&](size_t buffer) { return memory.address(places[buffer]); };
  if (step->operation_as_Matmul())
    return multiply(*products.whole, member, failure, address(0), address(1), address(2),
                    places.size() > 3 ? address(3) : nullptr);
  Pointers pointers(places.size());
  for (size_t i = 0; i < places.size(); ++i)
    pointers[i] = address(i);
  if (share && memory.ranks)
    return launchShare(memory, member, pointers.data());
  return launch(memory, member, 0, step->operation_as_KernelLaunch()->grid(), pointers.data());
}

bool ProgramStep::launchShare(const ProgramMemory &memory, Member &member,
                              void *const *pointers) const {
  const auto &[ranges, before, count] = *share;
  return member.share(count, grainOf(count, member.threads()), [&](int64_t lo, int64_t hi) {
    auto range = static_cast<size_t>(std::ranges::upper_bound(before, lo) - before.begin()) - 1;
    for (int64_t done = lo; done < hi; ++range) {
      const int64_t from = ranges[range].first + (done - before[range]),
                    to = std::min(ranges[range].second, from + (hi - done));
      kernel(from, to, pointers,
             memory.scratch + static_cast<uint64_t>(member.thread()) * memory.scratchBytes);
      done += to - from;
    }
  });
}

bool ProgramStep::launch(const ProgramMemory &memory, Member &member, int64_t begin, int64_t end,
                         void *const *pointers) const {
  const int64_t items = std::max<int64_t>(0, end - begin);
  return member.share(items, grainOf(items, member.threads()), [&](int64_t lo, int64_t hi) {
    kernel(begin + lo, begin + hi, pointers,
           memory.scratch + static_cast<uint64_t>(member.thread()) * memory.scratchBytes);
  });
}

bool ProgramStep::multiply(Matmul &product, Member &member, Failure &failure, const void *a,
                           const void *b, void *c, const void *extra) {
  return member.share(product.parts(), 1, [&](int64_t lo, int64_t hi) {
    for (int64_t part = lo; part < hi; ++part)
      if (auto done = product.run(part, member.thread(), a, b, c, extra); !done) {
        failure.record(done.error());
        member.fail();
        return;
      }
  });
}

static std::vector<fb::BufferRef> gradientsOf(const fb::AllReduce &reduction) {
  std::vector<fb::BufferRef> buffers;
  for (const fb::BufferRef *buffer : *reduction.buffers())
    buffers.push_back(*buffer);
  return buffers;
}

/// All that other members have written is there when one of them begins, and none goes on before it
/// has waited.
bool ProgramStep::runOverRanks(const ProgramMemory &memory, Member &member,
                               Failure &failure) const {
  return member.share(1, 1, [&](int64_t, int64_t) {
    if (step->operation_as_Await()) {
      if (auto done = memory.ranks->wait(); !done) {
        failure.record(done.error());
        member.fail();
      }
      return;
    }
    auto addressOf = [&](const fb::BufferRef &buffer) { return memory.address(buffer); };
    const int rank = memory.ranks->rank(), ranks = memory.ranks->size();
    if (step->operation_as_Release())
      return releaseOthers(places, rank, ranks, addressOf);
    if (step->operation_as_AllGather())
      return memory.ranks->start(
          [owned = ownedValues(places, ranks, addressOf)](Transport &transport) {
            return gatherFromOwners(transport, owned);
          });
    const fb::AllReduce *begun = step->operation_as_AllReduce();
    Reduction reduction;
    reduction.type = static_cast<DType>(begun->dtype());
    reduction.wire = static_cast<DType>(begun->wire());
    for (const fb::BufferRef *buffer : *begun->buffers())
      reduction.values.emplace_back(memory.address(*buffer), buffer->bytes());
    if (const fb::BufferRef *weight = begun->weight()) {
      reduction.isMean = true;
      reduction.isWeighted = begun->weighted();
      reduction.weight =
          reduction.type == DType::F64
              ? *reinterpret_cast<const double *>(memory.address(*weight))
              : static_cast<double>(*reinterpret_cast<const float *>(memory.address(*weight)));
    }
    if (begun->to_owners()) {
      const std::vector<fb::BufferRef> gradients = gradientsOf(*begun);
      return memory.ranks->start([reduction, gradients, rank, ranks, spaces = memory.spaces,
                                  owned = ownedValues(gradients, ranks, addressOf),
                                  release = begun->release()](Transport &transport) {
        auto done = reduceToOwners(transport, owned, reduction);
        if (done && release)
          releaseOthers(gradients, rank, ranks, [&](const fb::BufferRef &buffer) {
            return spaces[static_cast<size_t>(buffer.space())] + buffer.offset();
          });
        return done;
      });
    }
    memory.ranks->start([reduction = std::move(reduction)](Transport &transport) {
      return allReduce(transport, reduction);
    });
  });
}

// The values of a file are those of runtime/ranks.
static_assert(static_cast<int>(RankPattern::All) == static_cast<int>(fb::RankPattern::All) &&
              static_cast<int>(RankPattern::ToNext) == static_cast<int>(fb::RankPattern::ToNext) &&
              static_cast<int>(RankPattern::FromPrevious) ==
                  static_cast<int>(fb::RankPattern::FromPrevious) &&
              static_cast<int>(RankPattern::Place) == static_cast<int>(fb::RankPattern::MAX));

/// What one thread gives and takes for all of them.
bool ProgramStep::runExchange(const ProgramMemory &memory, Member &member, Failure &failure) const {
  return member.share(1, 1, [&](int64_t, int64_t) {
    const fb::Exchange &exchange = *step->operation_as_Exchange();
    auto bytesAt = [&](const fb::BufferRef *buffer) {
      return buffer ? std::span(memory.address(*buffer), buffer->bytes()) : std::span<std::byte>();
    };
    auto done =
        exchangeParts(memory.ranks, static_cast<RankPattern>(exchange.pattern()), exchange.ranks(),
                      bytesAt(exchange.send()), bytesAt(exchange.receive()));
    if (!done) {
      failure.record(done.error());
      member.fail();
    }
  });
}

bool ProgramStep::runLoop(const ProgramMemory &memory, Member &member, Failure &failure) const {
  const fb::TileLoop &tiles = *step->operation_as_TileLoop();
  const int64_t count = (tiles.rows() + tiles.tile() - 1) / tiles.tile();
  auto runTiles = [&](int64_t lo, int64_t hi, Member &team) {
    for (int64_t tile = lo; tile < hi; ++tile)
      for (const ProgramStep &inner : body)
        if (!inner.runTile(memory, tile, team, failure))
          return false;
    return true;
  };
  if (tiles.sequential())
    return runTiles(0, count, member);
  return member.share(count, 1, [&](int64_t lo, int64_t hi) {
    Member alone = Member::alone(member.thread());
    if (!runTiles(lo, hi, alone))
      member.fail();
  });
}

Result<void> ProgramStep::runTileByTile(const ProgramMemory &memory, const Around &around) const {
  const fb::TileLoop &tiles = *step->operation_as_TileLoop();
  for (int64_t tile = 0; tile * tiles.tile() < tiles.rows(); ++tile)
    for (const ProgramStep &inner : body) {
      Failure failure;
      bool more = around(inner, [&]() -> Result<void> {
        parallelRegion(tiles.sequential() ? memory.threads : 1,
                       [&](Member &member) { inner.runTile(memory, tile, member, failure); });
        return failure.outcome();
      });
      if (auto outcome = failure.outcome(); !outcome || !more)
        return outcome;
    }
  return {};
}

bool ProgramStep::runTile(const ProgramMemory &memory, int64_t tile, Member &member,
                          Failure &failure) const {
  const int thread = loop->sequential() ? 0 : member.thread(); // whose tile memory it is
  const int64_t first = tile * loop->tile();
  const uint64_t tileBytes = aligned(loop->tile_bytes());
  if (const auto *launch = step->operation_as_KernelLaunch()) {
    Pointers pointers(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      // Kernels count rows from the first of all: a tile's buffer is passed as if those before it
      // lay in front of it. Only rows of the tile are touched.
      auto address = reinterpret_cast<uintptr_t>(memory.address(places[i], tileBytes, thread));
      if (places[i].space() == fb::Space::Tile)
        address -= static_cast<uintptr_t>(first) * static_cast<uintptr_t>(launch->row_bytes()->Get(
                                                       static_cast<flatbuffers::uoffset_t>(i)));
      pointers[i] = reinterpret_cast<void *>(address);
    }
    const int64_t begin = tile * launch->items_per_tile(),
                  end = std::min(begin + launch->items_per_tile(), launch->grid());
    return this->launch(memory, member, begin, end, pointers.data());
  }
  const fb::Matmul &product = *step->operation_as_Matmul();
  const bool isLast = first + loop->tile() > loop->rows(), more = product.tile_sum() && tile > 0;
  const auto &chosen = more ? (isLast ? products.lastMore : products.wholeMore)
                            : (isLast ? products.last : products.whole);
  // The tile's rows of an operand: all of a tile buffer, a part of any other.
  auto rowsOf = [&](size_t operand, int64_t stride, int64_t size) {
    int64_t skipped = places[operand].space() == fb::Space::Tile ? 0 : first * stride * size;
    return memory.address(places[operand], tileBytes, thread) + skipped;
  };
  const int64_t factor = bytesOf(static_cast<DType>(product.dtype())),
                sum = product.rounds_result() ? factor : std::max<int64_t>(factor, 4);
  return multiply(*chosen, member, failure, rowsOf(0, product.lda(), factor),
                  product.tile_sum() ? rowsOf(1, product.ldb(), factor) : memory.address(places[1]),
                  product.tile_sum() ? memory.address(places[2]) : rowsOf(2, product.ldc(), sum),
                  places.size() > 3 ? memory.address(places[3]) : nullptr);
}

} // namespace hybrid::rt
