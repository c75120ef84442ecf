//===- AdamW.cpp - the optimizer --------------------------------------------===//
#include "codegen/kernels/AdamW.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// Elements one work item of the optimizer updates: a few pages of each of the four arrays.
static constexpr int64_t chunkElements = 8192;

template <> LogicalResult lower(AdamWOp op, ProgramBuilder &program) {
  Type element = elementOf(op.getGradientNorm());
  int64_t bytes = bytesOf(element);
  std::vector<ParameterChunk> chunks, others;
  // Those that programs of their own update count for the norm only.
  auto programmed = op->getAttrOfType<ArrayAttr>("hybrid.programmed");
  for (auto name : op.getParameters().getAsRange<StringAttr>()) {
    if (failed(program.tables.checkParameter(op, name)))
      return failure();
    auto &list = programmed && llvm::is_contained(programmed, name) ? others : chunks;
    const ModuleTables::Parameter &parameter = program.tables.parameters.find(name)->second;
    int64_t count = parameter.type.getNumElements();
    for (int64_t at = 0; at < count; at += chunkElements)
      list.push_back({parameter.offset / bytes + at, std::min(chunkElements, count - at),
                      parameter.decay ? 1.0 : 0.0, parameter.lrScale.getValueAsDouble()});
  }
  const auto updated = static_cast<int64_t>(chunks.size());
  chunks.insert(chunks.end(), others.begin(), others.end());
  auto whole = [&](Space space) { return program.use(program.wholeSpace(space, element)); };
  ArrayRef<char> data(reinterpret_cast<const char *>(chunks.data()),
                      chunks.size() * sizeof(ParameterChunk));
  BufferUse table = program.use(program.constant({static_cast<int64_t>(data.size())},
                                                 IntegerType::get(op.getContext(), 8), data)),
            gradients = whole(Space::Gradients);
  int64_t grid = static_cast<int64_t>(chunks.size());
  const int64_t elements = program.wholeSpace(Space::Gradients, element).elements();
  AdamWParams params{grid, elements};
  View partial = program.temporary({grid}, Float64Type::get(op.getContext())),
       norm = program.defineDense(op.getGradientNorm());
  program.launch<SquaredNorm>(element, params, {table, gradients, partial});
  program.launch<GradientNorm>(element, params, {partial, norm});
  if (updated == 0)
    return success();
  program.launch<AdamW>(element, AdamWParams{updated, elements},
                        {table, program.view(op.getHyper()), norm, whole(Space::Parameters),
                         gradients, whole(Space::Moment1), whole(Space::Moment2)});
  return success();
}

} // namespace hybrid
