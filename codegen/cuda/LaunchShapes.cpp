//===- LaunchShapes.cpp - how blocks run kernels whose lowering is shared ---===//
#include "codegen/cuda/LaunchShapes.h"
#include "codegen/kernels/cuda/LaunchShapes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"

namespace hybrid::cuda {
namespace {

template <typename Params> Params paramsOf(const KernelConstants &constants) {
  Params params;
  std::memcpy(&params, constants.words.data(), sizeof(Params));
  return params;
}

using Shape = LaunchShape (*)(const KernelConstants &, int64_t elementBytes);

template <typename Params> LaunchShape rowShape(const KernelConstants &constants, int64_t bytes) {
  int64_t threads = rowThreads(paramsOf<Params>(constants).columns);
  return {threads, threads / 32 * bytes};
}

template <typename Params>
LaunchShape normBackwardShape(const KernelConstants &constants, int64_t bytes) {
  int64_t columns = paramsOf<Params>(constants).columns;
  return {normBackwardThreads(columns), normBackwardShared(columns) * bytes};
}

const llvm::StringMap<Shape> &shapes() {
  static const llvm::StringMap<Shape> table{
      {"rmsnorm_forward", rowShape<RmsNormParams>},
      {"rmsnorm_backward", normBackwardShape<RmsNormParams>},
      {"layernorm_forward", rowShape<LayerNormParams>},
      {"layernorm_backward", normBackwardShape<LayerNormParams>},
      {"sum_partials",
       [](const KernelConstants &, int64_t bytes) {
         return LaunchShape{sumPartialsThreads, sumPartialsThreads * bytes};
       }},
      {"embedding_forward",
       [](const KernelConstants &constants, int64_t) {
         return LaunchShape{rowThreads(paramsOf<EmbeddingParams>(constants).columns), 0};
       }},
      {"cross_entropy_forward",
       [](const KernelConstants &constants, int64_t) {
         int64_t threads = crossEntropyThreads(paramsOf<CrossEntropyParams>(constants));
         return LaunchShape{threads, crossEntropyShared(threads)};
       }},
      {"cross_entropy_backward",
       [](const KernelConstants &constants, int64_t) {
         int64_t threads = rowThreads(paramsOf<CrossEntropyParams>(constants).classes);
         return LaunchShape{threads, crossEntropyShared(threads)};
       }},
      {"cross_entropy_finish",
       [](const KernelConstants &, int64_t) { return LaunchShape{sumThreads, sumThreads / 4}; }},
      {"target_weight",
       [](const KernelConstants &, int64_t) { return LaunchShape{sumThreads, sumThreads / 4}; }},
      {"squared_norm",
       [](const KernelConstants &, int64_t) { return LaunchShape{sumThreads, sumThreads / 4}; }},
      {"gradient_norm",
       [](const KernelConstants &, int64_t) { return LaunchShape{sumThreads, sumThreads / 4}; }},
      {"adamw", [](const KernelConstants &, int64_t) { return LaunchShape{sumThreads, 0}; }},
      {"random", [](const KernelConstants &, int64_t) { return LaunchShape{sumThreads, 0}; }},
      {"reverse",
       [](const KernelConstants &constants, int64_t) {
         return LaunchShape{rowThreads(paramsOf<ReverseParams>(constants).inner), 0};
       }},
      {"rotary_table",
       [](const KernelConstants &constants, int64_t) {
         return LaunchShape{rowThreads(paramsOf<RotaryTableParams>(constants).dims / 2), 0};
       }},
  };
  return table;
}

} // namespace

LaunchShape sharedLaunchShape(llvm::StringRef name, mlir::Type element,
                              const KernelConstants &constants) {
  auto found = shapes().find(name);
  if (found == shapes().end())
    llvm::report_fatal_error("no launch shape for the CUDA kernel " + name);
  return found->second(constants, bytesOf(element));
}

} // namespace hybrid::cuda
