//===- Specialize.cpp - bind free dimensions and precision ------------------===//
//
// Types are inferred again from the function's arguments on, so that no pass after this one meets a
// free dimension.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/StraightLine.h"

namespace hybrid {
#define GEN_PASS_DEF_SPECIALIZE
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

class Binder {
public:
  Binder(MLIRContext *context, int64_t batch, int64_t length, Type element)
      : builder(context), element(element) {
    sizes["B"] = batch;
    sizes["L"] = length;
  }

  LogicalResult bindFunction(func::FuncOp function) {
    SmallVector<Type> arguments;
    for (BlockArgument argument : function.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      SmallVector<int64_t> shape(type.getShape());
      if (auto dims =
              function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "hybrid.dims")) {
        FailureOr<ArrayAttr> bound = bindSizes(dims, argument.getLoc());
        if (failed(bound))
          return failure();
        shape = sizesOf(*bound);
        function.removeArgAttr(argument.getArgNumber(), "hybrid.dims");
      }
      if (llvm::any_of(shape, ShapedType::isDynamic)) {
        emitError(argument.getLoc()) << "input " << argument.getArgNumber() << " is " << type
                                     << ", but has no hybrid.dims to name its free dimensions";
        return failure();
      }
      argument.setType(tensorOf(shape, convert(type.getElementType())));
      arguments.push_back(argument.getType());
    }
    if (failed(bindBlock(function.getBody().front())))
      return failure();
    auto results = function.getBody().front().getTerminator()->getOperandTypes();
    function.setFunctionType(builder.getFunctionType(arguments, results));
    return success();
  }

private:
  Type convert(Type type) const { return isa<FloatType>(type) ? element : type; }

  FailureOr<ArrayAttr> bindSizes(ArrayAttr shape, Location loc) {
    SmallVector<Attribute> bound;
    for (Attribute size : shape) {
      if (auto name = dyn_cast<StringAttr>(size)) {
        auto found = sizes.find(name.getValue());
        if (found == sizes.end()) {
          emitError(loc) << "free dimension '" << name.getValue()
                         << "' has no size: only B (batch) and L (length) are bound when compiling";
          return failure();
        }
        size = builder.getI64IntegerAttr(found->second);
      }
      bound.push_back(size);
    }
    return builder.getArrayAttr(bound);
  }

  LogicalResult bindBlock(Block &block) {
    for (Operation &op : block)
      if (failed(bindOp(op)))
        return failure();
    return success();
  }

  LogicalResult bindOp(Operation &op) {
    if (auto sized = dyn_cast<FreeSizesOp>(op); sized && failed(sized.verifySizes(sizes)))
      return failure();
    auto inferrable = dyn_cast<InferTypeOpInterface>(op);
    for (NamedAttribute attribute : llvm::to_vector(op.getAttrs())) {
      if (auto type = dyn_cast<TypeAttr>(attribute.getValue()))
        op.setAttr(attribute.getName(), TypeAttr::get(convert(type.getValue())));
      auto shape = dyn_cast<ArrayAttr>(attribute.getValue());
      if (!shape || !inferrable)
        continue;
      FailureOr<ArrayAttr> bound = bindSizes(shape, op.getLoc());
      if (failed(bound))
        return failure();
      op.setAttr(attribute.getName(), *bound);
    }
    if (auto outer = dyn_cast<BodyOp>(op); outer && !op.getRegion(0).empty()) {
      Block &body = op.getRegion(0).front();
      for (auto [argument, type] :
           llvm::zip_equal(body.getArguments(), outer.getBodyArgumentTypes()))
        argument.setType(type);
      if (failed(bindBlock(body)))
        return failure();
    }
    SmallVector<Type> types;
    if (inferrable) {
      if (failed(inferrable.inferReturnTypes(op.getContext(), op.getLoc(), op.getOperands(),
                                             op.getAttrDictionary(), op.getPropertiesStorage(),
                                             op.getRegions(), types)))
        return failure();
    } else {
      for (Type type : op.getResultTypes()) {
        auto tensor = cast<RankedTensorType>(type);
        types.push_back(tensorOf(tensor.getShape(), convert(tensor.getElementType())));
      }
    }
    for (auto [result, type] : llvm::zip(op.getResults(), types))
      result.setType(type);
    return success();
  }

  Builder builder;
  Type element;
  llvm::StringMap<int64_t> sizes;
};

/// The ops that `parameter`'s initial value is computed with, in order; fails when it depends on an
/// input of the model.
FailureOr<llvm::SetVector<Operation *>> initialSlice(ParameterOp parameter) {
  auto isInput = [](Value value) { return isa<BlockArgument>(value); };
  llvm::SetVector<Operation *> slice;
  bool dependsOnInput = isInput(parameter.getInitial());
  if (!dependsOnInput) {
    BackwardSliceOptions options;
    options.omitBlockArguments = true;
    options.inclusive = true;
    (void)getBackwardSlice(parameter.getInitial(), &slice, options);
    dependsOnInput = llvm::any_of(
        slice, [&](Operation *op) { return llvm::any_of(op->getOperands(), isInput); });
  }
  if (dependsOnInput)
    return parameter.emitError()
           << "initial value of '" << parameter.getName()
           << "' depends on an input of the model, expected constants and random values only";
  return slice;
}

/// Erases what no output depends on. A parameter among it would never change: it is left out of the
/// executable, and its author is told.
void eraseUnused(func::FuncOp forward) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(forward.getBody().front()))) {
    if (!isOpTriviallyDead(&op))
      continue;
    if (auto parameter = dyn_cast<ParameterOp>(op))
      parameter.emitWarning() << "parameter '" << parameter.getName()
                              << "' does not reach any output: it is left out";
    op.erase();
  }
}

/// Moves the computation of all initial values to a function of its own.
LogicalResult splitInitialValues(ModuleOp module, func::FuncOp forward) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(forward);
  auto seed = tensorOf({2}, builder.getI32Type());
  auto init =
      func::FuncOp::create(builder, forward.getLoc(), "init", builder.getFunctionType({seed}, {}));
  init.setArgAttr(init.addEntryBlock()->getParent()->front().getArgument(0).getArgNumber(),
                  "hybrid.name", builder.getStringAttr("seed"));
  builder.setInsertionPointToStart(&init.getBody().front());
  IRMapping mapping;
  for (Operation &op : forward.getBody().front()) {
    auto parameter = dyn_cast<ParameterOp>(op);
    if (!parameter || !parameter.getInitial())
      continue;
    auto slice = initialSlice(parameter);
    if (failed(slice))
      return failure();
    for (Operation *producer : *slice)
      if (!mapping.contains(producer->getResult(0)))
        builder.clone(*producer, mapping);
    AssignOp::create(builder, parameter.getLoc(), parameter.getName(),
                     mapping.lookup(parameter.getInitial()));
    parameter.getInitialMutable().clear();
  }
  func::ReturnOp::create(builder, forward.getLoc());
  return success();
}

struct Specialize : hybrid::impl::SpecializeBase<Specialize> {
  using SpecializeBase::SpecializeBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    Builder builder(&getContext());
    if (batch < 1 || length < 1) {
      module.emitError() << "cannot be specialized to batch " << batch.getValue() << " and length "
                         << length.getValue() << ": expected at least 1";
      return signalPassFailure();
    }
    if (precision != "f32" && precision != "f64") {
      module.emitError() << "precision '" << precision.getValue()
                         << "' is not known: expected f32 or f64";
      return signalPassFailure();
    }
    Type element = precision == "f64" ? Type(builder.getF64Type()) : Type(builder.getF32Type());
    if (!forward) {
      module.emitError() << "has no function @forward to specialize";
      return signalPassFailure();
    }
    if (failed(verifyStraightLine(forward)))
      return signalPassFailure();
    if (failed(Binder(&getContext(), batch, length, element).bindFunction(forward)))
      return signalPassFailure();
    if (module.lookupSymbol("init"))
      return;
    eraseUnused(forward);
    if (failed(splitInitialValues(module, forward)))
      return signalPassFailure();
  }
};
} // namespace
