//===- CudaBackend.cpp - what programs are made of on a GPU -----------------===//
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/LaunchShapes.h"
#include "codegen/cuda/Lowerings.h"
#include "codegen/cuda/ScalarText.h"
#include "codegen/cuda/TextEmitter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace hybrid::cuda {

const CudaBackend &backendOf(const ProgramBuilder &program) {
  return static_cast<const CudaBackend &>(program.backend());
}

std::optional<AttentionBy> attentionByName(StringRef name) {
  return llvm::StringSwitch<std::optional<AttentionBy>>(name)
      .Case("own", AttentionBy::Own)
      .Case("cudnn", AttentionBy::Cudnn)
      .Case("auto", AttentionBy::Auto)
      .Default(std::nullopt);
}

/// Finds the lowerings of this device and, by their arguments' namespace, the shared ones.
template <typename Op> static LogicalResult lowerTyped(Op op, ProgramBuilder &program) {
  return lower(op, program);
}

LogicalResult CudaBackend::lower(Operation *op, ProgramBuilder &program) const {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ParameterOp, ConstantOp>([](auto) { return success(); }) // views, made on first use
      .Case<EmbeddingGradOp, AttentionOp, AttentionGradOp, TopKOp, TakeOp, ScatterOp, RouteOp,
            DispatchOp, CollectOp, GroupedLinearOp, GroupedLinearGradOp, LinearScanOp,
            LinearScanGradOp, SelectiveScanOp, SelectiveScanGradOp, SoftmaxScanOp,
            SoftmaxScanGradOp, ShortConvOp, ShortConvGradOp, FFTConvOp, FFTConvGradOp, RfftOp,
            IrfftOp, ModalFilterOp, ModalFilterGradOp, RandomOp, IotaOp, AssignOp, EmbeddingOp,
            LinearOp, MatmulOp, RmsNormOp, RmsNormGradOp, LayerNormOp, LayerNormGradOp, ReduceOp,
            FusedOp, RowTilesOp, ReshapeOp, TransposeOp, BroadcastOp, SplitOp, ConcatOp, SliceOp,
            ReverseOp, PadOp, CrossEntropyOp, TargetWeightOp, CrossEntropyGradOp, AdamWOp>(
          [&](auto typed) { return lowerTyped(typed, program); })
      .Default([](Operation *other) {
        return other->emitOpError() << "has no CUDA lowering (run hybrid-fuse-elementwise first)";
      });
}

/// "rmsnorm_forward" -> "rmsnormForward": kernels are functions of C++.
static std::string camelCase(StringRef name) {
  std::string result;
  bool upper = false;
  for (char c : name) {
    if (c == '_')
      upper = true;
    else
      result += upper ? llvm::toUpper(c) : c, upper = false;
  }
  return result;
}

KernelName CudaBackend::kernel(StringRef name, Type element,
                               const KernelConstants &constants) const {
  return {camelCase(name) + "<" + typeText(element).str() + ", " + constants.text + ">", {}};
}

LaunchShape CudaBackend::shape(StringRef name, Type element, const KernelConstants &constants,
                               int64_t) const {
  return sharedLaunchShape(name, element, constants);
}

GeneratedKernel CudaBackend::elementwise(ModuleTables &tables, Block *body, ArrayRef<View> operands,
                                         ArrayRef<View> results, bool byRows) const {
  return emitElementwise(tables, body, operands, results, byRows);
}

GeneratedKernel CudaBackend::fill(ModuleTables &tables, const View &to, double value) const {
  return emitFill(tables, to, value);
}

GeneratedKernel CudaBackend::reduction(ModuleTables &tables, ReduceKind kind, const Load &from,
                                       ArrayRef<int64_t> axes, const View &to) const {
  return emitReduction(tables, kind, from, axes, to);
}

GeneratedKernel CudaBackend::rowSums(ModuleTables &tables, const Load &from, int64_t rowsPerItem,
                                     const View &partial, double scale) const {
  return emitRowSums(tables, from, rowsPerItem, partial, scale);
}

} // namespace hybrid::cuda
