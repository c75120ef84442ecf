//===- StoreFusion.cpp - a kernel's result on its way to memory -------------===//
//
// What follows a kernel element by element (a rounding, a residual, a gate) is computed where the
// kernel would store: one pass over memory less. Where the result itself is needed later, both are
// stored: what is saved then is reading it.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/ScalarText.h"
#include "codegen/cuda/TextEmitter.h"
#include "dialect/Shapes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hybrid::cuda {

namespace {

/// A region that a kernel's result meets first, element for element: as it is, or under another
/// shape.
struct Follower {
  FusedOp op;
  SmallVector<Operation *> reshapes; // between the two
  Value seen;                        // the region's operand
  bool kept;                         // others use the result, too
};

/// The first user of `value`, if all are in one block with what makes it.
Operation *firstUser(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != value.getDefiningOp()->getBlock())
      return nullptr;
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// The region that can be computed where `result` is made: all else it needs is there by then.
std::optional<Follower> followerOf(Value result, ProgramBuilder &program) {
  if (program.inTiles())
    return std::nullopt;
  Follower follower{{}, {}, result, false};
  while (follower.seen.hasOneUse() && isa<ReshapeOp>(*follower.seen.user_begin())) {
    follower.reshapes.push_back(*follower.seen.user_begin());
    follower.seen = follower.reshapes.back()->getResult(0);
  }
  follower.kept = !follower.seen.hasOneUse();
  follower.op = dyn_cast_if_present<FusedOp>(firstUser(follower.seen));
  if (!follower.op || follower.op.getNumResults() == 0 ||
      shapeOf(follower.op.getResult(0)) != shapeOf(follower.seen))
    return std::nullopt;
  Operation *producer = result.getDefiningOp();
  for (Value operand : follower.op.getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (operand == follower.seen || !maker || isa<ParameterOp, ConstantOp>(maker))
      continue;
    if (maker->getBlock() != producer->getBlock() || !maker->isBeforeInBlock(producer))
      return std::nullopt;
  }
  return follower;
}

Store plainStore(Value result, ProgramBuilder &program) {
  View place = program.define(result);
  int64_t stride = *place.rowStride();
  return {{program.use(place)},
          stride,
          llvm::formatv("RowStore<{0}, {1}>", typeText(place.element), stride),
          ""};
}

} // namespace

Store CudaBackend::store(Value result, ProgramBuilder &program, bool kept) const {
  std::optional<Follower> follower = followerOf(result, program);
  if (!follower)
    return plainStore(result, program);
  FusedOp fused = follower->op;
  SmallVector<View> operands, results;
  bool reachable = true; // the region's elements by rows of the result
  auto add = [&](SmallVector<View> &to, const View &view) {
    std::optional<View> wide = view.broadcastTo(shapeOf(follower->seen));
    if (!follower->reshapes.empty())
      wide = wide->reshaped(shapeOf(result));
    reachable &= wide.has_value();
    to.push_back(wide.value_or(view));
  };
  Store store;
  size_t stored = 0;
  for (auto [i, operand] : llvm::enumerate(fused.getOperands())) {
    if (operand == follower->seen) {
      stored = i;
      continue;
    }
    View view = program.view(operand);
    store.buffers.push_back(program.use(view));
    add(operands, view);
  }
  for (Value value : fused.getResults()) {
    View place = program.define(value);
    store.buffers.push_back(program.use(place));
    add(results, place);
  }
  if (!reachable)
    return plainStore(result, program);
  if (kept || follower->kept) {
    results.push_back(program.define(result));
    store.buffers.push_back(program.use(results.back()));
  }
  for (Operation *reshape : follower->reshapes)
    if (!follower->kept)
      program.absorb(reshape);
  store.functor = emitStore(program.tables, &fused.getBody().front(), stored, operands, results);
  store.source = sourceName(fused);
  program.absorb(fused);
  return store;
}

} // namespace hybrid::cuda
