//===- OptimizerPrograms.cpp - the update as a program of the model's --------===//
//
// What becomes of a parameter is computed last, by one region that writes parameter and states in
// place, and writes nothing when the gradients' norm is not finite: the step that made it can be
// looked at.
//
//===----------------------------------------------------------------------===//
#include "passes/OptimizerPrograms.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/BindSizes.h"
#include "passes/ParameterSlots.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace hybrid;

namespace {

constexpr StringRef stateSlots[] = {"moment1", "moment2"};

/// Parameters that a program takes together: one in its shape, or a stretch of memory of some.
struct Stretch {
  SmallVector<ParameterOp> parameters;
  bool flat;

  bool decay() { return parameters.front().getDecay(); }
  FloatAttr lrScale() { return parameters.front().getLrScaleAttr(); }
  bool treatsAlike(ParameterOp other) {
    return decay() == other.getDecay() && lrScale() == other.getLrScaleAttr();
  }

  /// Elements from the start of the first to the end of the last.
  int64_t elements(int64_t bytesOfElement) {
    int64_t count = 0;
    for (ParameterOp parameter : ArrayRef(parameters).drop_back())
      count += parameterStride(elementCount(parameter) * bytesOfElement) / bytesOfElement;
    return count + elementCount(parameters.back());
  }
};

bool isElementwise(Operation *op) {
  return op->hasTrait<FusableElementwise>() && isa<FloatType>(elementOf(op->getResult(0)));
}

class UpdateWriter {
public:
  UpdateWriter(func::FuncOp forward, Type element)
      : forward(forward), element(element), builder(forward.getContext()),
        number(tensorOf({}, element)) {
    for (auto parameter : forward.getOps<ParameterOp>())
      if (parameter.getTrainable())
        parameters.insert({parameter.getNameAttr(), parameter});
  }

  LogicalResult write(ArrayRef<func::FuncOp> programs) {
    begin(programs);
    for (func::FuncOp program : programs) {
      const bool anyShape = program->hasAttr("hybrid.any_shape");
      if (anyShape && failed(checkElementwise(program)))
        return failure();
      for (Stretch &stretch : stretchesOf(program, anyShape))
        if (failed(instantiate(program, stretch)))
          return failure();
    }
    func::ReturnOp::create(builder, update.getLoc(), norm);
    return success();
  }

private:
  static SmallVector<StringAttr> namesOf(func::FuncOp program) {
    return llvm::to_vector(
        program->getAttrOfType<ArrayAttr>("hybrid.parameters").getAsRange<StringAttr>());
  }

  /// The function with its inputs, and the norm of all gradients.
  void begin(ArrayRef<func::FuncOp> programs) {
    builder.setInsertionPointAfter(forward);
    Location loc = forward.getLoc();
    auto hyper = tensorOf({8}, builder.getF64Type());
    update = func::FuncOp::create(
        builder, loc, "update",
        builder.getFunctionType({hyper, number, number, number, number}, {number}));
    Block *body = update.addEntryBlock();
    const StringRef inputs[] = {"hyper", "learning_rate", "weight_decay", "step", "clip_norm"};
    for (auto [i, name] : llvm::enumerate(inputs))
      update.setArgAttr(static_cast<unsigned>(i), "hybrid.name", builder.getStringAttr(name));
    update.setResultAttr(0, "hybrid.name", builder.getStringAttr("gradient_norm"));
    builder.setInsertionPointToStart(body);
    SmallVector<Attribute> names, programmed;
    for (auto &[name, parameter] : parameters)
      names.push_back(name);
    for (func::FuncOp program : programs)
      for (StringAttr name : namesOf(program))
        if (parameters.count(name))
          programmed.push_back(name);
    auto adamw =
        AdamWOp::create(builder, loc, number, body->getArgument(0), builder.getArrayAttr(names));
    adamw->setAttr("hybrid.programmed", builder.getArrayAttr(programmed));
    norm = adamw.getGradientNorm();
    // min(1, clip / (norm + 1e-6)), as AdamW clips.
    Value ratio = binary(BinaryKind::Div, body->getArgument(4),
                         binary(BinaryKind::Add, norm, constant(1e-6)));
    clipping = binary(BinaryKind::Min, constant(1), ratio);
  }

  Value binary(BinaryKind kind, Value a, Value b) {
    return BinaryOp::create(builder, a.getLoc(), kind, a, b);
  }
  Value constant(double value) {
    return ConstantOp::create(builder, forward.getLoc(), number, builder.getF64FloatAttr(value));
  }

  /// Without a shape of its own a program sees a stretch of many tensors as one.
  static LogicalResult checkElementwise(func::FuncOp program) {
    for (Operation &op : program.getBody().front().without_terminator())
      if (!isElementwise(&op) && !isa<ConstantOp>(op)) {
        InFlightDiagnostic diagnostic =
            op.emitError() << "'" << op.getName().stripDialect()
                           << "' in an optimizer for tensors of any shape: such a one computes "
                              "each element alone";
        diagnostic.attachNote(program.getLoc())
            << "give p its dimensions, as in 'p: [R, C]', for an optimizer of whole tensors";
        return diagnostic;
      }
    return success();
  }

  /// What the model does not use is gone by now.
  SmallVector<Stretch> stretchesOf(func::FuncOp program, bool together) {
    SmallVector<Stretch> stretches;
    for (StringAttr name : namesOf(program)) {
      auto found = parameters.find(name);
      if (found == parameters.end())
        continue;
      auto *alike =
          together
              ? llvm::find_if(stretches,
                              [&](Stretch &stretch) { return stretch.treatsAlike(found->second); })
              : stretches.end();
      if (alike == stretches.end())
        stretches.push_back({{found->second}, together});
      else
        alike->parameters.push_back(found->second);
    }
    return stretches;
  }

  LogicalResult instantiate(func::FuncOp program, Stretch &stretch) {
    const int64_t count = stretch.elements(element.getIntOrFloatBitWidth() / 8);
    OpBuilder beside(program);
    auto bound = cast<func::FuncOp>(beside.clone(*program));
    LogicalResult fits = bindSizes(bound, stretch.flat ? count : 1, 1, element);
    if (succeeded(fits))
      fits = inlineProgram(bound, stretch);
    bound.erase();
    return fits;
  }

  LogicalResult inlineProgram(func::FuncOp bound, Stretch &stretch) {
    Block &body = bound.getBody().front();
    Operation *ret = body.getTerminator();
    const size_t states = ret->getNumOperands() - 1;
    auto type = cast<RankedTensorType>(body.getArgument(0).getType());
    IRMapping mapping;
    SmallVector<Value> old{read(stretch, type, {})};
    for (size_t i = 0; i < states; ++i)
      old.push_back(read(stretch, type, stateSlots[i]));
    Value gradient = binary(BinaryKind::Mul, read(stretch, type, "gradients"), clipping);
    Value rate = update.getArgument(1), decay = constant(0);
    if (!stretch.lrScale().getValue().isExactlyValue(1))
      rate = binary(BinaryKind::Mul, rate, constant(stretch.lrScale().getValueAsDouble()));
    if (stretch.decay())
      decay = update.getArgument(2);
    SmallVector<Value> arguments{old[0], gradient};
    arguments.append(old.begin() + 1, old.end());
    arguments.append({rate, decay, update.getArgument(3)});
    for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
      mapping.map(argument, value);
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    SmallVector<Value> next;
    for (Value value : ret->getOperands())
      next.push_back(mapping.lookup(value));
    return writeInPlace(bound, stretch, old, next);
  }

  ParameterOp read(Stretch &stretch, RankedTensorType type, StringRef slot) {
    ParameterOp first = stretch.parameters.front();
    auto op =
        ParameterOp::create(builder, first.getLoc(), type, nameOf(stretch), Value(),
                            first.getTrainableAttr(), first.getDecayAttr(), first.getLrScaleAttr());
    mark(op, stretch, slot);
    return op;
  }

  StringAttr nameOf(Stretch &stretch) {
    StringAttr first = stretch.parameters.front().getNameAttr();
    return !stretch.flat ? first
                         : builder.getStringAttr(first.getValue() + " ... " +
                                                 stretch.parameters.back().getName());
  }

  void mark(Operation *op, Stretch &stretch, StringRef slot) {
    if (!slot.empty())
      op->setAttr("hybrid.slot", builder.getStringAttr(slot));
    SmallVector<Attribute> names;
    for (ParameterOp parameter : stretch.parameters)
      names.push_back(parameter.getNameAttr());
    if (stretch.flat)
      op->setAttr("hybrid.parameters", builder.getArrayAttr(names));
  }

  /// The new values as results of one region, whose elementwise ops are all that lead to them.
  LogicalResult writeInPlace(func::FuncOp bound, Stretch &stretch, ArrayRef<Value> old,
                             ArrayRef<Value> next) {
    ArrayRef<int64_t> shape = shapeOf(old.front());
    llvm::SetVector<Operation *> inside;
    llvm::SmallSetVector<Value, 8> outside;
    std::function<void(Value)> visit = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (op && isa<ConstantOp>(op)) {
        inside.insert(op);
      } else if (!op || !isElementwise(op) || shapeOf(value) != shape) {
        outside.insert(value);
      } else if (!inside.contains(op)) {
        for (Value operand : op->getOperands())
          visit(operand);
        inside.insert(op);
      }
    };
    llvm::for_each(next, visit);
    for (Value value : outside)
      if (!llvm::is_contained(old, value) && showsAny(value, old))
        return bound.emitError() << "this optimizer adds up a parameter or a state and what it is "
                                    "in another order or in part; its new value is written in "
                                    "place, element by element";
    outside.insert(norm);
    SmallVector<Value> operands(outside.begin(), outside.end());
    auto region = FusedOp::create(builder, bound.getLoc(), ValueRange(next).getTypes(), operands);
    const auto guard = llvm::find(operands, norm) - operands.begin();
    region->setAttr("hybrid.if_finite", builder.getI64IntegerAttr(guard));
    {
      OpBuilder::InsertionGuard restored(builder);
      Block *body = builder.createBlock(&region.getBody());
      IRMapping mapping;
      for (Value operand : operands)
        mapping.map(operand, body->addArgument(operand.getType(), operand.getLoc()));
      for (Operation *op : inside)
        builder.clone(*op, mapping);
      SmallVector<Value> yielded;
      for (Value value : next)
        yielded.push_back(mapping.lookup(value));
      YieldOp::create(builder, bound.getLoc(), yielded);
    }
    for (auto [i, value] : llvm::enumerate(region.getResults())) {
      auto assign = AssignOp::create(builder, bound.getLoc(), nameOf(stretch), value);
      mark(assign, stretch, i == 0 ? StringRef() : stateSlots[i - 1]);
    }
    return success();
  }

  /// Whether a value is a view of one of these.
  static bool showsAny(Value value, ArrayRef<Value> these) {
    while (value.getDefiningOp() && value.getDefiningOp()->hasTrait<ViewOfOperand>()) {
      value = value.getDefiningOp()->getOperand(0);
      if (llvm::is_contained(these, value))
        return true;
    }
    return false;
  }

  func::FuncOp forward;
  Type element;
  OpBuilder builder;
  Type number;
  llvm::MapVector<StringAttr, ParameterOp> parameters;
  func::FuncOp update;
  Value norm, clipping;
};

} // namespace

LogicalResult hybrid::instantiateOptimizers(ModuleOp module, func::FuncOp forward, Type element) {
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("hybrid.optimizer"))
      programs.push_back(function);
  if (programs.empty())
    return success();
  LogicalResult written = UpdateWriter(forward, element).write(programs);
  for (func::FuncOp program : programs)
    program.erase();
  return written;
}
