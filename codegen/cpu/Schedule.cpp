//===- Schedule.cpp - the pass that makes programs --------------------------===//
#include "codegen/cpu/CodegenCpu.h"
#include "codegen/cpu/ProgramBuilder.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace hybrid {
#define GEN_PASS_DEF_SCHEDULECPU
#include "codegen/cpu/Passes.h.inc"
} // namespace hybrid

using namespace mlir;

namespace hybrid::cpu {

LogicalResult lowerOperation(Operation *op, ProgramBuilder &program) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ParameterOp, ConstantOp>([](auto) { return success(); }) // views, made on first use
      .Case<RandomOp, IotaOp, AssignOp, EmbeddingOp, EmbeddingGradOp, LinearOp, MatmulOp, RmsNormOp,
            RmsNormGradOp, LayerNormOp, LayerNormGradOp, ShortConvOp, ShortConvGradOp, FFTConvOp,
            FFTConvGradOp, AttentionOp, AttentionGradOp, LinearScanOp, LinearScanGradOp,
            SelectiveScanOp, SelectiveScanGradOp, SoftmaxScanOp, SoftmaxScanGradOp, RfftOp, IrfftOp,
            ModalFilterOp, ModalFilterGradOp, TopKOp, TakeOp, ScatterOp, RouteOp, DispatchOp,
            CollectOp, GroupedLinearOp, GroupedLinearGradOp, ReduceOp, FusedOp, RowTilesOp,
            ReshapeOp, TransposeOp, BroadcastOp, SplitOp, ConcatOp, SliceOp, ReverseOp, PadOp,
            CrossEntropyOp, TargetWeightOp, CrossEntropyGradOp, AdamWOp>(
          [&](auto typed) { return lower(typed, program); })
      .Default([](Operation *other) {
        return other->emitOpError() << "has no CPU lowering (run hybrid-fuse-elementwise first)";
      });
}

namespace {

/// Offsets of all parameters, in the order of declaration.
void collectParameters(ModuleTables &tables, func::FuncOp forward) {
  for (auto parameter : forward.getOps<ParameterOp>()) {
    if (tables.parameters.count(parameter.getNameAttr()))
      continue;
    auto type = cast<RankedTensorType>(parameter.getType());
    tables.parameters.insert({parameter.getNameAttr(), {tables.parameterBytes, type, parameter}});
    tables.parameterBytes += static_cast<int64_t>(
        llvm::alignTo(type.getNumElements() * bytesOf(type.getElementType()), 64));
  }
}

void setModuleAttributes(ModuleTables &tables, ModuleOp module) {
  Builder b(module.getContext());
  SmallVector<Attribute> parameters;
  for (auto &[name, parameter] : tables.parameters) {
    ParameterOp op = parameter.op;
    parameters.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", name), b.getNamedAttr("type", TypeAttr::get(parameter.type)),
         b.getNamedAttr("offset", b.getI64IntegerAttr(parameter.offset)),
         b.getNamedAttr("trainable", b.getBoolAttr(op.getTrainable())),
         b.getNamedAttr("decay", b.getBoolAttr(op.getDecay())),
         b.getNamedAttr("lr_scale", op.getLrScaleAttr())}));
  }
  module->setAttr("hybrid.parameters", b.getArrayAttr(parameters));
  module->setAttr("hybrid.parameter_bytes", b.getI64IntegerAttr(tables.parameterBytes));
  auto bytes =
      RankedTensorType::get({static_cast<int64_t>(tables.constants.size())}, b.getI8Type());
  module->setAttr("hybrid.constants", DenseElementsAttr::getFromRawBuffer(bytes, tables.constants));
  module->setAttr("hybrid.constants_bytes", b.getI64IntegerAttr(tables.constantsBytes));
}

void createSetup(ModuleTables &tables, OpBuilder &builder, Location loc) {
  auto setup =
      ProgramOp::create(builder, loc, builder.getStringAttr("setup"), builder.getI64IntegerAttr(0),
                        builder.getArrayAttr({}), builder.getArrayAttr({}));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&setup.getBody());
  for (const SetupTable &table : tables.tables) {
    Attribute buffer =
        BufferAttr::get(builder.getContext(), Space::Constants, table.offset, table.bytes);
    LaunchOp::create(builder, loc, table.kernel, table.grid, builder.getArrayAttr({buffer}),
                     table.constants, 0, false, "table");
  }
}

struct ScheduleCpu : hybrid::impl::ScheduleCpuBase<ScheduleCpu> {
  using ScheduleCpuBase::ScheduleCpuBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward) {
      module.emitError() << "has no function @forward to schedule";
      return signalPassFailure();
    }
    ModuleTables tables;
    tables.module = module;
    tables.keepSpectra = keepSpectra;
    collectParameters(tables, forward);
    std::vector<std::unique_ptr<ProgramBuilder>> programs;
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      programs.push_back(std::make_unique<ProgramBuilder>(tables, function));
      if (failed(programs.back()->lowerFunction()))
        return signalPassFailure();
    }
    tables.placeTables();
    OpBuilder builder(forward);
    createSetup(tables, builder, module.getLoc());
    setModuleAttributes(tables, module);
    for (auto &program : programs) {
      builder.setInsertionPoint(program->function);
      program->finish(builder);
    }
    for (auto &program : programs)
      program->function.erase();
  }
};
} // namespace
} // namespace hybrid::cpu
