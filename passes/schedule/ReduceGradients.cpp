//===- ReduceGradients.cpp - a training step over several ranks -------------===//
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "passes/schedule/OpenStates.h"
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
    for (auto buffer : program.getOps<BufferOp>())
      if (auto of = buffer->getAttrOfType<StringAttr>(rankFactorAttribute))
        factors[of.getValue()] = buffer.getResult();
    for (Operation &op : program.getBody().front())
      if (isa<ScheduleStep, TileLoopOp>(op))
        steps.push_back(&op);
    isClosed = statesAreClosed(program, steps);
    for (const Finished &bucket : buckets()) {
      AllReduceOp op = reduce(bucket.values, bucket.last, /*mean=*/true, roundsToBf16, areWeighted);
      op.setToOwners(bucket.toOwners);
      op.setRelease(bucket.release);
    }
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
    int64_t bytes = 0;
    bool toOwners = false, release = false; // as all of them are marked
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
    // Small models too have something to send while they compute. What is done last nothing hides:
    // from the end on, buckets begin small and double.
    constexpr int64_t fewest = 4, doublings = 3;
    const int64_t wanted = std::min(bucketBytes, (all + fewest - 1) / fewest);
    std::vector<Finished> buckets;
    struct Open {
      std::optional<size_t> bucket;
      int64_t wanted;
    };
    Open those[2] = {{{}, wanted >> doublings}, {{}, wanted >> doublings}}; // to all, and to owners
    for (Gradient &gradient : llvm::reverse(gradients)) {
      const bool toOwners = gradient.buffer->hasAttr(toOwnersAttribute);
      Open &open = those[toOwners];
      if (open.bucket && buckets[*open.bucket].bytes >= open.wanted) {
        open.bucket.reset();
        open.wanted = std::min(2 * open.wanted, wanted);
      }
      if (!open.bucket) {
        open.bucket = buckets.size();
        buckets.emplace_back().last = gradient.last;
      }
      Finished &finished = buckets[*open.bucket];
      finished.toOwners = toOwners;
      finished.release = gradient.buffer->hasAttr(releaseAttribute);
      finished.values.push_back(gradient.buffer);
      finished.bytes += gradient.buffer.getBytes();
    }
    std::ranges::reverse(buckets);
    return buckets;
  }

  AllReduceOp reduce(ArrayRef<Value> values, Operation *behind, bool mean, bool rounded,
                     bool weighted = false) {
    Type element = viewOf(values.front()).element;
    SmallVector<Value> operands(values);
    const Value factor = mean ? factors.lookup(weighted ? ofWeighted : ofMean) : Value();
    if (mean) {
      operands.push_back(factor ? factor : weight);
      if (Operation *known = lastWrite(operands.back()); behind->isBeforeInBlock(known))
        behind = known;
    }
    behind = meetingPlace(steps, isClosed, behind);
    builder.setInsertionPointAfter(behind);
    auto op = AllReduceOp::create(builder, behind->getLoc(), operands, builder.getArrayAttr({}),
                                  element, rounded ? builder.getBF16Type() : element,
                                  mean && !factor, weighted && !factor, /*scaled=*/bool(factor),
                                  /*to_owners=*/false, /*release=*/false, source);
    begun.push_back(op);
    return op;
  }

  /// The last step that writes a value.
  Operation *lastWrite(Value value) {
    Operation *last = &program.getBody().front().front();
    for (const Access &access : usesOf(viewOf(value).buffer))
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
  llvm::StringMap<Value> factors; // of schedule-weigh-ranks
  SmallVector<Operation *> steps;
  std::vector<bool> isClosed; // before each step, and behind the last
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
