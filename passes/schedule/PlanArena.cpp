//===- PlanArena.cpp - every buffer gets its place --------------------------===//
#include "dialect/Shapes.h"
#include "dialect/schedule/LocationText.h"
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "dialect/schedule/TransformOps.h"
#include "mlir/IR/Iterators.h"
#include "passes/schedule/ArenaLifetimes.h"
#include "passes/schedule/SchedulePasses.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_PLANARENA
#include "passes/schedule/Passes.h.inc"

namespace {

/// Parts of a full arena that a program names.
constexpr size_t mostLargest = 8;

class Placement {
public:
  explicit Placement(ProgramOp program)
      : program(program), builder(program.getContext()), steps(stepsOf(program)) {}

  /// Fails where a step has no kernel yet.
  LogicalResult run() {
    if (failed(checkSteps()))
      return failure();
    findPause();
    ArenaLifetimes lifetimes(program, steps, pause > 0);
    const int64_t arenaBytes = lifetimes.place(StepOrder(steps));
    program->setAttr("schedule.largest", largestAtPeak(lifetimes.times()));
    if (pause)
      program->setAttr("schedule.pause", builder.getI64IntegerAttr(pause));
    for (auto [buffer, lifetime] : llvm::zip(lifetimes.buffers(), lifetimes.times()))
      BufferOp(buffer).setAt(lifetime.offset);
    nameBuffers();
    program.setArenaBytes(arenaBytes);
    return success();
  }

private:
  /// Behind how many steps all outputs but gradients are written, where no cotangent is read
  /// before.
  void findPause() {
    llvm::DenseSet<Operation *> outputs;
    for (auto output : program.getOps<OutputOp>())
      if (!output.getName().starts_with("grad."))
        outputs.insert(viewOf(output.getValue()).buffer.getDefiningOp());
    int64_t count = 0, written = 0;
    std::optional<int64_t> read; // the first step that reads a cotangent
    for (Operation *step : steps) {
      ++count;
      for (const Access &access : accessesOf(step)) {
        auto buffer = access.view.buffer.getDefiningOp<BufferOp>();
        if (access.written && outputs.contains(buffer))
          written = count;
        if (!read && buffer && buffer.isInput() && buffer.getName()->starts_with("cotangent."))
          read = count;
      }
    }
    if (read && written < *read)
      pause = written;
  }

  LogicalResult checkSteps() {
    WalkResult walked = program.walk([&](ScheduleStep step) {
      if (isa<LaunchOp, LibraryMatmulOp, LibraryAttentionOp, LibraryFftOp>(step.getOperation()) ||
          isOverRanks(step))
        return WalkResult::advance();
      step->emitOpError() << "has no kernel: emit kernels before the arena is planned";
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted() || failed(verifyBranches(steps)));
  }

  /// What fills the arena where it is fullest, by the order of the program: op, location and bytes
  /// of the largest buffers.
  ArrayAttr largestAtPeak(ArrayRef<Lifetime> planned) {
    std::vector<int64_t> change(steps.size() + 3);
    for (const Lifetime &lifetime : planned) {
      change[lifetime.first + 1] += lifetime.bytes;
      change[lifetime.last + 2] -= lifetime.bytes;
    }
    int64_t live = 0, most = -1, peak = 0;
    for (auto [i, bytes] : llvm::enumerate(change)) {
      live += bytes;
      if (live > most)
        most = live, peak = static_cast<int64_t>(i) - 1;
    }
    SmallVector<const Lifetime *> alive;
    for (const Lifetime &lifetime : planned)
      if (lifetime.first <= peak && peak <= lifetime.last)
        alive.push_back(&lifetime);
    llvm::sort(alive, [](const Lifetime *a, const Lifetime *b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
    });
    SmallVector<Attribute> parts;
    for (const Lifetime *lifetime : ArrayRef(alive).take_front(mostLargest)) {
      bool isInput = lifetime->first < 0;
      ScheduleStep maker = isInput ? ScheduleStep() : firstOf(steps[lifetime->first]);
      parts.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("op", builder.getStringAttr(isInput ? "input" : maker.getSource())),
           builder.getNamedAttr("location",
                                builder.getStringAttr(isInput ? "" : locationText(maker.getLoc()))),
           builder.getNamedAttr("bytes", builder.getI64IntegerAttr(lifetime->bytes))}));
    }
    return builder.getArrayAttr(parts);
  }

  static ScheduleStep firstOf(Operation *step) {
    ScheduleStep first;
    step->walk<WalkOrder::PreOrder>([&](ScheduleStep inner) {
      first = inner;
      return WalkResult::interrupt();
    });
    return first;
  }

  static BufferOp bufferOf(const View &view) {
    return view.isPresent() ? view.buffer.getDefiningOp<BufferOp>() : BufferOp();
  }

  /// The place of a view; `rowBytes` is the distance of its rows in a tile's buffer, else 0.
  BufferAttr placeOf(const View &view, int64_t &rowBytes) {
    rowBytes = 0;
    BufferOp buffer = bufferOf(view);
    if (!buffer)
      return BufferAttr::get(program.getContext(), Space::Arena, 0, 0);
    int64_t bytes = bytesOf(view.element), extent = view.extent();
    if (auto loop = dyn_cast<TileLoopOp>(buffer->getParentOp())) {
      int64_t stride = *view.rowStride();
      extent -=
          (static_cast<int64_t>(loop.getRows()) - static_cast<int64_t>(loop.getTile())) * stride;
      rowBytes = stride * bytes;
    }
    return BufferAttr::get(program.getContext(), buffer.getSpace(),
                           static_cast<int64_t>(buffer.getAt().value_or(0)) + view.offset * bytes,
                           extent * bytes);
  }

  Attribute port(StringAttr name, Value value, IdsAttr ids = {}) {
    View view = viewOf(value);
    int64_t rowBytes;
    SmallVector<NamedAttribute> entries{
        builder.getNamedAttr("name", name),
        builder.getNamedAttr("type", TypeAttr::get(tensorOf(view.shape, view.element))),
        builder.getNamedAttr("buffer", placeOf(view, rowBytes))};
    if (ids)
      entries.push_back(builder.getNamedAttr("ids", ids));
    return builder.getDictionaryAttr(entries);
  }

  /// Steps and ports name places instead of values.
  void nameBuffers() {
    SmallVector<Attribute> inputs, outputs;
    for (auto buffer : program.getOps<BufferOp>())
      if (buffer.isInput())
        inputs.push_back(port(buffer.getNameAttr(), buffer, buffer.getIdsAttr()));
    for (auto output : llvm::make_early_inc_range(program.getOps<OutputOp>())) {
      outputs.push_back(port(output.getNameAttr(), output.getValue()));
      output.erase();
    }
    program.setInputsAttr(builder.getArrayAttr(inputs));
    program.setOutputsAttr(builder.getArrayAttr(outputs));
    program.walk([&](ScheduleStep step) {
      SmallVector<Attribute> places;
      SmallVector<int64_t> rowBytes(step->getNumOperands());
      for (auto [i, operand] : llvm::enumerate(step->getOperands()))
        places.push_back(placeOf(viewOf(operand), rowBytes[i]));
      if (auto launch = dyn_cast<LaunchOp>(step.getOperation());
          launch && llvm::any_of(rowBytes, [](int64_t bytes) { return bytes != 0; }))
        launch.setRowBytes(rowBytes);
      step->setAttr("buffers", builder.getArrayAttr(places));
      step->setOperands({});
    });
    program.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isa<BufferViewOp, BufferOp, AbsentOp>(op))
        op->erase();
    });
  }

  ProgramOp program;
  Builder builder;
  SmallVector<Operation *> steps;
  int64_t pause = 0;
};

struct PlanArena : impl::PlanArenaBase<PlanArena> {
  using PlanArenaBase::PlanArenaBase;
  void runOnOperation() override {
    if (failed(Placement(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace hybrid
