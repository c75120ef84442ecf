//===- HeldExamples.cpp - training sets on the device, batches from them -----===//
#include "runtime/cuda/HeldExamples.h"
#include "executable/SessionMemory.h"
#include "runtime/cpu/Team.h"
#include "runtime/cpu/Threads.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

static uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

static uint64_t rowWords(const fb::Tensor &tensor) {
  return tensor.buffer()->bytes() / sizeof(int32_t) /
         static_cast<uint64_t>(tensor.shape()->Get(0)); // the verifier has seen that it is there
}

HeldExamples::HeldExamples(const Gpu &gpu, const fb::Executable &executable, Function kernel,
                           size_t number, PreparedProgram &program)
    : gpu(gpu), executable(executable), source(*executable.examples()), kernel(kernel),
      number(number), owner(program), replicas(program.parts.places.replicas) {
  for (const fb::Tensor *tensor : *program.source->inputs())
    (tensor->name()->string_view() == source.inputs()->string_view() ? inputs : targets) = tensor;
  inputWords = rowWords(*inputs), targetWords = rowWords(*targets);
}

void HeldExamples::reserve() {
  orders = GpuMemory();
  for (PinnedMemory &set : orderSets)
    set = PinnedMemory();
  taken.fill(false);
}

Result<bool> HeldExamples::hold(const Examples &examples) {
  places.clear();
  taken.fill(false);
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
  for (const Examples::Set &set : examples.sets) {
    offsets.push_back(bytes);
    const uint64_t each = exampleWords() * sizeof(int32_t);
    if (set.size == 0 || set.size > (mostHeldBytes - bytes) / each)
      bytes = mostHeldBytes + 1;
    else
      bytes += aligned(set.size * each);
    if (bytes > mostHeldBytes)
      break;
  }
  size_t free = 0, total = 0;
  if (auto done = gpu.check("cuMemGetInfo", gpu.driver().memoryInfo(&free, &total)); !done)
    return done.error();
  const uint64_t most = std::min<uint64_t>(heldBytesWithin(executable, owner.staging.steps()),
                                           (free + sets.size()) / 4);
  // A batch that is too large for a table goes straight from the host to its place.
  if (bytes == 0 || bytes > most || owner.staging.mostSteps() == 0 ||
      examples.orders.size() != replicas) {
    sets = GpuMemory();
    return false;
  }
  if (sets.size() < bytes) {
    sets = GpuMemory();
    auto memory = GpuMemory::allocate(gpu, bytes);
    if (!memory)
      return Error{fmt::format("no memory for the {} bytes of the training set: {}", bytes,
                               memory.error().message)};
    sets = std::move(*memory);
  }
  for (size_t i = 0; i < examples.sets.size(); ++i)
    if (auto done = upload(examples.sets[i], sets.address() + offsets[i]); !done)
      return done.error();
  for (const Examples::Order &order : examples.orders)
    places.push_back(order.set
                         ? Place{examples.sets[*order.set].size, order.seed, offsets[*order.set]}
                         : Place());
  return true;
}

/// In pieces that fit into some pinned memory.
Result<void> HeldExamples::upload(const Examples::Set &set, DeviceAddress to) const {
  constexpr uint64_t pieceBytes = uint64_t(4) << 20;
  const uint64_t bytes = exampleWords() * sizeof(int32_t),
                 piece = std::min(set.size, std::max<uint64_t>(1, pieceBytes / bytes));
  auto memory = PinnedMemory::allocate(gpu, piece * bytes);
  if (!memory)
    return memory.error();
  auto *words = reinterpret_cast<int32_t *>(memory->data());
  for (uint64_t first = 0; first < set.size; first += piece) {
    const uint64_t count = std::min(piece, set.size - first);
    parallelFor(static_cast<int64_t>(count), availableThreads(),
                [&](int64_t low, int64_t high, int) {
                  for (auto i = static_cast<uint64_t>(low); i < static_cast<uint64_t>(high); ++i) {
                    int32_t *row = words + i * exampleWords();
                    set.write(first + i, {row, inputWords}, {row + inputWords, targetWords});
                  }
                });
    if (auto done = gpu.copyIn(to + first * bytes, words, count * bytes); !done)
      return done;
    if (auto done = gpu.synchronize(); !done)
      return done;
  }
  return {};
}

Result<void> HeldExamples::take(size_t replica, size_t step, uint64_t first) {
  if (places.empty())
    return Error{"no training set is held"};
  if (step >= owner.staging.steps())
    return Error{"a burst has no such step"};
  const size_t inputSet = owner.staging.currentSet();
  PinnedMemory &set = orderSets[inputSet];
  if (!set) {
    auto memory = PinnedMemory::allocate(gpu, orderBytes(owner.staging.steps()));
    if (!memory)
      return memory.error();
    set = std::move(*memory);
  }
  if (!taken[inputSet]) // nothing of replicas and steps that are left out
    std::memset(set.data(), 0, orderBytes(owner.staging.steps()));
  taken[inputSet] = true;
  const Place &place = places[replica];
  const BatchOrder order{first,
                         place.seed,
                         place.size,
                         place.examples,
                         owner.staging.inputOffset(*inputs, replica, step),
                         owner.staging.inputOffset(*targets, replica, step)};
  std::memcpy(set.data() + (step * replicas + replica) * sizeof(order), &order, sizeof(order));
  return {};
}

Result<void> HeldExamples::upload(size_t inputSet, size_t steps) {
  if (!orders) {
    auto memory = GpuMemory::allocate(gpu, orderBytes(owner.staging.steps()));
    if (!memory)
      return memory.error();
    orders = std::move(*memory);
  }
  return gpu.copyIn(orders.address(), orderSets[inputSet].data(), orderBytes(steps));
}

Result<void> HeldExamples::gather(size_t steps) const {
  const uint64_t values[] = {orders.address(), sets.address(), owner.staging.inputAddress(), 0};
  void *parameters[std::size(values)];
  for (size_t i = 0; i < std::size(values); ++i)
    parameters[i] = const_cast<uint64_t *>(&values[i]);
  Gpu::Launch launch{kernel};
  launch.blocks = static_cast<unsigned>(static_cast<uint64_t>(source.grid()) * steps);
  launch.rows = static_cast<unsigned>(replicas);
  launch.threads = static_cast<unsigned>(source.threads());
  if (auto done = gpu.launch(launch, parameters, gpu.stream()); !done)
    return Error{fmt::format("kernel '{}' (batches of program '{}'): {}",
                             source.symbol()->string_view(), source.program()->string_view(),
                             done.error().message)};
  return {};
}

} // namespace hybrid::rt::cuda
