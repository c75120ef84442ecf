//===- GatherExamples.cpp - the kernel that puts batches together -----------===//
#include "codegen/kernels/cuda/GatherExamples.h"
#include "codegen/cuda/CodegenCuda.h"
#include "dialect/HybridOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hybrid::cuda {
namespace {

/// An input of a program whose first dimension is that of the batch.
struct BatchInput {
  std::string name;
  int64_t rows = 0, words = 0; // of a row; 0: its elements are of other sizes

  explicit BatchInput(Attribute port) {
    auto entry = cast<DictionaryAttr>(port);
    auto type = cast<RankedTensorType>(cast<TypeAttr>(entry.get("type")).getValue());
    name = cast<StringAttr>(entry.get("name")).str();
    if (type.getRank() == 0 || type.getNumElements() == 0 || type.getElementTypeBitWidth() != 32)
      return;
    rows = type.getDimSize(0);
    words = type.getNumElements() / rows;
  }
};

} // namespace

std::optional<ExampleGather> gatherExamplesOf(ModuleOp module) {
  auto train = module.lookupSymbol<ProgramOp>("train");
  if (!train || train.getInputs().size() != 2)
    return std::nullopt;
  BatchInput inputs(train.getInputs()[0]), targets(train.getInputs()[1]);
  if (inputs.name == "targets")
    std::swap(inputs, targets);
  if (targets.name != "targets" || inputs.rows != targets.rows || inputs.words == 0 ||
      targets.words == 0)
    return std::nullopt;
  auto replicas = ReplicasAttr::of(module);
  const GatherExamplesParams params{inputs.rows, inputs.words, targets.words,
                                    replicas ? replicas.getCount() : 1};
  ExampleGather gather;
  gather.kernel =
      llvm::formatv("gatherExamples<int32_t, GatherExamplesParams{{.rows = {0}, "
                    ".inputWords = {1}, .targetWords = {2}, .replicas = {3}}>",
                    params.rows, params.inputWords, params.targetWords, params.replicas);
  gather.program = train.getSymName();
  gather.inputs = inputs.name;
  gather.targets = targets.name;
  gather.grid = gatherExamplesItems(params);
  gather.threads = gatherExamplesThreads;
  return gather;
}

} // namespace hybrid::cuda
