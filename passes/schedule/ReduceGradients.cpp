//===- ReduceGradients.cpp - a training step over several ranks -------------===//
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "passes/schedule/SchedulePasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_REDUCEGRADIENTS
#include "passes/schedule/Passes.h.inc"

namespace {

class Reductions {
public:
  Reductions(ProgramOp program, int64_t bucketBytes, bool roundsToBf16, bool areWeighted)
      : program(program), builder(program.getContext()), bucketBytes(bucketBytes),
        roundsToBf16(roundsToBf16), areWeighted(areWeighted) {}

  LogicalResult run() {
    for (auto output : program.getOps<OutputOp>())
      outputs[output.getName()] = output.getValue();
    for (StringRef name : {"loss", "weight", "correct"})
      if (!outputs.lookup(name))
        return program.emitOpError() << "has no output '" << name
                                     << "': only the training of a model with a loss is reduced";
    weight = outputs.lookup("weight");
    for (const Finished &bucket : buckets())
      reduce(bucket.values, bucket.last, /*mean=*/true, roundsToBf16, areWeighted);
    reduce({outputs.lookup("loss")}, lastUse({outputs.lookup("loss"), weight}), /*mean=*/true,
           /*rounded=*/false);
    // Behind all means, which take this rank's weight.
    Operation *end = begun.front();
    for (Operation &op : program.getBody().front())
      if (isa<ScheduleStep, TileLoopOp>(op))
        end = &op;
    reduce({weight, outputs.lookup("correct")}, end, /*mean=*/false, /*rounded=*/false);
    await();
    return success();
  }

  unsigned count() const { return static_cast<unsigned>(begun.size()); }

private:
  struct Finished {
    SmallVector<Value> values;
    Operation *last = nullptr;
  };

  /// The step of the program that an op is, or is inside of.
  Operation *stepOf(Operation *op) {
    while (op->getParentOp() != program.getOperation())
      op = op->getParentOp();
    return op;
  }

  /// The last step that touches one of them; null where none does.
  Operation *lastUse(ArrayRef<Value> values) {
    Operation *last = nullptr;
    for (Value value : values)
      for (const Access &access : usesOf(viewOf(value).buffer)) {
        Operation *step = stepOf(access.step);
        if (isa<OutputOp>(step))
          continue;
        if (!last || last->isBeforeInBlock(step))
          last = step;
      }
    return last;
  }

  /// Gradients in the order in which they are done, in parts of about the same size.
  std::vector<Finished> buckets() {
    struct Gradient {
      BufferOp buffer;
      Operation *last;
    };
    SmallVector<Gradient> gradients;
    int64_t all = 0;
    for (auto buffer : program.getOps<BufferOp>())
      if (buffer.getSpace() == Space::Gradients)
        if (Operation *last = lastUse({buffer.getResult()})) {
          gradients.push_back({buffer, last});
          all += buffer.getBytes();
        }
    llvm::stable_sort(gradients, [](const Gradient &a, const Gradient &b) {
      return a.last != b.last && a.last->isBeforeInBlock(b.last);
    });
    // Small models too have something to send while they compute.
    constexpr int64_t fewest = 4;
    const int64_t wanted = std::min(bucketBytes, (all + fewest - 1) / fewest);
    std::vector<Finished> buckets;
    int64_t bytes = 0;
    for (Gradient &gradient : gradients) {
      if (buckets.empty() || bytes >= wanted) {
        buckets.emplace_back();
        bytes = 0;
      }
      buckets.back().values.push_back(gradient.buffer);
      buckets.back().last = gradient.last;
      bytes += gradient.buffer.getBytes();
    }
    return buckets;
  }

  void reduce(ArrayRef<Value> values, Operation *behind, bool mean, bool rounded,
              bool weighted = false) {
    Type element = viewOf(values.front()).element;
    SmallVector<Value> operands(values);
    if (mean) {
      operands.push_back(weight);
      if (behind->isBeforeInBlock(weighed()))
        behind = weighed();
    }
    behind = withoutOpenStates(behind);
    builder.setInsertionPointAfter(behind);
    auto op =
        AllReduceOp::create(builder, behind->getLoc(), operands, builder.getArrayAttr({}), element,
                            rounded ? builder.getBF16Type() : element, mean, weighted, source);
    begun.push_back(op);
  }

  /// This step or the first behind it where every state that was taken has been handed on. In
  /// between, a rank waits for one that waits for the rank before it to reduce, which comes to that
  /// later.
  Operation *withoutOpenStates(Operation *behind) {
    int64_t open = 0;
    bool isBehind = false;
    for (Operation &op : program.getBody().front()) {
      if (auto exchange = dyn_cast<ExchangeOp>(op))
        switch (exchange.getPattern()) {
        case RankPattern::FromNext:
        case RankPattern::FromPrevious:
          ++open;
          break;
        case RankPattern::ToNext:
        case RankPattern::ToPrevious:
          --open;
          break;
        case RankPattern::All:
        case RankPattern::Place:
          break;
        }
      isBehind |= &op == behind;
      if (isBehind && open == 0)
        return &op;
    }
    return behind;
  }

  /// The last step that writes the weight.
  Operation *weighed() {
    Operation *last = &program.getBody().front().front();
    for (const Access &access : usesOf(viewOf(weight).buffer))
      if (access.written && last->isBeforeInBlock(stepOf(access.step)))
        last = stepOf(access.step);
    return last;
  }

  void await() {
    llvm::SetVector<Value> values;
    for (AllReduceOp op : begun)
      values.insert(op.getViews().begin(), op.getViews().end());
    builder.setInsertionPointAfter(begun.back());
    AwaitOp::create(builder, begun.back().getLoc(), values.getArrayRef(), builder.getArrayAttr({}),
                    source);
  }

  ProgramOp program;
  OpBuilder builder;
  int64_t bucketBytes;
  bool roundsToBf16, areWeighted;
  llvm::StringMap<Value> outputs;
  Value weight;
  SmallVector<AllReduceOp> begun;
  static constexpr llvm::StringLiteral source = "data_parallel";
};

struct ReduceGradients : impl::ReduceGradientsBase<ReduceGradients> {
  using ReduceGradientsBase::ReduceGradientsBase;
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (program.getSymName() != "train")
      return;
    if (bucketBytes < 1 || (wire != "f32" && wire != "bf16")) {
      program.emitOpError() << "is to be reduced in parts of " << bucketBytes << " bytes sent as '"
                            << wire << "', expected some bytes, and f32 or bf16";
      return signalPassFailure();
    }
    Reductions reductions(program, bucketBytes, wire == "bf16", weighted);
    if (failed(reductions.run()))
      return signalPassFailure();
    numReductions += reductions.count();
  }
};

} // namespace
} // namespace hybrid
