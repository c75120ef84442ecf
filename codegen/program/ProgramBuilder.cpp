//===- ProgramBuilder.cpp - from a function of hybrid ops to a program ------===//
#include "codegen/program/ProgramBuilder.h"
#include "codegen/kernels/SumPartials.h"
#include "dialect/Shapes.h"
#include "dialect/schedule/RankOps.h"
#include "dialect/schedule/TransformOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/ForwardPart.h"
#include "passes/ParameterSlots.h"

using namespace mlir;

namespace hybrid {

//===-- buffers and views -------------------------------------------------------===//

ProgramBuilder::ProgramBuilder(ModuleTables &tables, func::FuncOp function)
    : tables(tables), function(function),
      destinations(function,
                   [&](StringRef name) {
                     return tables.parameters.contains(
                         StringAttr::get(function.getContext(), name));
                   }),
      builder(function) {}

View ProgramBuilder::newBuffer(ArrayRef<int64_t> shape, Type element, Space space, StringAttr name,
                               std::optional<int64_t> at) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(space == Space::Tile ? tileStart : absentBuffer);
  auto place = at ? builder.getI64IntegerAttr(*at) : IntegerAttr();
  auto type = MemRefType::get(shape, element);
  return viewOf(BufferOp::create(builder, loc(), type, space, name, place, IdsAttr()));
}

View ProgramBuilder::temporary(ArrayRef<int64_t> shape, Type element) {
  return newBuffer(shape, element);
}

/// The first of the parameters that the function takes as one stretch of that name, and its type.
static std::pair<StringAttr, RankedTensorType> findStretch(func::FuncOp function, StringAttr name) {
  for (auto op : function.getOps<ParameterOp>())
    if (op.getNameAttr() == name)
      return {cast<StringAttr>(stretchOf(op)[0]), cast<RankedTensorType>(op.getType())};
  llvm_unreachable("what is no parameter's name is a stretch's");
}

View ProgramBuilder::parameterView(StringAttr name, Space space) {
  View &view = parameterViews[{name, space}];
  if (!view.isPresent()) {
    auto found = tables.parameters.find(name);
    auto [first, type] = found == tables.parameters.end() ? findStretch(function, name)
                                                          : std::pair(name, found->second.type);
    view = newBuffer(type.getShape(), type.getElementType(), space, name,
                     tables.parameters.find(first)->second.offset);
  }
  return view;
}

View ProgramBuilder::wholeSpace(Space space, Type element) {
  int64_t end = 0;
  for (auto &[name, parameter] : tables.parameters)
    if (parameter.trainable)
      end = std::max(end, parameter.offset +
                              parameterStride(parameter.type.getNumElements() * bytesOf(element)));
  return newBuffer({end / bytesOf(element)}, element, space, {}, 0);
}

View ProgramBuilder::constant(ArrayRef<int64_t> shape, Type element, ArrayRef<char> bytes) {
  return newBuffer(shape, element, Space::Constants, {}, tables.addConstant(bytes));
}

View ProgramBuilder::view(Value value) {
  auto found = views.find(value);
  if (found != views.end())
    return found->second;
  if (auto constantOp = value.getDefiningOp<ConstantOp>()) { // one element, repeated
    double wide = constantOp.getValue().convertToDouble();
    float narrow = static_cast<float>(wide);
    bool isDouble = elementOf(value).isF64();
    ArrayRef<char> bytes(isDouble ? reinterpret_cast<char *>(&wide)
                                  : reinterpret_cast<char *>(&narrow),
                         isDouble ? 8 : 4);
    return views[value] = constant({}, elementOf(value), bytes).broadcastTo(shapeOf(value));
  }
  auto parameter = cast<ParameterOp>(value.getDefiningOp());
  return views[value] = parameterView(parameter.getNameAttr(), spaceOf(parameter));
}

std::optional<View> ProgramBuilder::destinationOf(Value result) {
  const Destination *place = destinations.of(result);
  if (!place)
    return std::nullopt;
  View view = place->view;
  view.buffer = place->parameter ? parameterView(place->parameter, place->space).buffer
                                 : wholes.lookup(place->whole).buffer;
  return view;
}

View ProgramBuilder::define(Value result) {
  std::optional<View> place = destinationOf(result);
  return views[result] = place ? *place : temporaryFor(result);
}

View ProgramBuilder::defineDense(Value result) {
  std::optional<View> place = destinationOf(result);
  return views[result] = place && place->isDense() ? *place : temporaryFor(result);
}

View ProgramBuilder::temporaryFor(Value result) {
  auto rowwise = loop ? result.getDefiningOp<RowwiseOp>() : RowwiseOp();
  bool inTile = rowwise && !yielded.contains(result) &&
                rowwise.isRowResult(cast<OpResult>(result).getResultNumber());
  // The rows of all tiles share the memory of one: the loop moves its start.
  return newBuffer(shapeOf(result), elementOf(result), inTile ? Space::Tile : Space::Arena);
}

Store ProgramBuilder::storeOf(Value result) { return storeAt(define(result)); }

Store ProgramBuilder::storeAt(const View &place) {
  std::string functor = backend().storeFunctor(place);
  return {{use(place)}, functor.empty() ? *place.rowStride() : 0, functor};
}

View ProgramBuilder::rows(Value value, int64_t &stride) {
  View result = view(value);
  if (!result.rowStride())
    views[value] = result = denseCopy(result);
  stride = *result.rowStride();
  return result;
}

std::pair<View, View> ProgramBuilder::rowsAlike(Value a, Value b, int64_t &stride) {
  int64_t other;
  View first = rows(a, stride), second = rows(b, other);
  if (stride != other) {
    if (!first.isDense())
      first = denseCopy(first);
    if (!second.isDense())
      second = denseCopy(second);
    stride = *first.rowStride();
  }
  return {first, second};
}

View ProgramBuilder::dense(Value value) {
  View result = view(value);
  if (result.isDense())
    return result;
  return views[value] = denseCopy(result);
}

View ProgramBuilder::denseCopy(const View &from) {
  View to = newBuffer(from.shape, from.element);
  copy(from, to);
  return to;
}

BufferUse ProgramBuilder::optionalUse(Value value) { return value ? use(dense(value)) : absent(); }

//===-- steps -------------------------------------------------------------------===//

std::string sourceName(Operation *op) {
  if (auto unary = dyn_cast<UnaryOp>(op))
    return stringifyUnaryKind(unary.getKind()).str();
  if (auto binary = dyn_cast<BinaryOp>(op))
    return stringifyBinaryKind(binary.getKind()).str();
  std::string name = op->getName().stripDialect().str();
  if (!isa<FusedOp, ProductChainOp, RowTilesOp>(op))
    return name;
  name += "(";
  for (Operation &inner : op->getRegion(0).front().without_terminator())
    if (!isa<ConstantOp>(inner))
      name += (name.back() == '(' ? "" : ", ") + sourceName(&inner);
  return name + ")";
}

/// A body of the graph as one of the schedule.
static void yieldElements(Region &body) {
  Operation *yield = body.front().getTerminator();
  OpBuilder end(yield);
  YieldElementsOp::create(end, yield->getLoc(), yield->getOperands());
  yield->erase();
}

KernelName ProgramBuilder::kernelName(StringRef name, Type element,
                                      const KernelConstants &constants,
                                      ArrayRef<std::string> functions) {
  KernelName kernel = backend().kernel(name, element, constants, functions);
  tables.kernelFiles.try_emplace(
      StringRef(kernel.name).take_until([](char c) { return c == '<'; }).str(), constants.contract);
  return kernel;
}

LaunchOp ProgramBuilder::launchKernel(StringRef name, Type element, Grid grid,
                                      const KernelConstants &constants, ArrayRef<BufferUse> buffers,
                                      const KernelTraits &traits, const Store &store,
                                      ArrayRef<std::string> functions) {
  SmallVector<Value> operands;
  SmallVector<int64_t> written, activations, roundable;
  for (auto [i, buffer] : llvm::enumerate(llvm::concat<const BufferUse>(buffers, store.buffers))) {
    operands.push_back(buffer ? buffer : absentBuffer.getResult());
    const auto number = static_cast<int64_t>(i);
    if (buffer && (i >= buffers.size() || traits.writes(number)))
      written.push_back(number);
    if (buffer && traits.isActivation(number))
      activations.push_back(number);
    if (buffer && traits.isRoundable(number))
      roundable.push_back(number);
  }
  KernelName kernel = kernelName(name, element, constants, functions);
  auto launch =
      LaunchOp::create(builder, loc(), kernel.name, grid.items, operands, sourceName(current),
                       kernel.constants, LaunchConfiguration{grid.threads, grid.bytes}, written);
  launch.setBrief(traits.isBrief);
  if (loop)
    launch.setItemsPerTile(loop.itemsPerTile(grid.items));
  if (device().rounds && !activations.empty())
    launch.setActivations(activations);
  if (device().rounds && !roundable.empty())
    launch.setRoundable(roundable);
  launch.setStoresRows(device().rounds && traits.storesRows);
  if (device().rounds && traits.rowOperand >= 0)
    launch.setRowOperand(traits.rowOperand);
  if (!store.functor.empty()) {
    launch.setStore(store.functor);
    launch.setStoreBuffers(store.buffers.size());
  }
  if (!functions.empty()) {
    SmallVector<StringRef> names(functions.begin(), functions.end());
    launch.setFunctionsAttr(builder.getStrArrayAttr(names));
  }
  return launch;
}

std::string ProgramBuilder::functionOf(Region &body) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : body.front())
    op.print(stream, OpPrintingFlags().useLocalScope());
  auto [entry, inserted] =
      tables.functions.try_emplace(text, "function_" + std::to_string(tables.functions.size()));
  if (!inserted)
    return entry->second;
  OpBuilder atEnd =
      OpBuilder::atBlockEnd(function.getOperation()->getParentOfType<ModuleOp>().getBody());
  auto made = FunctionOp::create(atEnd, loc(), entry->second);
  IRMapping mapping;
  body.cloneInto(&made.getBody(), mapping);
  yieldElements(made.getBody());
  return entry->second;
}

void ProgramBuilder::matmul(const View &a, bool transposeA, const View &b, bool transposeB,
                            const View &c, std::optional<View> bias) {
  SmallVector<Value> views{use(a), use(b), use(c)};
  if (bias)
    views.push_back(use(*bias));
  int64_t columnsA = a.columns(), rowsA = a.elements() / columnsA;
  LibraryMatmulOp::create(
      builder, loc(), views, builder.getArrayAttr({}), transposeA ? columnsA : rowsA, c.columns(),
      transposeA ? rowsA : columnsA, *a.rowStride(), *b.rowStride(), *c.rowStride(), transposeA,
      transposeB, /*accumulate=*/false, a.element, sourceName(current), /*groups=*/0,
      /*group_stride=*/0, loop && !transposeA, loop && transposeA, /*ld_addend=*/0, /*batch=*/1,
      /*batch_strides=*/ArrayRef<int64_t>(), /*rounds_result=*/c.element.isBF16());
}

void ProgramBuilder::batchedMatmul(const View &a, bool transposeA, const View &b, bool transposeB,
                                   const View &c) {
  auto rowStride = [](const View &view) {
    return *view.sliced({0, 0, 0}, {1, view.shape[1], view.shape[2]}).rowStride();
  };
  LibraryMatmulOp::create(
      builder, loc(), ValueRange{use(a), use(b), use(c)}, builder.getArrayAttr({}), c.shape[1],
      c.shape[2], a.shape[transposeA ? 1 : 2], rowStride(a), rowStride(b), rowStride(c), transposeA,
      transposeB, /*accumulate=*/false, a.element, sourceName(current), /*groups=*/0,
      /*group_stride=*/0, /*tile_rows=*/false, /*tile_sum=*/false, /*ld_addend=*/0, c.shape[0],
      ArrayRef<int64_t>{a.strides[0], b.strides[0], c.strides[0]},
      /*rounds_result=*/c.element.isBF16());
}

void ProgramBuilder::groupedMatmul(const View &a, bool transposeA, const View &b, bool transposeB,
                                   const View &c, const View &offsets) {
  int64_t columnsA = a.columns(), rows = a.elements() / columnsA;
  const View &matrices = transposeA ? c : b;
  LibraryMatmulOp::create(
      builder, loc(), ValueRange{use(a), use(b), use(c), use(offsets)}, builder.getArrayAttr({}),
      transposeA ? columnsA : rows, c.columns(), transposeA ? rows : columnsA, columnsA,
      b.columns(), c.columns(), transposeA, transposeB, /*accumulate=*/false, a.element,
      sourceName(current), offsets.elements() - 1, matrices.shape[1] * matrices.shape[2],
      loop && !transposeA, loop && transposeA, /*ld_addend=*/0, /*batch=*/1,
      /*batch_strides=*/ArrayRef<int64_t>(), /*rounds_result=*/false);
}

void ProgramBuilder::attention(AttentionCall call, ArrayRef<BufferUse> buffers) {
  LibraryAttentionOp::create(builder, loc(), buffers, builder.getArrayAttr({}), call.batch,
                             call.length, call.keyLength, call.heads, call.kvHeads, call.headSize,
                             call.causal, call.backward, llvm::APFloat(call.scale), call.strides,
                             sourceName(current));
}

void ProgramBuilder::fourier(const View &x, const View &spectrum, bool inverse) {
  LibraryFftOp::create(builder, loc(), ValueRange{use(x), use(spectrum)}, builder.getArrayAttr({}),
                       x.shape[0], x.shape[1], inverse, x.element, sourceName(current));
}

void ProgramBuilder::exchange(RankPattern pattern, int64_t ranks, ArrayRef<View> buffers) {
  SmallVector<Value> uses;
  for (const View &buffer : buffers)
    uses.push_back(use(buffer));
  ExchangeOp::create(builder, loc(), uses, builder.getArrayAttr({}), pattern, ranks,
                     sourceName(current));
}

RecurrenceStepOp ProgramBuilder::recurrence(const RecurrenceCall &call) {
  return RecurrenceStepOp::create(
      builder, loc(), call.inputs, call.invariants, call.segments, call.initialState,
      call.cotangent, call.stateCotangent, call.rows, call.sums, call.finalState, call.frame,
      call.trajectory, call.batch, call.length, call.batchRows, call.kept, sourceName(current));
}

void ProgramBuilder::sumPartials(const View &partial, int64_t count, int64_t stride,
                                 const View &out) {
  if (inTiles())
    return afterTiles([=, this] { sumPartials(partial, count, stride, out); });
  View rows = partial;
  rows.shape = {count, out.elements()}, rows.strides = {stride, 1};
  const View sums = out.shape.empty() ? *out.reshaped({1}) : out;
  Store y = storeAt(sums);
  launch<SumPartials>(out.element, {count, out.elements(), stride, sums.columns(), y.stride},
                      {use(rows)}, y);
}

void ProgramBuilder::compute(FusedOp op) {
  SmallVector<Value> inputs, outputs;
  for (Value operand : op.getOperands())
    inputs.push_back(use(view(operand).broadcastTo(shapeOf(op.getResult(0)))));
  for (Value result : op.getResults())
    outputs.push_back(use(define(result)));
  auto step = ComputeOp::create(builder, loc(), inputs, outputs, sourceName(op));
  if (Attribute guard = op->getAttr("hybrid.if_finite"))
    step->setAttr("schedule.if_finite", guard);
  step.getBody().takeBody(op.getBody());
  yieldElements(step.getBody());
}

void ProgramBuilder::reduce(ReduceKind kind, const View &from, ArrayRef<int64_t> axes,
                            const View &to) {
  ReductionOp::create(builder, loc(), kind, use(from), use(to), axes, sourceName(current));
}

void ProgramBuilder::rowSums(const View &from, int64_t rowsPerItem, const View &partial,
                             double scale) {
  RowSumsOp::create(builder, loc(), use(from), use(partial), rowsPerItem, llvm::APFloat(scale),
                    sourceName(current));
}

void ProgramBuilder::copy(const View &from, const View &to) {
  CopyOp::create(builder, loc(), use(from), use(to), sourceName(current));
}

void ProgramBuilder::fill(const View &to, double value) {
  FillOp::create(builder, loc(), use(to), llvm::APFloat(value), sourceName(current));
}

View ProgramBuilder::tableBy(StringRef kernel, Type element, Grid grid,
                             const KernelConstants &constants, int64_t elements) {
  View view = newBuffer({elements}, element, Space::Constants);
  tables
      .addTable(kernelName(kernel, element, constants), {grid.threads, grid.bytes}, grid.items,
                view)
      .buffers.push_back(view.buffer.getDefiningOp<BufferOp>());
  return view;
}

View ProgramBuilder::derived(Value value, int64_t variant, llvm::function_ref<View()> make) {
  auto key = std::pair(value, variant);
  auto found = derivedViews.find(key);
  if (found != derivedViews.end() && tables.options.keepSpectra)
    return found->second;
  View view = make();
  return derivedViews[key] = view;
}

//===-- loops over tiles --------------------------------------------------------===//

int64_t ProgramBuilder::rowsPerItem(int64_t rows) const {
  if (loop)
    return TileLoopOp(loop).rowsPerItem();
  return std::max<int64_t>(1, ceilDiv(rows, backend().itemsOfSums()));
}

void ProgramBuilder::afterTiles(std::function<void()> work) {
  if (inTiles())
    after.push_back({current, std::move(work)});
  else
    work();
}

LogicalResult ProgramBuilder::lowerTiles(RowTilesOp op) {
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op->getOperands())) {
    // Copies that a kernel may need are made of all rows, before the loop.
    View whole = view(operand);
    if (!whole.rowStride() && !(whole.shape.size() == 2 && whole.strides[0] == 1))
      whole = dense(operand);
    alias(argument, whole);
  }
  yielded.insert(yield->operand_begin(), yield->operand_end());
  loop = TileLoopOp::create(builder, op.getLoc(), op.getRows(), op.getTile(), /*tile_bytes=*/0,
                            op.getSequential(), sourceName(op));
  builder.createBlock(&loop.getBody());
  // Buffers of a tile are declared in front of this.
  tileStart = AbsentOp::create(builder, op.getLoc(), absentBuffer.getType());
  Operation *outer = current;
  for (Operation &inner : body.without_terminator()) {
    current = &inner;
    if (failed(lowerOp(&inner, *this)))
      return failure();
  }
  TileLoopOp done = std::exchange(loop, TileLoopOp());
  builder.setInsertionPointAfter(done);
  tileStart.erase();
  if (done.getBody().front().empty())
    done.erase();
  for (auto &[op, work] : std::exchange(after, {})) {
    current = op;
    work();
  }
  current = outer;
  for (auto [inner, result] : llvm::zip(yield->getOperands(), op->getResults()))
    alias(result, view(inner));
  return success();
}

//===-- the function ------------------------------------------------------------===//

/// A kernel that writes more than its contract says would be found here.
static LogicalResult verifyWritten(ProgramOp program) {
  llvm::DenseSet<Value> written;
  WalkResult walked = program.walk<WalkOrder::PreOrder>([&](ScheduleStep step) {
    SmallVector<Value> writes;
    for (const Access &access : accessesOf(step)) {
      auto buffer = access.view.buffer.getDefiningOp<BufferOp>();
      const bool isTemporary = (buffer.getSpace() == Space::Arena && !buffer.isInput()) ||
                               buffer.getSpace() == Space::Tile;
      if (access.written)
        writes.push_back(access.view.buffer);
      else if (isTemporary && !written.contains(access.view.buffer)) {
        step.emitOpError() << "reads what no step before it writes";
        return WalkResult::interrupt();
      }
    }
    written.insert(writes.begin(), writes.end());
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult ProgramBuilder::lowerFunction() {
  current = function;
  program = ProgramOp::create(builder, function.getLoc(), function.getSymName());
  builder.createBlock(&program.getBody());
  absentBuffer =
      AbsentOp::create(builder, program.getLoc(), MemRefType::get({0}, builder.getF32Type()));
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "hybrid.name");
    if (!name)
      name = builder.getStringAttr("input" + Twine(argument.getArgNumber()));
    View input = newBuffer(shapeOf(argument), elementOf(argument), Space::Arena, name);
    if (auto ids = function.getArgAttrOfType<IdsAttr>(argument.getArgNumber(), "hybrid.ids"))
      input.buffer.getDefiningOp<BufferOp>().setIdsAttr(ids);
    views[argument] = std::move(input);
  }
  for (Value whole : destinations.wholes())
    wholes[whole] = newBuffer(shapeOf(whole), elementOf(whole));
  // Outputs first: the program may pause before it needs cotangents.
  Block &block = function.getBody().front();
  const llvm::DenseSet<Operation *> forward = forwardPart(block);
  SmallVector<Operation *> ops;
  for (bool first : {true, false})
    for (Operation &op : block.without_terminator())
      if (forward.contains(&op) == first)
        ops.push_back(&op);
  for (Operation *op : ops) {
    current = op;
    if (failed(lowerOp(op, *this)))
      return failure();
  }
  current = function.getBody().front().getTerminator();
  finishResults();
  eraseUnused(program);
  return verifyWritten(program);
}

void ProgramBuilder::finishResults() {
  auto ret = cast<func::ReturnOp>(current);
  for (unsigned i = 0; i < ret.getNumOperands(); ++i) {
    View value = view(ret.getOperand(i));
    if (StringAttr parameter = destinations.gradientOf(i)) {
      View place = parameterView(parameter, Space::Gradients);
      if (value.buffer != place.buffer)
        copy(value, place);
      continue;
    }
    auto buffer = value.buffer.getDefiningOp<BufferOp>();
    if (buffer.getSpace() != Space::Arena || !value.isDense() || buffer.isInput())
      value = denseCopy(value);
    auto name = function.getResultAttrOfType<StringAttr>(i, "hybrid.name");
    OutputOp::create(builder, loc(), name ? name : builder.getStringAttr("output" + Twine(i)),
                     use(value));
  }
}

} // namespace hybrid
