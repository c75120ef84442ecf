//===- AdamW.cpp - the optimizer --------------------------------------------===//
#include "codegen/kernels/AdamW.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"
#include "executable/OptimizerShards.h"

using namespace mlir;

namespace hybrid {

/// Where the work items of some chunks lie, as LaunchOp::getItemSpans(): an item is a chunk.
static SmallVector<int64_t> spansOf(ArrayRef<ParameterChunk> chunks, int64_t bytes) {
  SmallVector<int64_t> spans;
  int64_t next = -1; // where the span goes on
  for (auto [item, chunk] : llvm::enumerate(chunks)) {
    const int64_t at = chunk.offset * bytes, size = chunk.count * bytes;
    if (at != next || size != spans.back())
      spans.append({static_cast<int64_t>(item), at, size});
    next = at + size;
  }
  return spans;
}

template <> LogicalResult lower(AdamWOp op, ProgramBuilder &program) {
  Type element = elementOf(op.getGradientNorm());
  int64_t bytes = bytesOf(element);
  const int64_t elements = program.wholeSpace(Space::Gradients, element).elements(),
                piece = program.ask<AdamWPiece>(element, AdamWParams{0, elements},
                                                static_cast<int64_t>(shardStripe) / bytes);
  std::vector<ParameterChunk> chunks, others;
  // Those that programs of their own update count for the norm only.
  auto programmed = op->getAttrOfType<ArrayAttr>("hybrid.programmed");
  for (auto name : op.getParameters().getAsRange<StringAttr>()) {
    if (failed(program.tables.checkParameter(op, name)))
      return failure();
    auto &list = programmed && llvm::is_contained(programmed, name) ? others : chunks;
    const ModuleTables::Parameter &parameter = program.tables.parameters.find(name)->second;
    int64_t count = parameter.type.getNumElements();
    // What a work item updates lies in one stripe, so that it is one rank's.
    const int64_t begin = parameter.offset / bytes;
    for (int64_t at = begin, next; at < begin + count; at = next) {
      next = std::min(begin + count, (at / piece + 1) * piece);
      list.push_back(
          {at, next - at, parameter.decay ? 1.0 : 0.0, parameter.lrScale.getValueAsDouble()});
    }
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
  AdamWParams params{grid, elements};
  View partial = program.temporary({grid}, Float64Type::get(op.getContext())),
       norm = program.defineDense(op.getGradientNorm());
  auto launch = program.launch<SquaredNorm>(element, params, {table, gradients, partial});
  const bool isShared = program.tables.options.shardOptimizer;
  if (isShared)
    launch.setItemSpans(spansOf(chunks, bytes));
  program.launch<GradientNorm>(element, params, {partial, norm});
  if (updated == 0)
    return success();
  launch =
      program.launch<AdamW>(element, AdamWParams{updated, elements},
                            {table, program.view(op.getHyper()), norm, whole(Space::Parameters),
                             gradients, whole(Space::Moment1), whole(Space::Moment2)});
  if (isShared)
    launch.setItemSpans(spansOf(ArrayRef(chunks).take_front(updated), bytes));
  return success();
}

} // namespace hybrid
