//===- LoopText.cpp - kernels of loops as CUDA C++ ---------------------------===//
#include "codegen/cuda/LoopText.h"
#include "codegen/cuda/ScalarText.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hybrid::cuda {
namespace {

constexpr int64_t mostThreads = 256, warp = 32;

class LoopPrinter {
public:
  LoopPrinter(func::FuncOp function, StringRef indexType) : function(function), index(indexType) {}

  LoopText print() {
    // The loop over work items has one iteration here.
    names[function.getArgument(0)] = llvm::formatv("static_cast<{0}>(item)", index);
    names[function.getArgument(1)] = llvm::formatv("static_cast<{0}>(item) + 1", index);
    LoopText text;
    for (auto [i, buffer] : llvm::enumerate(function.getArguments().drop_front(2))) {
      names[buffer] = "x" + std::to_string(i);
      text.parameters += llvm::formatv(", {0} *x{1}", typeText(elementOf(buffer)), i);
    }
    int64_t widest = 1;
    function.walk([&](scf::ParallelOp loop) {
      widest = std::max(widest, constantOf(loop.getUpperBound().front()));
    });
    text.threads = threads = std::min<int64_t>(mostThreads, llvm::alignTo(widest, warp));
    block(function.front());
    text.body = std::move(body);
    return text;
  }

private:
  static Type elementOf(Value memory) {
    return cast<MemRefType>(memory.getType()).getElementType();
  }
  static int64_t constantOf(Value value) {
    return cast<IntegerAttr>(value.getDefiningOp<arith::ConstantOp>().getValue()).getInt();
  }

  template <typename... Arguments> void line(const char *text, Arguments &&...arguments) {
    body += std::string(depth, ' ') +
            llvm::formatv(text, std::forward<Arguments>(arguments)...).str() + "\n";
  }
  StringRef typeOf(Type type) const {
    return type.isIndex() ? index : type.isInteger(1) ? "bool" : typeText(type);
  }
  std::string fresh() { return "v" + std::to_string(count++); }
  std::string of(Value value) { return names.lookup(value); }
  void define(Value value, const std::string &text) {
    line("const {0} {1} = {2};", typeOf(value.getType()), names[value] = fresh(), text);
  }

  void block(Block &block) {
    for (Operation &op : block)
      print(op);
  }
  void inside(Block &of, const std::string &head) {
    line("{0} {{", head);
    depth += 2;
    block(of);
    depth -= 2;
    line("}");
  }

  void loop(scf::ForOp op) {
    for (auto [start, carried, result] :
         llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
      // In two steps: the second may make the table grow, and move the first's place.
      const std::string name = fresh();
      names[carried] = name;
      names[result] = name;
      line("{0} {1} = {2};", typeOf(result.getType()), name, of(start));
    }
    const std::string i = names[op.getInductionVar()] = fresh();
    inside(*op.getBody(),
           llvm::formatv("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", index, i,
                         of(op.getLowerBound()), of(op.getUpperBound()), of(op.getStep())));
  }
  void loop(scf::ParallelOp op) {
    const std::string i = names[op.getInductionVars().front()] = fresh();
    inside(*op.getBody(),
           llvm::formatv("for ({0} {1} = static_cast<{0}>(threadIdx.x); {1} < {2}; {1} += {3})",
                         index, i, of(op.getUpperBound().front()), threads));
    line("blockBarrier();");
  }
  void yield(scf::YieldOp op) {
    if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
      for (auto [carried, next] : llvm::zip_equal(loop.getRegionIterArgs(), op.getResults()))
        line("{0} = {1};", of(carried), of(next));
  }

  void constant(arith::ConstantOp op) {
    if (auto number = dyn_cast<FloatAttr>(op.getValue()))
      names[op.getResult()] = literal(number.getValueAsDouble(), op.getType());
    else
      names[op.getResult()] = std::to_string(cast<IntegerAttr>(op.getValue()).getInt());
  }
  std::string place(Value memory, Value at) { return of(memory) + "[" + of(at) + "]"; }

  static StringRef signOf(arith::CmpIPredicate predicate) {
    assert(predicate == arith::CmpIPredicate::ne && "the only one that steps compare by");
    return "!=";
  }
  static StringRef signOf(arith::CmpFPredicate predicate) {
    return predicate == arith::CmpFPredicate::OLT ? "<" : "==";
  }

  /// The text of an op with one result, by what it is called in C++ or in Prelude.cuh.
  std::string expression(Operation &op) {
    auto between = [&](StringRef sign) {
      return llvm::formatv("{0} {1} {2}", of(op.getOperand(0)), sign, of(op.getOperand(1))).str();
    };
    auto in = [&](StringRef called) {
      std::string text = (called + "(" + of(op.getOperand(0))).str();
      for (Value operand : op.getOperands().drop_front())
        text += ", " + of(operand);
      return text + ")";
    };
    return llvm::TypeSwitch<Operation *, std::string>(&op)
        .Case<arith::AddIOp, arith::AddFOp>([&](auto) { return between("+"); })
        .Case<arith::SubIOp, arith::SubFOp>([&](auto) { return between("-"); })
        .Case<arith::MulIOp, arith::MulFOp>([&](auto) { return between("*"); })
        .Case<arith::DivUIOp, arith::DivFOp>([&](auto) { return between("/"); })
        .Case([&](arith::RemUIOp) { return between("%"); })
        .Case([&](arith::MinUIOp) { return in("minimum<" + index.str() + ">"); })
        .Case([&](arith::NegFOp) { return in("-"); })
        .Case([&](arith::MaximumFOp) { return in("propagatingMaximum"); })
        .Case([&](arith::MinimumFOp) { return in("propagatingMinimum"); })
        .Case([&](arith::CmpIOp compare) { return between(signOf(compare.getPredicate())); })
        .Case([&](arith::CmpFOp compare) { return between(signOf(compare.getPredicate())); })
        .Case([&](arith::SelectOp) {
          return llvm::formatv("{0} ? {1} : {2}", of(op.getOperand(0)), of(op.getOperand(1)),
                               of(op.getOperand(2)))
              .str();
        })
        .Case([&](arith::ExtFOp extend) {
          return in("static_cast<" + typeText(extend.getType()).str() + ">");
        })
        .Case([&](arith::TruncFOp truncate) {
          return truncate.getType().isBF16()
                     ? in("toBf16")
                     : in("static_cast<" + typeText(truncate.getType()).str() + ">");
        })
        .Case([&](math::AbsFOp) { return in("absolute"); })
        .Case([&](math::ExpOp) { return in("exponential"); })
        .Case([&](math::ExpM1Op) { return in("exponentialMinus1"); })
        .Case([&](math::LogOp) { return in("logarithm"); })
        .Case([&](math::Log1pOp) { return in("logarithm1p"); })
        .Case([&](math::SinOp) { return in("sine"); })
        .Case([&](math::CosOp) { return in("cosine"); })
        .Case([&](math::TanhOp) { return in("hyperbolicTangent"); })
        .Case([&](math::ErfOp) { return in("errorFunction"); })
        .Case([&](math::SqrtOp) { return in("squareRoot"); })
        .Case([&](math::Atan2Op) { return in("arcTangent2"); })
        .Case([&](memref::LoadOp load) {
          return place(load.getMemRef(), load.getIndices().front());
        });
  }

  void print(Operation &op) {
    if (auto of = dyn_cast<scf::ForOp>(op))
      loop(of);
    else if (auto parallel = dyn_cast<scf::ParallelOp>(op))
      loop(parallel);
    else if (auto condition = dyn_cast<scf::IfOp>(op))
      inside(*condition.thenBlock(), "if (" + this->of(condition.getCondition()) + ")");
    else if (auto end = dyn_cast<scf::YieldOp>(op))
      yield(end);
    else if (auto number = dyn_cast<arith::ConstantOp>(op))
      constant(number);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      line("{0} = {1};", place(store.getMemRef(), store.getIndices().front()),
           this->of(store.getValue()));
    else if (op.getNumResults() == 1)
      define(op.getResult(0), expression(op));
    else
      assert((isa<func::ReturnOp, scf::ReduceOp>(op)) && "no op of a kernel of loops");
  }

  func::FuncOp function;
  StringRef index;
  std::string body;
  llvm::DenseMap<Value, std::string> names;
  size_t depth = 2, count = 0;
  int64_t threads = warp;
};

} // namespace

LoopText textOfLoops(func::FuncOp function, StringRef indexType) {
  return LoopPrinter(function, indexType).print();
}

} // namespace hybrid::cuda
