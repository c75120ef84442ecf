//===- LowerTraining.cpp - initial values, losses and the optimizer ---------===//
#include "codegen/kernels/Kernels.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/Shapes.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace hybrid {

LogicalResult lower(RandomOp op, ProgramBuilder &program) {
  auto seed = program.function.getNumArguments() ? program.function.getArgument(0) : Value();
  if (program.function.getSymName() != "init" || !seed)
    return op.emitOpError() << "draws values outside of an initial value: random values exist only "
                               "in `param(..., init = ...)`";
  View out = program.defineDense(op.getResult());
  RandomParams params{out.elements(), static_cast<int64_t>(llvm::xxh3_64bits(op.getStream())),
                      static_cast<int64_t>(op.getDistribution()), op.getA().convertToDouble(),
                      op.getB().convertToDouble()};
  program.launch("random", out.element, ceilDiv(params.elements, 1024), wordsOf(params),
                 {program.use(program.view(seed)), program.use(out)});
  return success();
}

LogicalResult lower(IotaOp op, ProgramBuilder &program) {
  int64_t count = shapeOf(op.getResult())[0];
  Type element = elementOf(op.getResult());
  double start = op.getStart().convertToDouble(), step = op.getStep().convertToDouble();
  std::vector<char> bytes(count * bytesOf(element));
  for (int64_t i = 0; i < count; ++i) {
    double value = start + static_cast<double>(i) * step;
    if (element.isF64())
      reinterpret_cast<double *>(bytes.data())[i] = value;
    else
      reinterpret_cast<float *>(bytes.data())[i] = static_cast<float>(value);
  }
  View view;
  view.shape = {count};
  view.strides = {1};
  view.element = element;
  view.storage = program.addStorage(
      {Space::Constants, static_cast<int64_t>(bytes.size()), program.tables.addConstant(bytes)});
  program.alias(op.getResult(), view);
  return success();
}

LogicalResult lower(AssignOp op, ProgramBuilder &program) {
  const ModuleTables::Parameter &parameter =
      program.tables.parameters.find(op.getNameAttr())->second;
  View value = program.view(op.getValue());
  const Storage &storage = program.storage(value.storage);
  if (storage.space == Space::Parameters && storage.offset == parameter.offset)
    return success(); // computed in place
  View place;
  place.shape.assign(parameter.type.getShape().begin(), parameter.type.getShape().end());
  place.strides = denseStrides(place.shape);
  place.element = value.element;
  place.storage = program.addStorage(
      {Space::Parameters, place.elements() * bytesOf(place.element), parameter.offset});
  program.copy(value, place);
  return success();
}

LogicalResult lower(CrossEntropyOp op, ProgramBuilder &program) {
  CrossEntropyParams params{};
  View logits = program.rows(op.getLogits(), params.logitsStride);
  params.classes = logits.shape.back(), params.rows = logits.elements() / params.classes;
  params.rowsPerItem = program.rowsPerItem(params.rows);
  params.ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex()),
  params.hasWeights = !!op.getWeights();
  params.labelSmoothing = op.getLabelSmoothing().convertToDouble();
  int64_t grid = ceilDiv(params.rows, params.rowsPerItem);
  View partial = program.temporary({grid, 3}, logits.element);
  program.launch("cross_entropy_forward", logits.element, grid, wordsOf(params),
                 {program.use(logits), program.optionalUse(op.getTargets()),
                  program.optionalUse(op.getWeights()), program.use(partial)});
  View loss = program.defineDense(op.getLoss()),
       totalWeight = program.defineDense(op.getTotalWeight()),
       correct = program.defineDense(op.getCorrect());
  program.afterTiles([=, &program] {
    program.launch(
        "cross_entropy_finish", partial.element, 1, wordsOf(params),
        {program.use(partial), program.use(loss), program.use(totalWeight), program.use(correct)});
  });
  return success();
}

LogicalResult lower(TargetWeightOp op, ProgramBuilder &program) {
  CrossEntropyParams params{};
  View targets = program.dense(op.getTargets()), total = program.defineDense(op.getResult());
  params.rows = targets.elements();
  params.ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex());
  params.hasWeights = !!op.getWeights();
  program.launch("target_weight", total.element, 1, wordsOf(params),
                 {program.use(targets), program.optionalUse(op.getWeights()), program.use(total)});
  return success();
}

LogicalResult lower(CrossEntropyGradOp op, ProgramBuilder &program) {
  CrossEntropyParams params{};
  View logits = program.rows(op.getLogits(), params.logitsStride);
  SmallVector<BufferUse> operands{program.use(logits), program.optionalUse(op.getTargets()),
                                  program.optionalUse(op.getWeights()),
                                  program.optionalUse(op.getTotalWeight()),
                                  program.optionalUse(op.getCotangent())};
  Store dlogits = program.storeOf(op.getDlogits());
  params.classes = logits.shape.back(), params.rows = logits.elements() / params.classes;
  params.rowsPerItem = program.rowsPerItem(params.rows);
  params.dLogitsStride = dlogits.stride;
  params.ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex()),
  params.hasWeights = !!op.getWeights();
  params.labelSmoothing = op.getLabelSmoothing().convertToDouble();
  program.launch("cross_entropy_backward", logits.element, params.rows, wordsOf(params), operands,
                 dlogits);
  return success();
}

/// Elements one work item of the optimizer updates: a few pages of each of the four arrays.
static constexpr int64_t chunkElements = 8192;

LogicalResult lower(AdamWOp op, ProgramBuilder &program) {
  Type element = elementOf(op.getGradientNorm());
  int64_t bytes = bytesOf(element);
  std::vector<ParameterChunk> chunks;
  for (auto name : op.getParameters().getAsRange<StringAttr>()) {
    const ModuleTables::Parameter &parameter = program.tables.parameters.find(name)->second;
    int64_t count = parameter.type.getNumElements();
    ParameterOp declaration = parameter.op;
    for (int64_t at = 0; at < count; at += chunkElements)
      chunks.push_back({parameter.offset / bytes + at, std::min(chunkElements, count - at),
                        declaration.getDecay() ? 1.0 : 0.0,
                        declaration.getLrScale().convertToDouble()});
  }
  auto constant = [&](ArrayRef<char> data) {
    BufferUse use;
    use.storage = program.addStorage(
        {Space::Constants, static_cast<int64_t>(data.size()), program.tables.addConstant(data)});
    use.bytes = static_cast<int64_t>(data.size());
    return use;
  };
  auto whole = [&](Space space) {
    BufferUse use;
    use.storage = program.addStorage({space, program.tables.parameterBytes, 0});
    use.bytes = program.tables.parameterBytes;
    return use;
  };
  int64_t grid = static_cast<int64_t>(chunks.size());
  BufferUse table = constant(ArrayRef(reinterpret_cast<const char *>(chunks.data()),
                                      chunks.size() * sizeof(ParameterChunk)));
  BufferUse gradients = whole(Space::Gradients);
  AdamWParams params{grid};
  View partial = program.temporary({grid}, Float64Type::get(op.getContext())),
       norm = program.defineDense(op.getGradientNorm());
  program.launch("squared_norm", element, grid, wordsOf(params),
                 {table, gradients, program.use(partial)});
  program.launch("gradient_norm", element, 1, wordsOf(params),
                 {program.use(partial), program.use(norm)});
  program.launch("adamw", element, grid, wordsOf(params),
                 {table, program.use(program.view(op.getHyper())), program.use(norm),
                  whole(Space::Parameters), gradients, whole(Space::Moment1),
                  whole(Space::Moment2)});
  return success();
}

} // namespace hybrid
