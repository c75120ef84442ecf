//===- ProgramBuilder.cpp - from a function of hybrid ops to a program ------===//
#include "codegen/program/ProgramBuilder.h"
#include "codegen/kernels/SumPartials.h"
#include "codegen/program/LocationText.h"
#include "dialect/Shapes.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace hybrid {

//===-- ModuleTables -----------------------------------------------------------===//

int64_t ModuleTables::addConstant(ArrayRef<char> bytes) {
  int64_t offset = static_cast<int64_t>(llvm::alignTo(constants.size(), 64));
  constants.resize(offset);
  constants.insert(constants.end(), bytes.begin(), bytes.end());
  return offset;
}

int64_t ModuleTables::addTable(KernelName kernel, LaunchShape shape, int64_t grid, int64_t bytes) {
  std::string key = kernel.name;
  for (int64_t word : kernel.constants)
    key += "," + std::to_string(word);
  auto [entry, inserted] = tableIndex.try_emplace(key, static_cast<int64_t>(tables.size()));
  if (inserted)
    tables.push_back({std::move(kernel), shape, grid, 0, bytes});
  return entry->second;
}

void ModuleTables::placeTables() {
  constantsBytes = static_cast<int64_t>(llvm::alignTo(constants.size(), 64));
  for (SetupTable &table : tables) {
    table.offset = constantsBytes;
    constantsBytes += static_cast<int64_t>(llvm::alignTo(table.bytes, 64));
  }
}

//===-- ProgramBuilder: storages and views -------------------------------------===//

/// Storages of tables are known by index until placeTables(): their `offset` is -(index + 2).
static constexpr int64_t unplacedTable = -2;

ProgramBuilder::ProgramBuilder(ModuleTables &tables, func::FuncOp function)
    : tables(tables), function(function) {}

int64_t ProgramBuilder::addStorage(Storage storage) {
  storages.push_back(storage);
  return static_cast<int64_t>(storages.size()) - 1;
}

View ProgramBuilder::temporary(ArrayRef<int64_t> shape, Type element) {
  View result;
  result.shape.assign(shape.begin(), shape.end());
  result.strides = denseStrides(shape);
  result.element = element;
  result.storage = addStorage({Space::Arena, result.elements() * bytesOf(element)});
  return result;
}

View ProgramBuilder::parameterView(StringAttr name, Space space) {
  const ModuleTables::Parameter &parameter = tables.parameters.find(name)->second;
  View result;
  result.shape.assign(parameter.type.getShape().begin(), parameter.type.getShape().end());
  result.strides = denseStrides(result.shape);
  result.element = parameter.type.getElementType();
  result.storage =
      addStorage({space, result.elements() * bytesOf(result.element), parameter.offset});
  return result;
}

View ProgramBuilder::view(Value value) {
  auto found = views.find(value);
  if (found != views.end())
    return found->second;
  if (auto constant = value.getDefiningOp<ConstantOp>()) { // one element, repeated
    View result;
    auto type = cast<RankedTensorType>(value.getType());
    result.shape.assign(type.getShape().begin(), type.getShape().end());
    result.strides.assign(result.shape.size(), 0);
    result.element = type.getElementType();
    double wide = constant.getValue().convertToDouble();
    float narrow = static_cast<float>(wide);
    bool isDouble = result.element.isF64();
    ArrayRef<char> bytes(isDouble ? reinterpret_cast<char *>(&wide)
                                  : reinterpret_cast<char *>(&narrow),
                         isDouble ? 8 : 4);
    result.storage = addStorage(
        {Space::Constants, static_cast<int64_t>(bytes.size()), tables.addConstant(bytes)});
    return views[value] = result;
  }
  auto parameter = cast<ParameterOp>(value.getDefiningOp());
  return views[value] = parameterView(parameter.getNameAttr(), Space::Parameters);
}

View ProgramBuilder::define(Value result) {
  auto found = destinations.find(result);
  if (found != destinations.end())
    return views[result] = found->second;
  return views[result] = temporaryFor(result);
}

View ProgramBuilder::defineDense(Value result) {
  auto found = destinations.find(result);
  if (found != destinations.end() && found->second.isDense())
    return views[result] = found->second;
  return views[result] = temporaryFor(result);
}

View ProgramBuilder::temporaryFor(Value result) {
  ArrayRef<int64_t> shape = shapeOf(result);
  auto rowwise = inTiles() ? result.getDefiningOp<RowwiseOp>() : RowwiseOp();
  if (!rowwise || loops.back().yielded.contains(result) ||
      !rowwise.isRowResult(cast<OpResult>(result).getResultNumber()))
    return temporary(shape, elementOf(result));
  // The rows of all tiles share the memory of one: the loop moves its start.
  View view;
  view.shape.assign(shape.begin(), shape.end());
  view.strides = denseStrides(shape);
  view.element = elementOf(result);
  TileLoop &loop = loops.back();
  view.storage = addStorage({Space::Tile, loop.tile * shape.back() * bytesOf(view.element)});
  loop.storages.push_back(view.storage);
  return view;
}

View ProgramBuilder::rows(Value value, int64_t &stride) {
  View result = view(value);
  if (auto found = result.rowStride()) {
    stride = *found;
    return result;
  }
  result = denseCopy(result);
  views[value] = result;
  stride = result.shape.empty() ? 1 : result.shape.back();
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
  View to = temporary(from.shape, from.element);
  copy(from, to);
  return to;
}

BufferUse ProgramBuilder::use(const View &view) {
  int64_t bytes = bytesOf(view.element);
  if (storages[view.storage].space != Space::Tile)
    return {view.storage, view.offset * bytes, view.extent() * bytes};
  int64_t stride = *view.rowStride(), beyond = (loops.back().rows - loops.back().tile) * stride;
  return {view.storage, view.offset * bytes, (view.extent() - beyond) * bytes, stride * bytes};
}

BufferUse ProgramBuilder::optionalUse(Value value) { return value ? use(dense(value)) : absent(); }

//===-- ProgramBuilder: steps --------------------------------------------------===//

void ProgramBuilder::addStep(Step step) {
  auto now = static_cast<int64_t>(steps.size());
  if (inTiles())
    step.loop = static_cast<int64_t>(loops.size()) - 1;
  for (const BufferUse &buffer : step.buffers) {
    if (buffer.storage < 0)
      continue;
    Storage &storage = storages[buffer.storage];
    // Tiles run at different times: to all others, a loop is one step.
    int64_t index = inTiles() && storage.space != Space::Tile ? loops.back().firstStep : now;
    storage.first = std::min(storage.first, index);
    storage.last = std::max(storage.last, index);
  }
  steps.push_back(std::move(step));
}

std::string sourceName(Operation *op) {
  if (auto unary = dyn_cast<UnaryOp>(op))
    return stringifyUnaryKind(unary.getKind()).str();
  if (auto binary = dyn_cast<BinaryOp>(op))
    return stringifyBinaryKind(binary.getKind()).str();
  std::string name = op->getName().stripDialect().str();
  if (!isa<FusedOp, RowTilesOp>(op))
    return name;
  name += "(";
  for (Operation &inner : op->getRegion(0).front().without_terminator())
    if (!isa<ConstantOp>(inner))
      name += (name.back() == '(' ? "" : ", ") + sourceName(&inner);
  return name + ")";
}

Step::Step(Operation *op, ArrayRef<BufferUse> buffers)
    : loc(op->getLoc()), source(sourceName(op)), buffers(buffers) {}

KernelName ProgramBuilder::kernelName(StringRef name, Type element,
                                      const KernelConstants &constants) {
  KernelName kernel = backend().kernel(name, element, constants);
  tables.kernelFiles.try_emplace(
      StringRef(kernel.name).take_until([](char c) { return c == '<'; }).str(), constants.contract);
  return kernel;
}

void ProgramBuilder::launchKernel(StringRef name, Type element, Grid grid,
                                  const KernelConstants &constants, ArrayRef<BufferUse> buffers,
                                  const Store &store) {
  Step step(current, buffers);
  step.buffers.append(store.buffers);
  KernelName kernel = kernelName(name, element, constants);
  step.kernel = std::move(kernel.name);
  step.constants = std::move(kernel.constants);
  step.grid = grid.items;
  step.shape = {grid.threads, grid.bytes};
  step.itemsPerTile = itemsPerTile(grid.items);
  if (!store.functor.empty()) {
    step.store = store.functor;
    step.storeBuffers = static_cast<int64_t>(store.buffers.size());
    if (!store.source.empty())
      step.source += " + " + store.source;
  }
  addStep(std::move(step));
}

void ProgramBuilder::launchGenerated(const GeneratedKernel &kernel, ArrayRef<BufferUse> buffers) {
  Step step(current, buffers);
  step.kernel = kernel.symbol;
  step.generated = true;
  step.writes = kernel.writes;
  step.grid = kernel.grid;
  step.shape = kernel.shape;
  step.itemsPerTile = itemsPerTile(kernel.grid);
  addStep(std::move(step));
}

void ProgramBuilder::matmul(const View &a, bool transposeA, const View &b, bool transposeB,
                            const ProductPlace &to, std::optional<View> bias) {
  const View &c = to.place;
  Step step(current, {use(a), use(b), use(c)});
  if (bias)
    step.buffers.push_back(use(*bias));
  if (to.addend && to.addend->storage == c.storage && to.addend->offset == c.offset) {
    step.accumulate = true;
  } else if (to.addend) {
    step.buffers.push_back(use(*to.addend));
    step.ldAddend = *to.addend->rowStride();
  }
  if (!to.source.empty())
    step.source += " + " + to.source;
  auto leading = [](const View &view) { return *view.rowStride(); };
  int64_t columnsA = a.shape.back(), rowsA = a.elements() / columnsA;
  step.m = transposeA ? columnsA : rowsA;
  step.k = transposeA ? rowsA : columnsA;
  step.n = c.shape.back();
  step.lda = leading(a), step.ldb = leading(b), step.ldc = leading(c);
  step.transposeA = transposeA, step.transposeB = transposeB;
  step.element = a.element;
  addStep(std::move(step));
}

void ProgramBuilder::groupedMatmul(const View &a, bool transposeA, const View &b, bool transposeB,
                                   const View &c, const View &offsets) {
  Step step(current, {use(a), use(b), use(c), use(offsets)});
  int64_t columnsA = a.shape.back(), rows = a.elements() / columnsA;
  step.m = transposeA ? columnsA : rows;
  step.k = transposeA ? rows : columnsA;
  step.n = c.shape.back();
  step.lda = columnsA, step.ldb = b.shape.back(), step.ldc = c.shape.back();
  step.transposeA = transposeA, step.transposeB = transposeB;
  step.groups = offsets.elements() - 1;
  const View &matrices = transposeA ? c : b;
  step.groupStride = matrices.shape[1] * matrices.shape[2];
  step.element = a.element;
  addStep(std::move(step));
}

void ProgramBuilder::attention(AttentionCall call, ArrayRef<BufferUse> buffers) {
  Step step(current, buffers);
  step.attention = std::move(call);
  addStep(std::move(step));
}

void ProgramBuilder::sumPartials(const View &partial, int64_t count, int64_t stride,
                                 const View &out) {
  if (inTiles())
    return afterTiles([=, this] { sumPartials(partial, count, stride, out); });
  SumPartialsParams params{count, out.elements(), stride};
  int64_t bytes = bytesOf(out.element);
  BufferUse from{partial.storage, partial.offset * bytes,
                 ((count - 1) * stride + out.elements()) * bytes};
  launch<SumPartials>(out.element, params, {from, use(out)});
  steps.back().isSum = true;
}

void ProgramBuilder::copy(const View &from, const View &to) {
  launchGenerated(backend().elementwise(tables, nullptr, {from}, {to}, inTiles()),
                  {use(from), use(to)});
}

void ProgramBuilder::fill(const View &to, double value) {
  launchGenerated(backend().fill(tables, to, value), {use(to)});
}

View ProgramBuilder::tableBy(StringRef kernel, Type element, Grid grid,
                             const KernelConstants &constants, int64_t elements) {
  int64_t bytes = elements * bytesOf(element);
  int64_t index = tables.addTable(kernelName(kernel, element, constants),
                                  {grid.threads, grid.bytes}, grid.items, bytes);
  View result;
  result.shape = {elements};
  result.strides = {1};
  result.element = element;
  result.storage = addStorage({Space::Constants, bytes, unplacedTable - index});
  return result;
}

View ProgramBuilder::derived(Value value, int64_t variant, llvm::function_ref<View()> make) {
  auto key = std::pair(value, variant);
  auto found = derivedViews.find(key);
  if (found != derivedViews.end() && tables.keepSpectra)
    return found->second;
  View made = make();
  return derivedViews[key] = made;
}

//===-- ProgramBuilder: loops over tiles ---------------------------------------===//

int64_t ProgramBuilder::rowsPerItem(int64_t rows) const {
  if (!inTiles())
    return std::max<int64_t>(1, ceilDiv(rows, backend().itemsOfSums()));
  // Tiles in parallel are items themselves; one after another, each feeds many threads.
  const TileLoop &loop = loops.back();
  int64_t rowsOfItem = loop.tile;
  while (loop.sequential && rowsOfItem % 2 == 0 && rowsOfItem > 16)
    rowsOfItem /= 2;
  return rowsOfItem;
}

int64_t ProgramBuilder::itemsPerTile(int64_t grid) const {
  if (!inTiles())
    return 0;
  const TileLoop &loop = loops.back();
  int64_t perItem = rowsPerItem(loop.rows);
  assert((grid == loop.rows || grid == ceilDiv(loop.rows, perItem)) &&
         "a kernel in tiles works on rows or on groups of them");
  return grid == loop.rows ? loop.tile : loop.tile / perItem;
}

void ProgramBuilder::afterTiles(std::function<void()> work) {
  if (inTiles())
    loops.back().after.push_back(std::move(work));
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
  TileLoop loop{op,
                op.getLoc(),
                sourceName(op),
                op.getSequential(),
                static_cast<int64_t>(op.getRows()),
                static_cast<int64_t>(op.getTile()),
                static_cast<int64_t>(steps.size()),
                0,
                {},
                {},
                {}};
  for (auto [inner, outer] : llvm::zip(yield->getOperands(), op->getResults())) {
    loop.yielded.insert(inner);
    auto found = destinations.find(outer);
    if (found != destinations.end())
      destinations[inner] = View(found->second);
  }
  loops.push_back(std::move(loop));
  Operation *outer = current;
  for (Operation &inner : body.without_terminator()) {
    current = &inner;
    if (failed(lowerOp(&inner, *this)))
      return failure();
  }
  TileLoop &done = loops.back();
  std::vector<Lifetime> lifetimes;
  for (int64_t index : done.storages)
    lifetimes.push_back({storages[index].bytes, storages[index].first, storages[index].last});
  done.tileBytes = planArena(lifetimes);
  for (auto [index, lifetime] : llvm::zip(done.storages, lifetimes))
    storages[index].offset = lifetime.offset;
  std::vector<std::function<void()>> after = std::move(done.after);
  done.op = nullptr; // lowered
  for (const std::function<void()> &work : after)
    work();
  current = outer;
  for (auto [inner, result] : llvm::zip(yield->getOperands(), op->getResults()))
    alias(result, view(inner));
  return success();
}

//===-- ProgramBuilder: the function -------------------------------------------===//

/// Parts of a full arena that a program names.
static constexpr size_t mostLargest = 8;

/// A value can be computed straight into the place of its user unless it is a view of something
/// else or has a place already.
static bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isa<ParameterOp, ConstantOp, IotaOp, ReshapeOp, TransposeOp, BroadcastOp, SplitOp,
                    SliceOp>(op);
}

void ProgramBuilder::assignDestinations() {
  auto claim = [&](Value value, const View &place) {
    if (isComputed(value) && !destinations.count(value))
      destinations[value] = place;
  };
  function.walk([&](AssignOp assign) {
    claim(assign.getValue(), parameterView(assign.getNameAttr(), Space::Parameters));
  });
  auto ret = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  for (unsigned i = 0; i < ret.getNumOperands(); ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, "hybrid.name");
    if (!name || !name.getValue().starts_with("grad."))
      continue;
    auto parameter = StringAttr::get(name.getContext(), name.getValue().drop_front(5));
    if (tables.parameters.count(parameter))
      claim(ret.getOperand(i), parameterView(parameter, Space::Gradients));
  }
  // Parts of a concat are computed in place; an outer concat before the inner ones, so walk
  // backwards.
  for (Operation &op : llvm::reverse(function.getBody().front())) {
    auto concat = dyn_cast<ConcatOp>(op);
    if (!concat)
      continue;
    auto found = destinations.find(concat.getResult());
    View whole = found != destinations.end()
                     ? found->second
                     : temporary(shapeOf(concat.getResult()), elementOf(concat.getResult()));
    destinations[concat.getResult()] = whole;
    SmallVector<int64_t> starts(whole.shape.size(), 0);
    for (Value part : concat.getParts()) {
      View place = whole.sliced(starts, shapeOf(part));
      starts[concat.getAxis()] += shapeOf(part)[concat.getAxis()];
      // Kernels write rows: a part that is none is copied instead.
      if (place.rowStride())
        claim(part, place);
    }
  }
}

LogicalResult ProgramBuilder::lowerFunction() {
  current = function;
  for (BlockArgument argument : function.getArguments()) {
    View place = temporary(shapeOf(argument), elementOf(argument));
    storages[place.storage].first = -1; // written before the program runs
    storages[place.storage].last = INT64_MAX - 1;
    views[argument] = place;
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "hybrid.name");
    inputs.push_back(
        {name ? name.str() : "input" + std::to_string(argument.getArgNumber()), place});
  }
  assignDestinations();
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (absorbed.contains(&op))
      continue;
    current = &op;
    if (failed(lowerOp(&op, *this)))
      return failure();
  }
  current = function.getBody().front().getTerminator();
  finishResults();
  return success();
}

void ProgramBuilder::finishResults() {
  auto ret = cast<func::ReturnOp>(current);
  for (unsigned i = 0; i < ret.getNumOperands(); ++i) {
    auto attribute = function.getResultAttrOfType<StringAttr>(i, "hybrid.name");
    std::string name = attribute ? attribute.str() : "output" + std::to_string(i);
    View value = view(ret.getOperand(i));
    if (StringRef(name).starts_with("grad.")) {
      auto parameter = StringAttr::get(function.getContext(), StringRef(name).drop_front(5));
      if (tables.parameters.count(parameter)) {
        View place = parameterView(parameter, Space::Gradients);
        const Storage &storage = storages[value.storage];
        if (storage.space != Space::Gradients || storage.offset != storages[place.storage].offset)
          copy(value, place);
        continue;
      }
    }
    bool inputOrShared = storages[value.storage].first == -1;
    if (storages[value.storage].space != Space::Arena || !value.isDense() || inputOrShared)
      value = denseCopy(value);
    storages[value.storage].last = INT64_MAX - 1; // read after the program ran
    outputs.push_back({name, value});
  }
}

Attribute ProgramBuilder::bufferAttr(const BufferUse &use) {
  MLIRContext *context = function.getContext();
  if (use.storage < 0)
    return BufferAttr::get(context, Space::Arena, 0, 0);
  const Storage &storage = storages[use.storage];
  int64_t offset = storage.offset;
  if (storage.space == Space::Constants && offset <= unplacedTable)
    offset = tables.tables[unplacedTable - offset].offset;
  return BufferAttr::get(context, storage.space, offset + use.offsetBytes, use.bytes);
}

ArrayAttr ProgramBuilder::largestAtPeak(Builder &builder, ArrayRef<Lifetime> lifetimes) {
  std::vector<int64_t> change(steps.size() + 3);
  for (const Lifetime &lifetime : lifetimes) {
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
  for (const Lifetime &lifetime : lifetimes)
    if (lifetime.first <= peak && peak <= lifetime.last)
      alive.push_back(&lifetime);
  llvm::sort(alive, [](const Lifetime *a, const Lifetime *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  SmallVector<Attribute> parts;
  for (const Lifetime *lifetime : ArrayRef(alive).take_front(mostLargest)) {
    bool isInput = lifetime->first < 0;
    const Step *maker = isInput ? nullptr : &steps[lifetime->first];
    parts.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("op", builder.getStringAttr(isInput ? "input" : maker->source)),
         builder.getNamedAttr("location",
                              builder.getStringAttr(isInput ? "" : locationText(maker->loc))),
         builder.getNamedAttr("bytes", builder.getI64IntegerAttr(lifetime->bytes))}));
  }
  return builder.getArrayAttr(parts);
}

/// Lifetimes from the steps as they stand now. Inputs live from before the first step, outputs to
/// behind the last one.
void ProgramBuilder::findLifetimes() {
  auto outlives = [](int64_t last) { return last >= INT64_MAX - 1; };
  for (Storage &storage : storages) {
    if (storage.first != -1)
      storage.first = INT64_MAX;
    if (!outlives(storage.last))
      storage.last = -1;
  }
  int64_t loop = -1, loopStart = 0;
  for (auto [i, step] : llvm::enumerate(steps)) {
    auto now = static_cast<int64_t>(i);
    if (step.loop >= 0 && step.loop != loop)
      loopStart = now;
    loop = step.loop;
    for (const BufferUse &buffer : step.buffers) {
      if (buffer.storage < 0)
        continue;
      Storage &storage = storages[buffer.storage];
      // Tiles run at different times: to all others, a loop is one step.
      int64_t index = loop >= 0 && storage.space != Space::Tile ? loopStart : now;
      storage.first = std::min(storage.first, index);
      storage.last = std::max(storage.last, index);
    }
  }
}

void ProgramBuilder::finish(OpBuilder &builder) {
  backend().arrange(*this, steps);
  findLifetimes();
  std::vector<Lifetime> lifetimes;
  std::vector<int64_t> owners;
  int64_t end = static_cast<int64_t>(steps.size());
  for (auto [i, storage] : llvm::enumerate(storages))
    if (storage.space == Space::Arena && storage.last >= storage.first) {
      lifetimes.push_back(
          {storage.bytes, std::max<int64_t>(storage.first, -1), std::min(storage.last, end)});
      owners.push_back(static_cast<int64_t>(i));
    }
  int64_t arenaBytes = planArena(lifetimes);
  Attribute largest = largestAtPeak(builder, lifetimes);
  for (auto [lifetime, owner] : llvm::zip(lifetimes, owners))
    storages[owner].offset = lifetime.offset;

  auto port = [&](const Port &tensor) -> Attribute {
    auto type = tensorOf(tensor.view.shape, tensor.view.element);
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(tensor.name)),
         builder.getNamedAttr("type", TypeAttr::get(type)),
         builder.getNamedAttr("buffer", bufferAttr(use(tensor.view)))});
  };
  SmallVector<Attribute> inputAttrs, outputAttrs;
  for (const Port &input : inputs)
    inputAttrs.push_back(port(input));
  for (const Port &output : outputs)
    outputAttrs.push_back(port(output));
  auto program = ProgramOp::create(
      builder, function.getLoc(), function.getSymNameAttr(), builder.getI64IntegerAttr(arenaBytes),
      builder.getArrayAttr(inputAttrs), builder.getArrayAttr(outputAttrs));
  program->setAttr("hybrid.largest", largest);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&program.getBody());
  int64_t open = -1; // the loop that is being filled
  for (const Step &step : steps) {
    if (step.loop != open) {
      builder.setInsertionPointToEnd(body);
      open = step.loop;
      if (open >= 0) {
        const TileLoop &loop = loops[open];
        auto created = TileLoopOp::create(builder, loop.loc, loop.rows, loop.tile, loop.tileBytes,
                                          loop.sequential, loop.source);
        builder.createBlock(&created.getBody());
      }
    }
    create(step, builder);
  }
}

void ProgramBuilder::create(const Step &step, OpBuilder &builder) {
  SmallVector<Attribute> buffers;
  SmallVector<int64_t> rowBytes;
  for (const BufferUse &use : step.buffers) {
    buffers.push_back(bufferAttr(use));
    rowBytes.push_back(use.rowBytes);
  }
  if (llvm::all_of(rowBytes, [](int64_t bytes) { return bytes == 0; }))
    rowBytes.clear();
  if (const AttentionCall &call = step.attention; call.batch > 0) {
    LibraryAttentionOp::create(builder, step.loc, builder.getArrayAttr(buffers), call.batch,
                               call.length, call.keyLength, call.heads, call.kvHeads, call.headSize,
                               call.causal, call.backward, llvm::APFloat(call.scale), call.strides,
                               step.source);
    return;
  }
  if (step.m == 0) {
    LaunchOp::create(builder, step.loc, step.kernel, step.grid, builder.getArrayAttr(buffers),
                     step.constants, step.shape.scratchBytes, step.generated, step.source,
                     step.itemsPerTile, rowBytes, step.shape.threads, step.store,
                     step.storeBuffers);
    return;
  }
  bool tiled = step.loop >= 0;
  LibraryMatmulOp::create(builder, step.loc, builder.getArrayAttr(buffers), step.m, step.n, step.k,
                          step.lda, step.ldb, step.ldc, step.transposeA, step.transposeB,
                          step.accumulate, step.element, step.source, step.groups, step.groupStride,
                          tiled && !step.transposeA, tiled && step.transposeA, step.ldAddend);
}

} // namespace hybrid
