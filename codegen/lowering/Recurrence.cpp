//===- Recurrence.cpp - a step of the model's own, position by position ------===//
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"
#include "passes/Fusion.h"
#include <cmath>

using namespace mlir;

namespace hybrid {
namespace {

/// Sequences of a work item: products read their weights once for all of them.
constexpr int64_t mostRows = 8;
/// The states before all positions are kept where they take no more than so many times what the
/// positions themselves do.
constexpr int64_t statesToKeep = 4;
/// From so many rows on weights are laid out for products with rows first: that costs one pass.
constexpr int64_t rowsForLayout = 8;

bool hasProduct(Region &body) {
  return !body.getOps<LinearOp>().empty() || !body.getOps<MatmulOp>().empty();
}

/// Elements of a frame, for a sequence: each value, what is copied at the end, and operands of
/// products that have to lie otherwise.
int64_t roomOf(Block &block) {
  int64_t elements = 0;
  for (Operation &op : block.without_terminator())
    for (Value result : op.getResults())
      elements += elementCount(result);
  for (auto product : block.getOps<MatmulOp>())
    elements += elementCount(product.getA()) + elementCount(product.getB());
  for (Value value : block.getTerminator()->getOperands())
    elements += elementCount(value);
  return elements;
}

/// What recurrence and its gradient have in common.
class Steps {
public:
  template <typename Op>
  Steps(Op op, Region &step, ProgramBuilder &program)
      : program(program), states(op.getStateCount()) {
    ArrayRef<int64_t> shape = shapeOf(op.getInputs().front());
    batch = shape[0], length = shape[1], element = elementOf(op.getInputs().front());
    for (BlockArgument state : step.getArguments().take_front(states))
      elements += elementCount(shapeOf(state));
    // Blocks of a GPU are many, and read weights from its cache.
    if (hasProduct(step) && program.device().kind == Device::Cpu)
      for (rows = std::min(batch, mostRows); batch % rows != 0;)
        --rows;
    for (Value input : op.getInputs()) {
      inputs.push_back(program.use(program.view(input)));
      perPosition += elementCount(shapeOf(input).drop_front(2));
    }
    for (Value invariant : op.getInvariants())
      invariants.push_back(program.view(invariant));
  }

  /// linear(x, w) -> matmul(x, wᵀ) with the transposed weights as one more invariant: a vector of
  /// the weights of all outputs lies in one place. The same in all regions.
  void layOutWeights(ArrayRef<Region *> regions) {
    if (length * rows < rowsForLayout)
      return;
    const auto first = static_cast<unsigned>(states + inputs.size());
    const size_t count = invariants.size();
    for (size_t i = 0; i < count; ++i) {
      SmallVector<LinearOp> products;
      for (Region *region : regions)
        for (auto linear : region->getOps<LinearOp>())
          if (linear.getWeight() == region->getArgument(first + static_cast<unsigned>(i)) &&
              !linear.getBias())
            products.push_back(linear);
      if (products.empty())
        continue;
      View weights = program.denseCopy(invariants[i].transposed({1, 0}));
      Type type = tensorOf(weights.shape, element);
      for (Region *region : regions)
        region->insertArgument(first + static_cast<unsigned>(invariants.size()), type,
                               region->getLoc());
      for (LinearOp linear : products) {
        OpBuilder builder(linear);
        Value laidOut = linear->getParentRegion()->getArgument(
            first + static_cast<unsigned>(invariants.size()));
        linear.replaceAllUsesWith(
            MatmulOp::create(builder, linear.getLoc(), linear.getX(), laidOut, false, false)
                .getResult());
        linear.erase();
      }
      invariants.push_back(weights);
    }
  }

  SmallVector<Value> uses() {
    return llvm::map_to_vector(invariants, [&](const View &view) { return program.use(view); });
  }
  int64_t items() const { return batch / rows; }
  Value frame(int64_t room) {
    return program.use(program.temporary({items(), std::max<int64_t>(1, rows * room)}, element));
  }

  ProgramBuilder &program;
  size_t states;
  int64_t batch = 0, length = 0, rows = 1, elements = 0, perPosition = 0;
  Type element;
  SmallVector<Value> inputs;
  SmallVector<View> invariants;
};

/// A region of the graph as one of the schedule, its elementwise ops in groups.
void moveRegion(Region &from, Region &to) {
  fuseElementwise(from.front());
  Operation *yield = from.front().getTerminator();
  OpBuilder end(yield);
  YieldElementsOp::create(end, yield->getLoc(), yield->getOperands());
  yield->erase();
  to.takeBody(from);
}

} // namespace

template <> LogicalResult lower(RecurrenceOp op, ProgramBuilder &program) {
  Steps steps(op, op.getBody(), program);
  steps.layOutWeights({&op.getBody()});
  Value result = program.use(program.define(op.getResult()));
  Value last = op.getReturnState() ? program.use(program.defineDense(op.getFinalState())) : Value();
  const int64_t room = roomOf(op.getBody().front()) + steps.elements;
  RecurrenceStepOp step = program.recurrence({steps.inputs,
                                              steps.uses(),
                                              program.optionalUse(op.getSegments()),
                                              program.optionalUse(op.getInitialState()),
                                              {},
                                              {},
                                              {result},
                                              {},
                                              last,
                                              steps.frame(room),
                                              {},
                                              steps.batch,
                                              steps.length,
                                              steps.rows,
                                              1});
  moveRegion(op.getBody(), step.getStep());
  return success();
}

template <> LogicalResult lower(RecurrenceGradOp op, ProgramBuilder &program) {
  Steps steps(op, op.getStep(), program);
  const size_t rowCount = op.getRowCount(), sumCount = static_cast<size_t>(op.getSums());
  steps.layOutWeights({&op.getStep(), &op.getGradient()});
  SmallVector<Value> rows, sums;
  SmallVector<View> partials;
  for (Value row : op.getGradients().take_front(rowCount))
    rows.push_back(program.use(program.define(row)));
  for (Value sum : op.getGradients().slice(rowCount, sumCount)) {
    SmallVector<int64_t> shape{steps.items()};
    llvm::append_range(shape, shapeOf(sum));
    partials.push_back(program.temporary(shape, steps.element));
    sums.push_back(program.use(partials.back()));
  }
  Value before =
      op.getInitialState() ? program.use(program.defineDense(op.getGradients().back())) : Value();
  const int64_t ofPosition =
      steps.perPosition + elementCount(shapeOf(op.getCotangent()).drop_front(2));
  int64_t kept = steps.length;
  if (steps.elements > statesToKeep * ofPosition)
    kept = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(steps.length))));
  const int64_t slots = kept + 1 + ceilDiv(steps.length, kept);
  View trajectory = program.temporary(
      {steps.items(), slots * steps.rows * std::max<int64_t>(1, steps.elements)}, steps.element);
  const int64_t room =
      std::max(roomOf(op.getStep().front()), roomOf(op.getGradient().front())) + 2 * steps.elements;
  RecurrenceStepOp step = program.recurrence(
      {steps.inputs, steps.uses(), program.optionalUse(op.getSegments()),
       program.optionalUse(op.getInitialState()), program.use(program.view(op.getCotangent())),
       program.optionalUse(op.getStateCotangent()), rows, sums, before, steps.frame(room),
       program.use(trajectory), steps.batch, steps.length, steps.rows, kept});
  moveRegion(op.getStep(), step.getStep());
  moveRegion(op.getGradient(), step.getGradient());
  for (auto [sum, partial] : llvm::zip_equal(op.getGradients().slice(rowCount, sumCount), partials))
    program.sumPartials(partial, steps.items(), elementCount(shapeOf(sum)),
                        program.defineDense(sum));
  return success();
}

} // namespace hybrid
