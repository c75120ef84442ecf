//===- Plan.cpp - a program as the calls it makes ---------------------------===//
#include "runtime/cuda/Plan.h"
#include "executable/Limits.h"
#include "executable/RankSteps.h"
#include "executable/Spaces.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace hybrid::rt::cuda {

std::string describe(const fb::Step &step) {
  std::string text;
  if (const auto *launch = step.operation_as_KernelLaunch())
    text = fmt::format("kernel '{}'", launch->symbol()->string_view());
  else if (const auto *product = step.operation_as_Matmul())
    text = fmt::format("matrix product {} x {} x {}", product->m(), product->n(), product->k());
  else if (const auto *attention = step.operation_as_Attention())
    text = fmt::format("attention{} of {} x {} queries, {} heads of {}",
                       attention->backward() ? "'s gradient" : "", attention->batch(),
                       attention->length(), attention->heads(), attention->head_size());
  else if (const auto *transform = step.operation_as_Transform())
    text =
        fmt::format("{}transform of {} points, {} of them", transform->inverse() ? "inverse " : "",
                    transform->points(), transform->signals());
  else if (const auto *reduction = step.operation_as_AllReduce())
    text = fmt::format("sum of {} buffers over ranks", reduction->buffers()->size());
  else if (step.operation_as_Await())
    text = "wait for other ranks";
  else if (const auto *exchange = step.operation_as_Exchange())
    text = fmt::format("exchange among {} ranks", exchange->ranks());
  std::string_view op = step.op() ? step.op()->string_view() : "",
                   location = step.location() ? step.location()->string_view() : "";
  if (op.empty() && location.empty())
    return text;
  return fmt::format("{} ({}{}{})", text, op, op.empty() || location.empty() ? "" : " at ",
                     location);
}

static Error in(const fb::Step &step, const Error &error) {
  return {fmt::format("{}: {}", describe(step), error.message)};
}

static Result<void> checkStep(const fb::Step &step, CodeModule &code) {
  if (const auto *launch = step.operation_as_KernelLaunch()) {
    if (auto found = code.find(launch->symbol()->str(), launch->scratch_bytes()); !found)
      return found.error();
  } else if (const auto *product = step.operation_as_Matmul()) {
    if (product->offsets())
      return in(step, {"its groups' sizes are known on the device only, which the matrix library "
                       "cannot take; compile the model again"});
  } else if (step.operation_as_Attention()) {
    if (auto found = openCudnn(); !found)
      return in(step, found.error());
  } else if (step.operation_as_Transform()) {
    if (auto found = openCufft(); !found)
      return in(step, found.error());
  } else if (const auto *loop = step.operation_as_TileLoop(); loop && loop->steps()) {
    for (const fb::Step *inner : *loop->steps())
      if (auto done = checkStep(*inner, code); !done)
        return done;
  }
  return {};
}

Result<void> checkKernels(const fb::Program &program, CodeModule &code) {
  if (program.steps())
    for (const fb::Step *step : *program.steps())
      if (auto done = checkStep(*step, code); !done)
        return done;
  return {};
}

Result<Plan> Plan::create(const fb::Program &program, const PlanParts &parts) {
  Plan plan;
  if (program.steps())
    for (unsigned i = 0; i < program.steps()->size(); ++i)
      if (auto done = plan.add(*program.steps()->Get(i), i, nullptr, 0, parts); !done)
        return done.error();
  auto branches = Branches::create(parts.gpu, program);
  if (!branches)
    return branches.error();
  plan.branches = std::move(*branches);
  return plan;
}

Result<void> Plan::add(const fb::Step &step, unsigned number, const fb::TileLoop *loop,
                       int64_t tile, const PlanParts &parts) {
  if (const auto *tiles = step.operation_as_TileLoop()) {
    const int64_t count = (tiles->rows() - 1) / tiles->tile() + 1;
    for (int64_t t = 0; t < count && tiles->steps(); ++t)
      for (const fb::Step *inner : *tiles->steps())
        if (auto done = add(*inner, number, tiles, t, parts); !done)
          return done;
    return {};
  }
  const size_t first = list.size();
  auto done = step.operation_as_KernelLaunch() ? addLaunch(step, loop, tile, parts)
              : step.operation_as_Attention()  ? addAttention(step, parts)
              : step.operation_as_Transform()  ? addTransform(step, parts)
              : isOverRanks(step)              ? addCollective(step, parts)
                                               : addProduct(step, loop, tile, parts);
  if (!done)
    return in(step, done.error());
  for (size_t i = first; i < list.size(); ++i)
    list[i].step = &step, list[i].stepNumber = number;
  return {};
}

Result<void> Plan::addLaunch(const fb::Step &step, const fb::TileLoop *loop, int64_t tile,
                             const PlanParts &parts) {
  const fb::KernelLaunch &launch = *step.operation_as_KernelLaunch();
  auto function = parts.code.find(launch.symbol()->str(), launch.scratch_bytes());
  if (!function)
    return function.error();
  Operation operation;
  operation.launch.function = *function;
  operation.launch.threads = static_cast<unsigned>(launch.threads());
  operation.launch.sharedBytes = static_cast<unsigned>(launch.scratch_bytes());
  // Behind what ranks do together the stream waits for another; so it may in front of the program.
  operation.launch.overlaps =
      parts.code.overlapsLaunches() && !list.empty() && !list.back().collective;
  const std::vector<fb::BufferRef> buffers = buffersOf(step);
  for (size_t i = 0; i < buffers.size(); ++i) {
    DeviceAddress address = parts.places.address(buffers[i]);
    // Kernels count rows from the first of all: a tile's buffer is passed as if those before it
    // lay in front of it. Only rows of the tile are touched.
    if (loop && buffers[i].bytes() && buffers[i].space() == fb::Space::Tile)
      address -= static_cast<uint64_t>(tile * loop->tile()) *
                 static_cast<uint64_t>(launch.row_bytes()->Get(static_cast<unsigned>(i)));
    operation.values.push_back(address);
  }
  if (parts.gpu.driver().nextLaunchReaches) {
    for (const fb::BufferRef &buffer : buffers)
      operation.reaches.push_back(parts.places.address(buffer));
    for (const fb::BufferRef &buffer : buffers)
      operation.reaches.push_back(static_cast<uint64_t>(buffer.bytes()));
    for (const fb::BufferRef &buffer : buffers)
      operation.reaches.push_back(parts.places.stride(buffer.space()));
  }
  const int64_t begin = loop ? tile * launch.items_per_tile() : 0;
  const int64_t end =
      loop ? std::min(begin + launch.items_per_tile(), launch.grid()) : launch.grid();
  operation.launch.rows = static_cast<unsigned>(parts.places.replicas);
  operation.launch.blocks =
      static_cast<unsigned>(end - begin); // below 2^31 (ExecutableVerifier.cpp)
  operation.values.push_back(static_cast<uint64_t>(begin));
  list.push_back(std::move(operation));
  return {};
}

/// The largest power of two, up to 256, that divides both.
static uint32_t alignmentOf(DeviceAddress address, int64_t strideBytes) {
  uint64_t bits = address | static_cast<uint64_t>(strideBytes) | 256;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

Result<void> Plan::addProduct(const fb::Step &step, const fb::TileLoop *loop, int64_t tile,
                              const PlanParts &parts) {
  const fb::Matmul &product = *step.operation_as_Matmul();
  auto blas = parts.blas();
  if (!blas)
    return blas.error();
  if (auto done = (*blas)->prepare(step.branch()); !done)
    return done;
  ProductShape shape{product.m(),
                     product.n(),
                     product.k(),
                     product.lda(),
                     product.ldb(),
                     product.ldc(),
                     product.transpose_a(),
                     product.transpose_b(),
                     static_cast<DType>(product.dtype()),
                     product.batch(),
                     product.batch_stride_a(),
                     product.batch_stride_b(),
                     product.batch_stride_c()};
  if (product.bias())
    shape.bias = parts.places.address(*product.bias());
  if (shape.batch > std::numeric_limits<int32_t>::max())
    return Error{fmt::format("a batch of {} products is too large", shape.batch)};
  shape.roundsResult = product.rounds_result();
  const int64_t factor = bytesOf(shape.type),
                sum = shape.roundsResult ? factor : std::max<int64_t>(factor, 4);
  const int64_t first = loop ? tile * loop->tile() : 0;
  int64_t rows = 0;
  if (loop) {
    rows = std::min(loop->tile(), loop->rows() - first);
    (product.tile_rows() ? shape.m : shape.k) = rows;
  }
  // The tile's rows of an operand: all of a tile buffer, a part of any other.
  auto rowsOf = [&](const fb::BufferRef &operand, bool cut, int64_t stride, int64_t size) {
    bool skips = loop && cut && operand.space() != fb::Space::Tile;
    return parts.places.address(operand) + static_cast<uint64_t>(skips ? first * stride * size : 0);
  };
  Operation operation;
  operation.a = rowsOf(*product.a(), true, product.lda(), factor);
  operation.b = rowsOf(*product.b(), product.tile_sum(), product.ldb(), factor);
  operation.c = rowsOf(*product.c(), product.tile_rows(), product.ldc(), sum);
  if (product.accumulate() || (loop && product.tile_sum() && tile > 0))
    operation.addend = operation.c;
  const fb::BufferRef *addend = operation.addend ? product.c() : product.addend();
  if (product.addend()) {
    operation.addend = parts.places.address(*addend);
    shape.ldAddend = product.ld_addend(), shape.batchStrideAddend = product.batch_stride_addend();
  }
  // Replicas are the batch of a product that has none; of another, one call each.
  const size_t replicas = parts.places.replicas;
  const bool asBatch = replicas > 1 && shape.batch == 1;
  auto strideOf = [&](const fb::BufferRef *operand) {
    return operand ? parts.places.stride(operand->space()) : 0;
  };
  if (asBatch) {
    shape.batch = static_cast<int64_t>(replicas);
    shape.batchStrideA = static_cast<int64_t>(strideOf(product.a())) / factor;
    shape.batchStrideB = static_cast<int64_t>(strideOf(product.b())) / factor;
    shape.batchStrideC = static_cast<int64_t>(strideOf(product.c())) / sum;
    if (product.addend())
      shape.batchStrideAddend = static_cast<int64_t>(strideOf(addend)) / sum;
    shape.biasBatchStride = static_cast<int64_t>(strideOf(product.bias())) / sum;
  }
  shape.alignmentA = alignmentOf(operation.a, shape.batchStrideA * factor);
  shape.alignmentB = alignmentOf(operation.b, shape.batchStrideB * factor);
  shape.alignmentC = alignmentOf(operation.c, shape.batchStrideC * sum);
  shape.alignmentAddend = alignmentOf(operation.addend, shape.batchStrideAddend * sum);
  auto made = makeProduct(**blas, shape);
  if (!made)
    return made.error();
  operation.product = *made;
  list.push_back(operation);
  for (size_t replica = 1; replica < replicas && !asBatch; ++replica) {
    operation.a += strideOf(product.a());
    operation.b += strideOf(product.b());
    operation.c += strideOf(product.c());
    operation.addend += strideOf(addend);
    if (shape.bias) { // which is a part of what is described
      shape.bias += strideOf(product.bias());
      made = makeProduct(**blas, shape);
      if (!made)
        return made.error();
      operation.product = *made;
    }
    list.push_back(operation);
  }
  return {};
}

Result<void> Plan::addAttention(const fb::Step &step, const PlanParts &parts) {
  const fb::Attention &call = *step.operation_as_Attention();
  auto cudnn = parts.cudnn();
  if (!cudnn)
    return cudnn.error();
  AttentionShape shape;
  shape.batch = call.batch(), shape.length = call.length(), shape.keyLength = call.key_length();
  shape.heads = call.heads(), shape.kvHeads = call.kv_heads(), shape.headSize = call.head_size();
  shape.causal = call.causal(), shape.backward = call.backward();
  shape.scale = static_cast<float>(call.scale());
  unsigned next = 0;
  auto strides = [&](AttentionStrides &of) {
    const auto &all = *call.strides();
    of = {all.Get(next), all.Get(next + 1), all.Get(next + 2)};
    next += 3;
  };
  strides(shape.q), strides(shape.k), strides(shape.v), strides(shape.o);
  if (call.backward())
    strides(shape.dO), strides(shape.dq), strides(shape.dk), strides(shape.dv);
  for (size_t replica = 0; replica < parts.places.replicas; ++replica) { // one call each
    auto address = [&](unsigned number) {
      const fb::BufferRef &buffer = *call.buffers()->Get(number);
      return parts.places.address(buffer) + replica * parts.places.stride(buffer.space());
    };
    AttentionOperands at;
    at.q = address(0), at.k = address(1), at.v = address(2), at.o = address(3), at.lse = address(4);
    if (call.backward()) {
      at.dO = address(5), at.dq = address(6), at.dk = address(7), at.dv = address(8);
      at.room = address(9);
    }
    auto made = Attention::create(**cudnn, shape, at);
    if (!made)
      return made.error();
    Operation operation;
    operation.attention = made->get();
    attentions.push_back(std::move(*made));
    list.push_back(std::move(operation));
  }
  return {};
}

Result<void> Plan::addTransform(const fb::Step &step, const PlanParts &parts) {
  const fb::Transform &call = *step.operation_as_Transform();
  auto cufft = parts.cufft();
  if (!cufft)
    return cufft.error();
  const TransformShape shape{call.points(), call.signals(), call.inverse(),
                             static_cast<DType>(call.dtype())};
  for (size_t replica = 0; replica < parts.places.replicas; ++replica) { // one call each
    auto address = [&](const fb::BufferRef &buffer) {
      return parts.places.address(buffer) + replica * parts.places.stride(buffer.space());
    };
    auto made = Transform::create(**cufft, shape, address(*call.real()), address(*call.spectrum()));
    if (!made)
      return made.error();
    Operation operation;
    operation.transform = made->get();
    transforms.push_back(std::move(*made));
    list.push_back(std::move(operation));
  }
  return {};
}

Result<void> Plan::addCollective(const fb::Step &step, const PlanParts &parts) {
  auto made = Collective::create(step, parts.gpu, parts.ranks, parts.places);
  if (!made)
    return made.error();
  if (!*made)
    return {};
  Operation operation;
  operation.collective = made->get();
  collectives.push_back(std::move(*made));
  list.push_back(std::move(operation));
  return {};
}

Result<const Product *> Plan::makeProduct(Blas &blas, const ProductShape &shape) {
  auto made = Product::create(blas, shape);
  if (!made)
    return made.error();
  products.push_back(std::move(*made));
  return const_cast<const Product *>(products.back().get());
}

Result<void> Plan::issueOnBranches(const Gpu &gpu) const {
  if (branches)
    if (auto done = branches->part(); !done)
      return done;
  // Not every step has an operation: what others wait for goes by steps.
  auto next = list.begin();
  const unsigned steps = branches ? branches->steps() : 0;
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned branch = branches->branchOf(step);
    if (auto done = branches->beforeStep(step); !done)
      return done;
    for (; next != list.end() && next->stepNumber == step; ++next) {
      if (auto done = issue(gpu, *next, branch, branches->goesOn(branch)); !done)
        return done;
      branches->given(branch, next->collective != nullptr);
    }
    if (auto done = branches->behindStep(step); !done)
      return done;
  }
  for (; next != list.end(); ++next)
    if (auto done = issue(gpu, *next); !done)
      return done;
  return branches ? branches->join() : Result<void>();
}

Result<void> Plan::issue(const Gpu &gpu, const Operation &operation, unsigned branch,
                         bool mayOverlap) {
  if (operation.product) {
    if (auto done =
            operation.product->run(operation.a, operation.b, operation.c, operation.addend, branch);
        !done)
      return in(*operation.step, done.error());
    return {};
  }
  if (operation.attention) {
    if (auto done = operation.attention->run(); !done)
      return in(*operation.step, done.error());
    return {};
  }
  if (operation.transform) {
    if (auto done = operation.transform->run(); !done)
      return in(*operation.step, done.error());
    return {};
  }
  if (operation.collective) {
    if (auto done = operation.collective->run(); !done)
      return in(*operation.step, done.error());
    return {};
  }
  void *parameters[mostBlockBuffers + 1];
  for (size_t i = 0; i < operation.values.size(); ++i)
    parameters[i] = const_cast<uint64_t *>(&operation.values[i]);
  if (const size_t count = operation.reaches.size() / 3) {
    const uint64_t *begins = operation.reaches.data();
    Status told = gpu.driver().nextLaunchReaches(static_cast<unsigned>(count), begins,
                                                 begins + count, begins + 2 * count);
    if (auto done = gpu.check("hybridNextLaunchReaches", told); !done)
      return in(*operation.step, done.error());
  }
  Gpu::Launch launch = operation.launch;
  launch.overlaps = launch.overlaps && mayOverlap;
  if (auto done = gpu.launch(launch, parameters, gpu.streamOf(branch)); !done)
    return in(*operation.step, done.error());
  return {};
}

} // namespace hybrid::rt::cuda
