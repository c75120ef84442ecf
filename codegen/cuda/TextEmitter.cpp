//===- TextEmitter.cpp - generated CUDA kernels -----------------------------===//
#include "codegen/cuda/TextEmitter.h"
#include "codegen/cuda/LoopText.h"
#include "codegen/cuda/ScalarText.h"
#include "codegen/loops/Recurrence.h"
#include "codegen/program/IterationSpace.h"
#include "dialect/Shapes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;

namespace hybrid::cuda {
namespace {

constexpr int64_t elementwiseThreads = 256, reductionThreads = 128;
/// Packs of elements a thread moves, so that several loads are on their way at once.
constexpr int64_t packsPerThread = 2;
/// Who reduces: a thread where elements are few, a warp where they are not many, or results are so
/// many that beginning a block for each would take longer than to compute it (1.2 ns on an H200),
/// otherwise a block.
constexpr int64_t leastSharedReduction = 64, longestWarpReduction = 4096, leastWarpResults = 1024,
                  shortWarpReduction = 256, warpReductionThreads = 256,
                  manyResults = int64_t(1) << 19;
/// `threads` of a block have a result together, and `each` of them one after another.
struct ReductionTeam {
  int64_t threads, block, each = 1;
};
ReductionTeam reductionTeam(int64_t count, int64_t results) {
  if (count < leastSharedReduction && results >= manyResults)
    return {1, 256, 4};
  if (count < leastSharedReduction)
    return {1, warpReductionThreads};
  if (count <= shortWarpReduction || (count <= longestWarpReduction && results >= leastWarpResults))
    return {32, warpReductionThreads};
  return {reductionThreads, reductionThreads};
}

/// Adds the text of a kernel or store; returns its symbol. What has the same key is used again.
std::string addSource(GeneratedKernels &kernels, StringRef stem, const std::string &key,
                      llvm::function_ref<std::string(const std::string &)> textOf) {
  auto [entry, inserted] = kernels.symbols.try_emplace(key);
  if (!inserted)
    return entry->second;
  entry->second = (stem + "_" + Twine(kernels.symbols.size() - 1)).str();
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.module.getBody());
  KernelSourceOp::create(builder, kernels.module.getLoc(), entry->second, textOf(entry->second),
                         builder.getStrArrayAttr({}));
  return entry->second;
}
/// A kernel; `parameters` begin with a comma each.
std::string addKernel(GeneratedKernels &kernels, StringRef stem, const std::string &parameters,
                      const std::string &body) {
  return addSource(kernels, stem, parameters + "\n" + body, [&](const std::string &symbol) {
    return "HYBRID_DEVICE void " + symbol + "(int64_t item" + parameters + ") {\n" + body + "}\n";
  });
}

/// The text of one kernel under construction, or of a store.
class KernelText {
public:
  KernelText(GeneratedKernels &kernels, ArrayRef<View> operands, ArrayRef<View> results)
      : kernels(kernels), operands(operands.size()) {
    for (auto [i, view] : llvm::enumerate(operands))
      members += llvm::formatv("  const {0} *x{1};\n", typeText(view.element), i);
    for (auto [i, view] : llvm::enumerate(results))
      members += llvm::formatv("  {0} *y{1};\n", typeText(view.element), i);
    for (auto [i, view] : llvm::enumerate(operands))
      parameters += llvm::formatv(", const {0} *x{1}", typeText(view.element), i);
    for (auto [i, view] : llvm::enumerate(results))
      parameters += llvm::formatv(", {0} *y{1}", typeText(view.element), i);
  }

  std::string buffer(size_t i) const {
    return i < operands ? "x" + std::to_string(i) : "y" + std::to_string(i - operands);
  }

  /// A line of the body; `text` may end with "{" or start with "}".
  template <typename... Arguments> void line(const char *text, Arguments &&...arguments) {
    std::string made = llvm::formatv(text, std::forward<Arguments>(arguments)...).str();
    if (StringRef(made).starts_with("}"))
      depth -= 2;
    body += std::string(depth, ' ') + made + "\n";
    if (StringRef(made).ends_with("{"))
      depth += 2;
  }
  void close() { line("}"); }

  /// Ends the kernel and returns its symbol: an equal kernel made before is used again.
  std::string finish(StringRef stem) { return addKernel(kernels, stem, parameters, body); }
  /// Ends a store, whose body is that of a function of `row`, `column` and `value`. A pack of
  /// `count` values, up to `width`, is stored in two steps: `loads` returns the `loaded` operands,
  /// `neighbours` stores the values with them.
  std::string finishStore(StringRef element, int64_t width, StringRef loaded,
                          const KernelText &loads, const KernelText &neighbours) {
    auto function = [](const std::string &result, const std::string &name,
                       const std::string &arguments, const std::string &body) {
      return "  HYBRID_DEVICE " + result + " " + name + "(int64_t row, int64_t column" + arguments +
             ") const {\n" + body + "  }\n";
    };
    const std::string count = "  template <int count>\n";
    std::string text =
        llvm::formatv("  static constexpr int width = {0};\n", width).str() + members +
        function("void", "operator()", ", " + element.str() + " value", body) + count +
        "  struct Operands {\n" + loaded.str() + "  };\n" + count +
        function("Operands<count>", "load", "", loads.body) + count +
        function("void", "operator()",
                 llvm::formatv(", const Pack<{0}, count> &value, const Operands<count> &operands",
                               element),
                 neighbours.body);
    return addSource(kernels, "store", text, [&](const std::string &symbol) {
      return "struct " + symbol + " {\n" + text + "};\n";
    });
  }
  /// Ends a function of numbers `x`, whose results the body stores in `y`.
  void finishFunction(StringRef name, StringRef element) {
    OpBuilder builder = OpBuilder::atBlockEnd(kernels.module.getBody());
    std::string text = llvm::formatv("struct {0} {{\n  static HYBRID_DEVICE void apply(const {1} "
                                     "*x, {1} *y) {{\n{2}  }\n};\n",
                                     name, element, body);
    KernelSourceOp::create(builder, kernels.module.getLoc(), name, text,
                           builder.getStrArrayAttr({}));
  }
  void indent() { depth += 2; }

private:
  GeneratedKernels &kernels;
  size_t operands;
  std::string parameters, members, body;
  size_t depth = 2;
};

/// "3 * a + 128 * b" of index names and strides; what has stride 0 is left out.
std::string sumOfIndices(ArrayRef<std::string> indices, ArrayRef<int64_t> strides) {
  std::string sum;
  for (auto [index, stride] : llvm::zip(indices, strides))
    if (stride)
      sum += (sum.empty() ? "" : " + ") +
             (stride == 1 ? index : llvm::formatv("{0} * {1}", stride, index).str());
  return sum.empty() ? "0" : sum;
}

/// Names of the indices into `shape` at the flat index `flat`; emits their declarations.
SmallVector<std::string> decompose(KernelText &kernel, StringRef type, const std::string &flat,
                                   ArrayRef<int64_t> shape, StringRef prefix) {
  SmallVector<std::string> names(shape.size());
  int64_t below = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape.size() == 1)
      names[d] = flat;
    else {
      names[d] = (prefix + Twine(d)).str();
      std::string divided = below == 1 ? flat : llvm::formatv("{0} / {1}", flat, below).str();
      kernel.line("const {0} {1} = {2};", type, names[d],
                  d == 0 ? divided : llvm::formatv("{0} % {1}", divided, shape[d]).str());
    }
    below *= shape[d];
  }
  return names;
}

/// Whether offsets in all views fit 32 bits, which saves registers and instructions.
StringRef indexType(int64_t elements, ArrayRef<View> views) {
  int64_t most = elements;
  for (const View &view : views)
    most = std::max(most, view.extent());
  return most < (int64_t(1) << 30) ? "int" : "int64_t";
}

/// How many neighbours along the last dimension one instruction may move: all views have them
/// contiguous and aligned, or the same element for all.
int64_t packSize(const IterationSpace &space, ArrayRef<View> views) {
  int64_t widest = 1;
  for (const View &view : views)
    widest = std::max(widest, bytesOf(view.element));
  int64_t size = 16 / widest;
  for (auto [view, strides] : llvm::zip(views, space.strides)) {
    int64_t inner = strides.back();
    if (inner != 0 && inner != 1)
      return 1;
    if (inner == 0)
      continue;
    // Storages start at multiples of 64 bytes.
    size = std::gcd(size, view.offset);
    for (int64_t stride : ArrayRef(strides).drop_back())
      size = std::gcd(size, stride);
  }
  return std::gcd(size, space.shape.back());
}

/// The values of one element: names of the results for names of the operands.
SmallVector<std::string> emitBody(KernelText &kernel, Block *body, ArrayRef<std::string> operands) {
  if (!body)
    return SmallVector<std::string>(operands);
  llvm::DenseMap<Value, std::string> names;
  for (auto [argument, name] : llvm::zip(body->getArguments(), operands))
    names[argument] = name;
  size_t count = 0;
  for (Operation &op : body->without_terminator()) {
    SmallVector<std::string> arguments;
    for (Value operand : op.getOperands())
      arguments.push_back(names.lookup(operand));
    std::string text = scalarText(&op, arguments), &name = names[op.getResult(0)];
    if (isa<ConstantOp, BroadcastOp>(op)) {
      name = text;
      continue;
    }
    name = "v" + std::to_string(count++);
    kernel.line("const {0} {1} = {2};", typeText(elementOf(op.getResult(0))), name, text);
  }
  SmallVector<std::string> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(names.lookup(value));
  return results;
}

/// What a pack needs of an operand: neighbours, or one element for all.
bool isRepeated(const IterationSpace &space, size_t operand) {
  return space.strides[operand].back() == 0;
}

/// Computes and stores `pack` neighbours at `indices`: a number, or a name of one that is a power
/// of two. `numbers`: names of what the body takes.
void emitResults(KernelText &kernel, Block *body, size_t operands, ArrayRef<View> results,
                 const IterationSpace &space, ArrayRef<std::string> indices,
                 const std::string &pack, ArrayRef<std::string> numbers) {
  auto place = [&](size_t i) { return sumOfIndices(indices, space.strides[operands + i]); };
  if (pack == "1") {
    for (auto [i, value] : llvm::enumerate(emitBody(kernel, body, numbers)))
      kernel.line("{0}[{1}] = {2};", kernel.buffer(operands + i), place(i), value);
    return;
  }
  for (auto [i, view] : llvm::enumerate(results))
    kernel.line("Pack<{0}, {1}> r{2};", typeText(view.element), pack, i);
  kernel.line("HYBRID_UNROLL");
  kernel.line("for (int j = 0; j < {0}; ++j) {{", pack);
  for (auto [i, value] : llvm::enumerate(emitBody(kernel, body, numbers)))
    kernel.line("r{0}[j] = {1};", i, value);
  kernel.close();
  for (size_t i = 0; i < results.size(); ++i)
    kernel.line("storeGlobal({0} + {1}, r{2});", kernel.buffer(operands + i), place(i), i);
}

/// The text that loads an operand of a pack at `indices`.
std::string loadText(const KernelText &kernel, const IterationSpace &space, size_t operand,
                     size_t source, ArrayRef<std::string> indices, const std::string &pack) {
  const std::string buffer = kernel.buffer(source),
                    place = sumOfIndices(indices, space.strides[operand]);
  if (pack == "1" || isRepeated(space, operand))
    return buffer + "[" + place + "]";
  return "loadPack<" + pack + ">(" + buffer + " + " + place + ")";
}

/// Loads operands at `indices`, computes and stores `pack` neighbours. `given`: what the body takes
/// before the operands.
void emitPack(KernelText &kernel, Block *body, ArrayRef<View> operands, ArrayRef<View> results,
              const IterationSpace &space, ArrayRef<std::string> indices, int64_t pack,
              ArrayRef<std::string> given = {}) {
  SmallVector<std::string> numbers(given);
  const SmallVector<size_t> source = readThrough(operands, results);
  const std::string count = std::to_string(pack);
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string name = "a" + std::to_string(i);
    const bool isNumber = pack == 1 || isRepeated(space, i);
    kernel.line("const {0} {1} = {2};",
                isNumber ? typeText(operands[i].element).str() : std::string("auto"), name,
                loadText(kernel, space, i, source[i], indices, count));
    numbers.push_back(isNumber ? name : name + "[j]");
  }
  emitResults(kernel, body, operands.size(), results, space, indices, count, numbers);
}

} // namespace

GeneratedKernel TextEmitter::elementwise(GeneratedKernels &kernels, Block *body,
                                         ArrayRef<View> operands, ArrayRef<View> results,
                                         bool byRows, std::optional<size_t> ifFinite) const {
  SmallVector<View> buffers(operands);
  buffers.append(results.begin(), results.end());
  IterationSpace space = collapse(results[0].shape, buffers, byRows);
  KernelText kernel(kernels, operands, results);
  if (ifFinite) // there is no barrier
    kernel.line("if (!isFinite(*{0})) return;", kernel.buffer(*ifFinite));
  int64_t pack = packSize(space, buffers), elements = elementCount(space.shape);
  StringRef type = indexType(elements, buffers);
  int64_t inner = space.shape.back(), grid, itemElements = inner;
  if (byRows) {
    ArrayRef<int64_t> outer = ArrayRef(space.shape).drop_back();
    grid = elementCount(outer);
    SmallVector<std::string> indices =
        decompose(kernel, type, "static_cast<" + type.str() + ">(item)", outer, "row");
    kernel.line("for ({0} column = threadIdx.x * {1}; column < {2}; column += {3}) {{", type, pack,
                inner, elementwiseThreads * pack);
    indices.push_back("column");
    emitPack(kernel, body, operands, results, space, indices, pack);
    kernel.close();
  } else {
    int64_t perBlock = elementwiseThreads * packsPerThread * pack;
    grid = llvm::divideCeil(elements, perBlock);
    itemElements = perBlock;
    kernel.line("HYBRID_UNROLL");
    kernel.line("for (int k = 0; k < {0}; ++k) {{", packsPerThread);
    kernel.line("const {0} i = static_cast<{0}>(item) * {1} + k * {2} + threadIdx.x * {3};", type,
                perBlock, elementwiseThreads * pack, pack);
    kernel.line("if (i < {0}) {{", elements);
    SmallVector<std::string> indices = decompose(kernel, type, "i", space.shape, "i");
    emitPack(kernel, body, operands, results, space, indices, pack);
    kernel.close();
    kernel.close();
  }
  return {kernel.finish(body ? "fused" : "copy"), grid, {elementwiseThreads, 0}, itemElements};
}

GeneratedKernel TextEmitter::recurrence(GeneratedKernels &kernels, RecurrenceStepOp step) const {
  const SmallVector<View> views = loops::viewsOf(step);
  loops::KernelFunction kernel(kernels, views, loops::Workers::Block);
  const int64_t items = loops::emitRecurrence(kernel, step);
  func::FuncOp function = kernel.close();
  const LoopText text = textOfLoops(function, indexType(1, views));
  function.erase();
  return {addKernel(kernels, loops::nameOf(step), text.parameters, text.body),
          items,
          {text.threads, 0}};
}

std::string TextEmitter::store(GeneratedKernels &kernels, Block *body, ArrayRef<View> operands,
                               ArrayRef<View> results) const {
  SmallVector<View> buffers(operands);
  buffers.append(results.begin(), results.end());
  IterationSpace space = collapse(results[0].shape, buffers, /*keepRows=*/true);
  ArrayRef<int64_t> outer = ArrayRef(space.shape).drop_back();
  SmallVector<std::string> indices;
  auto begin = [&] {
    KernelText text(kernels, operands, results);
    text.indent();
    indices = decompose(text, "int64_t", "row", outer, "row");
    indices.push_back("column");
    return text;
  };
  KernelText one = begin(), loads = begin(), neighbours = begin();
  emitPack(one, body, operands, results, space, indices, 1, {"value"});

  const SmallVector<size_t> source = readThrough(operands, results);
  SmallVector<std::string> numbers = {"value[j]"};
  std::string members;
  loads.line("Operands<count> operands;");
  for (auto [i, view] : llvm::enumerate(operands)) {
    const std::string name = "a" + std::to_string(i);
    const bool repeated = isRepeated(space, i);
    members += llvm::formatv(repeated ? "    {0} {1};\n" : "    Pack<{0}, count> {1};\n",
                             typeText(view.element), name);
    loads.line("operands.{0} = {1};", name, loadText(loads, space, i, source[i], indices, "count"));
    numbers.push_back("operands." + name + (repeated ? "" : "[j]"));
  }
  loads.line("return operands;");
  emitResults(neighbours, body, operands.size(), results, space, indices, "count", numbers);
  return one.finishStore(typeText(elementOf(body->getArgument(0))), packSize(space, buffers),
                         members, loads, neighbours);
}

void TextEmitter::function(GeneratedKernels &kernels, StringRef name, Block *body) const {
  KernelText kernel(kernels, {}, {});
  kernel.indent();
  SmallVector<std::string> numbers;
  for (unsigned i = 0; i < body->getNumArguments(); ++i)
    numbers.push_back("x[" + std::to_string(i) + "]");
  for (auto [i, value] : llvm::enumerate(emitBody(kernel, body, numbers)))
    kernel.line("y[{0}] = {1};", i, value);
  kernel.finishFunction(name, typeText(elementOf(body->getArgument(0))));
}

GeneratedKernel TextEmitter::fill(GeneratedKernels &kernels, const View &to, double value) const {
  IterationSpace space = collapse(to.shape, {to});
  KernelText kernel(kernels, {}, {to});
  int64_t elements = elementCount(space.shape), perBlock = elementwiseThreads * 4;
  StringRef type = indexType(elements, {to});
  kernel.line("HYBRID_UNROLL");
  kernel.line("for (int k = 0; k < {0}; ++k) {{", 4);
  kernel.line("const {0} i = static_cast<{0}>(item) * {1} + k * {2} + threadIdx.x;", type, perBlock,
              elementwiseThreads);
  kernel.line("if (i < {0}) {{", elements);
  SmallVector<std::string> indices = decompose(kernel, type, "i", space.shape, "i");
  kernel.line("y0[{0}] = {1};", sumOfIndices(indices, space.strides[0]),
              literal(value, to.element));
  kernel.close();
  kernel.close();
  return {kernel.finish("fill"),
          static_cast<int64_t>(llvm::divideCeil(elements, perBlock)),
          {elementwiseThreads, 0}};
}

/// One value of what a reduction reads: loads each operand at its text in `places`.
static std::string emitLoad(KernelText &kernel, const Load &from, ArrayRef<std::string> places) {
  if (!from.body)
    return places[0];
  SmallVector<std::string> loaded;
  for (auto [i, place] : llvm::enumerate(places)) {
    loaded.push_back("a" + std::to_string(i));
    kernel.line("const {0} {1} = {2};", typeText(from.operands[i].element), loaded.back(), place);
  }
  return emitBody(kernel, from.body, loaded).front();
}

/// How many neighbours a thread that reduces by itself loads at a time.
static int64_t reductionPack(const IterationSpace &outer, const IterationSpace &loops,
                             ArrayRef<View> operands) {
  int64_t pack = packSize(loops, operands);
  for (size_t i = 0; i < operands.size(); ++i)
    if (!isRepeated(loops, i))
      for (int64_t stride : outer.strides[i])
        pack = std::gcd(pack, stride);
  return pack;
}

GeneratedKernel TextEmitter::reduction(GeneratedKernels &kernels, ReduceKind kind, const Load &from,
                                       ArrayRef<int64_t> axes, const View &to) const {
  SmallVector<View> kept, inner;
  for (const View &operand : from.operands) {
    View parts[2] = {operand, operand};
    for (View &part : parts)
      part.shape.clear(), part.strides.clear();
    for (size_t i = 0; i < operand.shape.size(); ++i) {
      View &part = parts[llvm::is_contained(axes, static_cast<int64_t>(i))];
      part.shape.push_back(operand.shape[i]);
      part.strides.push_back(operand.strides[i]);
    }
    kept.push_back(parts[0]), inner.push_back(parts[1]);
  }
  const SmallVector<int64_t> keptShape = kept[0].shape, innerShape = inner[0].shape;
  View target = to; // `keep` leaves sizes of 1 behind: drop them
  target.shape = keptShape;
  target.strides = denseStrides(keptShape);
  kept.push_back(target);
  IterationSpace outer = collapse(keptShape, kept), loops = collapse(innerShape, inner);
  int64_t count = elementCount(innerShape), rows = elementCount(keptShape);
  const ReductionTeam team = reductionTeam(count, rows);
  const int64_t rowsOfBlock = team.block / team.threads * team.each;

  KernelText kernel(kernels, from.operands, {to});
  SmallVector<View> all(from.operands);
  all.push_back(to);
  StringRef type = indexType(std::max(rows, count), all), element = typeText(to.element);
  std::string neutral =
      kind == ReduceKind::Max ? "-infinity<" + element.str() + ">()" : literal(0, to.element);
  if (team.each > 1) {
    kernel.line("HYBRID_UNROLL");
    kernel.line("for (int part = 0; part < {0}; ++part) {{", team.each);
  }
  if (rowsOfBlock == 1) {
    kernel.line("const {0} row = static_cast<{0}>(item);", type);
  } else {
    kernel.line("const {0} row = static_cast<{0}>(item) * {1} + {2}threadIdx.x{3};", type,
                rowsOfBlock, team.each > 1 ? "part * " + std::to_string(team.block) + " + " : "",
                team.threads > 1 ? " / " + std::to_string(team.threads) : "");
    kernel.line("if (row >= {0})", rows);
    kernel.line("  return;"); // whole warps, and there is no barrier
  }
  SmallVector<std::string> rowIndices = decompose(kernel, type, "row", outer.shape, "row");
  for (auto [i, operand] : llvm::enumerate(from.operands))
    kernel.line("const {0} *start{1} = x{1} + {2};", typeText(operand.element), i,
                sumOfIndices(rowIndices, outer.strides[i]));
  kernel.line("{0} value = {1};", element, neutral);
  const std::string first = team.threads == 1  ? "0"
                            : rowsOfBlock == 1 ? "threadIdx.x"
                                               : "threadIdx.x % " + std::to_string(team.threads);
  const int64_t pack = team.threads == 1 ? reductionPack(outer, loops, from.operands) : 1;
  kernel.line("for ({0} k = {1}; k < {2}; k += {3}) {{", type, first, count, team.threads * pack);
  SmallVector<std::string> indices = decompose(kernel, type, "k", loops.shape, "k");
  SmallVector<std::string> places;
  for (size_t i = 0; i < from.operands.size(); ++i) {
    const std::string place = sumOfIndices(indices, loops.strides[i]);
    if (pack > 1 && !isRepeated(loops, i)) {
      kernel.line("const auto p{0} = loadPack<{1}>(start{0} + {2});", i, pack, place);
      places.push_back(llvm::formatv("p{0}[j]", i));
    } else {
      places.push_back(llvm::formatv("start{0}[{1}]", i, place));
    }
  }
  if (pack > 1) {
    kernel.line("HYBRID_UNROLL");
    kernel.line("for (int j = 0; j < {0}; ++j) {{", pack);
  }
  std::string loaded = emitLoad(kernel, from, places);
  if (kind == ReduceKind::Max)
    kernel.line("value = propagatingMaximum(value, {0});", loaded);
  else
    kernel.line("value += {0};", loaded);
  if (pack > 1)
    kernel.close();
  kernel.close();
  const bool max = kind == ReduceKind::Max;
  if (team.threads == 32)
    kernel.line("value = {0}(value);", max ? "warpMax" : "warpSum");
  else if (team.threads > 1)
    kernel.line("value = {0}<{1}>(value, sharedMemory<{2}>());", max ? "blockMax" : "blockSum",
                team.threads, element);
  if (kind == ReduceKind::Mean)
    kernel.line("value *= {0};", literal(1.0 / static_cast<double>(count), to.element));
  std::string store =
      llvm::formatv("y0[{0}] = value;", sumOfIndices(rowIndices, outer.strides.back())).str();
  kernel.line("{0}{1}", team.threads > 1 ? llvm::formatv("if ({0} == 0) ", first).str() : "",
              store);
  if (team.each > 1)
    kernel.close();
  const int64_t shared = team.threads > 32 ? team.threads / 32 * bytesOf(to.element) : 0;
  return {kernel.finish("reduce"),
          static_cast<int64_t>(llvm::divideCeil(rows, rowsOfBlock)),
          {team.block, shared}};
}

GeneratedKernel TextEmitter::rowSums(GeneratedKernels &kernels, const Load &from,
                                     int64_t rowsPerItem, const View &partial, double scale) const {
  int64_t rows = from.shape()[0], columns = from.shape()[1];
  KernelText kernel(kernels, from.operands, {partial});
  SmallVector<View> all(from.operands);
  all.push_back(partial);
  StringRef type = indexType(rows * columns, all);
  StringRef element = typeText(partial.element);
  kernel.line("const {0} first = static_cast<{0}>(item) * {1};", type, rowsPerItem);
  kernel.line("const {0} last = minimum<{0}>(first + {1}, {2});", type, rowsPerItem, rows);
  // Of narrow rows threads have several at a time, and sum their sums in the end.
  const int64_t groups = std::max<int64_t>(1, reductionThreads / columns);
  if (groups > 1) {
    kernel.line("const {0} column = threadIdx.x % {1}, group = threadIdx.x / {1};", type, columns);
    kernel.line("{0} sum = {1};", element, literal(0, partial.element));
    kernel.line("for ({0} row = group < {1} ? first + group : last; row < last; row += {1}) {{",
                type, groups);
  } else {
    kernel.line("for ({0} column = threadIdx.x; column < {1}; column += {2}) {{", type, columns,
                reductionThreads);
    kernel.line("{0} sum = {1};", element, literal(0, partial.element));
    kernel.line("for ({0} row = first; row < last; ++row) {{", type);
  }
  SmallVector<std::string> places;
  for (auto [i, operand] : llvm::enumerate(from.operands))
    places.push_back(
        llvm::formatv("x{0}[{1}]", i,
                      sumOfIndices({std::string("row"), std::string("column")}, operand.strides))
            .str());
  std::string loaded = emitLoad(kernel, from, places);
  kernel.line("sum += {0};", loaded);
  kernel.close();
  if (groups > 1) {
    kernel.line("sharedMemory<{0}>()[threadIdx.x] = sum;", element);
    kernel.line("blockBarrier();");
    kernel.line("if (threadIdx.x < {0}) {{", columns);
    kernel.line("for (int other = 1; other < {0}; ++other)", groups);
    kernel.line("  sum += sharedMemory<{0}>()[other * {1} + threadIdx.x];", element, columns);
  }
  kernel.line("y0[static_cast<{0}>(item) * {1} + column] = {2};", type, columns,
              scale == 1 ? "sum" : "sum * " + literal(scale, partial.element));
  kernel.close();
  return {kernel.finish("row_sums"),
          static_cast<int64_t>(llvm::divideCeil(rows, rowsPerItem)),
          {reductionThreads, groups > 1 ? reductionThreads * bytesOf(partial.element) : 0}};
}

} // namespace hybrid::cuda
