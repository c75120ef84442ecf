//===- Attention.cpp - attention of a program, by cuDNN ---------------------===//
#include "runtime/cuda/Attention.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

//===-- the library ------------------------------------------------------------===//

Result<std::unique_ptr<Cudnn>> Cudnn::open(const Gpu &gpu, uint64_t expectedWorkspace) {
  auto library = openCudnn();
  if (!library)
    return library.error();
  std::unique_ptr<Cudnn> cudnn(new Cudnn(gpu, **library, expectedWorkspace));
  const CudnnApi &api = cudnn->library;
  if (DnnStatus status = api.create(&cudnn->context))
    return Error{cuda::describe(api, "cudnnCreate", status)};
  if (DnnStatus status = api.setStream(cudnn->context, gpu.stream()))
    return Error{cuda::describe(api, "cudnnSetStream", status)};
  return cudnn;
}

Cudnn::~Cudnn() {
  plans.clear();
  if (context)
    library.destroy(context);
}

uint64_t Cudnn::allocatedBytes() const {
  uint64_t bytes = 0;
  for (const GpuMemory &memory : workspaces)
    bytes += memory.size();
  return bytes;
}

Result<std::shared_ptr<const AttentionPlan>> Cudnn::plan(const AttentionShape &shape) {
  for (const auto &made : plans)
    if (made->of() == shape)
      return made;
  auto made = AttentionPlan::create(library, {context, nullptr}, shape);
  if (!made)
    return made.error();
  plans.push_back(std::move(*made));
  return plans.back();
}

Result<DeviceAddress> Cudnn::workspace(uint64_t bytes) {
  if (bytes == 0)
    return DeviceAddress(0);
  if (workspaces.empty() || workspaces.back().size() < bytes) {
    // What was bound before has the earlier ones.
    auto memory = GpuMemory::allocate(gpu, std::max(bytes, expectedWorkspace));
    if (!memory)
      return Error{fmt::format("no memory for {} bytes of cuDNN's workspace: {}; a smaller --batch "
                               "or --length takes less, --attention=own none",
                               std::max(bytes, expectedWorkspace), memory.error().message)};
    workspaces.push_back(std::move(*memory));
  }
  return workspaces.back().address();
}

//===-- parts ------------------------------------------------------------------===//

/// The largest divisor of `count` that is at most `limit`, at least 1.
static int64_t divisorUpTo(int64_t count, int64_t limit) {
  int64_t divisor = std::clamp<int64_t>(limit, 1, count);
  while (count % divisor != 0)
    --divisor;
  return divisor;
}

/// Of the same size each: several batch rows, or some heads of one (so that statistics of a part
/// are neighbours).
static AttentionShape partOf(const AttentionShape &shape, uint64_t parts) {
  AttentionShape part = shape;
  const int64_t groups = shape.batch * shape.kvHeads,
                each = groups / static_cast<int64_t>(std::min<uint64_t>(parts, uint64_t(groups)));
  if (each >= shape.kvHeads) {
    part.batch = divisorUpTo(shape.batch, each / shape.kvHeads);
    return part;
  }
  part.batch = 1;
  part.kvHeads = divisorUpTo(shape.kvHeads, each);
  part.heads = shape.heads / shape.kvHeads * part.kvHeads;
  return part;
}

/// The operands of the part that begins at a batch row and a head of keys.
static AttentionOperands operandsOf(const AttentionShape &shape, const AttentionOperands &all,
                                    int64_t batch, int64_t kvHead) {
  AttentionOperands part = all;
  const int64_t head = kvHead * (shape.heads / shape.kvHeads);
  auto move = [&](uint64_t &address, const AttentionStrides &strides, int64_t firstHead) {
    address += static_cast<uint64_t>(2 * (batch * strides.batch + firstHead * strides.head));
  };
  move(part.q, shape.q, head), move(part.o, shape.o, head);
  move(part.k, shape.k, kvHead), move(part.v, shape.v, kvHead);
  const auto statistics = static_cast<uint64_t>(4 * (batch * shape.heads + head) * shape.length);
  part.lse += statistics;
  if (!shape.backward)
    return part;
  move(part.dO, shape.dO, head), move(part.dq, shape.dq, head);
  move(part.dk, shape.dk, kvHead), move(part.dv, shape.dv, kvHead);
  part.room += statistics;
  return part;
}

Result<std::unique_ptr<Attention>> Attention::create(Cudnn &cudnn, const AttentionShape &shape,
                                                     const AttentionOperands &operands,
                                                     uint64_t goal) {
  std::unique_ptr<Attention> created(new Attention(cudnn));
  AttentionShape part = shape;
  // What the engine says counts; it is asked again for smaller parts.
  for (uint64_t parts = 1;;) {
    auto plan = cudnn.plan(part);
    if (!plan)
      return plan.error();
    created->plan = std::move(*plan);
    const uint64_t bytes = created->plan->workspaceBytes();
    const bool smallest = part.batch == 1 && part.kvHeads == 1;
    if (bytes <= goal || smallest)
      break;
    parts = std::max(2 * parts, parts * ((bytes + goal - 1) / goal));
    part = partOf(shape, parts);
  }
  auto workspace = cudnn.workspace(created->plan->workspaceBytes());
  if (!workspace)
    return workspace.error();
  for (int64_t batch = 0; batch < shape.batch; batch += part.batch)
    for (int64_t head = 0; head < shape.kvHeads; head += part.kvHeads) {
      auto bound = created->plan->bind(operandsOf(shape, operands, batch, head), *workspace);
      if (!bound)
        return bound.error();
      created->bound.push_back(std::move(*bound));
    }
  return created;
}

Result<void> Attention::run() const {
  for (const DnnObject &part : bound)
    if (auto done = plan->run(cudnn.handle(), part); !done)
      return done;
  return {};
}

} // namespace hybrid::rt::cuda
