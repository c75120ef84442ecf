//===- LowerToLLVM.cpp - generated kernels to LLVM IR -----------------------===//
//
// f32 functions of math become polynomials that vectorise; f64 (used to check gradients) calls the
// C library.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/LowerToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace hybrid::cpu {
namespace {

/// Rounds to bf16 by operations on integers, where a CPU has no instruction for it.
struct ExpandBf16 : PassWrapper<ExpandBf16, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandBf16)
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct ApproximateMath : PassWrapper<ApproximateMath, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApproximateMath)
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    MathPolynomialApproximationOptions options;
    options.enableAvx2 = false;
    populateMathPolynomialApproximationPatterns(patterns, options);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<llvm::Module> lowerGeneratedKernels(ModuleOp module, bool hasBf16,
                                                    llvm::LLVMContext &context) {
  MLIRContext *mlirContext = module.getContext();
  // A module of their own: the programs are not code.
  OwningOpRef<ModuleOp> kernels(ModuleOp::create(module.getLoc()));
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    function->remove();
    kernels->push_back(function);
    function.setPublic();
  }
  PassManager manager(mlirContext);
  manager.addNestedPass<func::FuncOp>(createLoopInvariantCodeMotionPass());
  manager.addNestedPass<func::FuncOp>(std::make_unique<ApproximateMath>());
  if (!hasBf16)
    manager.addNestedPass<func::FuncOp>(std::make_unique<ExpandBf16>());
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  ConvertFuncToLLVMPassOptions options;
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass(options));
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  if (failed(manager.run(*kernels))) {
    emitError(module.getLoc())
        << "internal error: generated kernels could not be lowered to LLVM, please report";
    return nullptr;
  }
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  mlirContext->appendDialectRegistry(registry);
  return translateModuleToLLVMIR(*kernels, context, "kernels");
}

} // namespace hybrid::cpu
