//===- CaseTest.h - tests that compile small modules in f64 and run them ----===//
//
// Cases are modules with a function @forward whose arguments may say what they are filled with:
// `test.range = [low, high]`, and `test.segments` for ids of packed segments.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/Dialects.h"
#include "codegen/Writer.h"
#include "dialect/HybridOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Passes.h"
#include "runtime/Session.h"
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>

namespace hybrid::test {

/// What a module's argument is filled with.
struct InputRule {
  double low = -1, high = 1;
  bool segments = false;
};
using InputRules = std::map<std::string, InputRule>;

/// Takes the `test.*` attributes off the arguments of @forward.
inline InputRules takeInputRules(mlir::ModuleOp module) {
  InputRules rules;
  auto forward = module.lookupSymbol<mlir::func::FuncOp>("forward");
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    InputRule rule;
    if (auto range = forward.getArgAttrOfType<mlir::ArrayAttr>(i, "test.range")) {
      rule.low = mlir::cast<mlir::FloatAttr>(range[0]).getValueAsDouble();
      rule.high = mlir::cast<mlir::FloatAttr>(range[1]).getValueAsDouble();
    }
    rule.segments = forward.getArgAttr(i, "test.segments") != nullptr;
    rules[forward.getArgAttrOfType<mlir::StringAttr>(i, "hybrid.name").str()] = rule;
    forward.removeArgAttr(i, "test.range");
    forward.removeArgAttr(i, "test.segments");
  }
  return rules;
}

class CaseTest : public testing::Test {
public:
  CaseTest() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The target HYBRID_TEST_TARGET, or this machine's CPU.
  static std::string targetName() {
    const char *name = std::getenv("HYBRID_TEST_TARGET");
    return name ? name : "cpu";
  }

  /// The module compiled in f64 for that target; HYBRID_TEST_TRANSFORMS says who computes Fourier
  /// transforms there, HYBRID_TEST_PRODUCTS who multiplies.
  rt::Result<std::shared_ptr<const rt::Executable>>
  compileExecutable(mlir::ModuleOp module, CompileOptions options = {2, 8, "f64"}) {
    std::string complaint;
    auto target = createTarget(targetName(), complaint);
    if (!target)
      return rt::Error{complaint};
    if (const char *transforms = std::getenv("HYBRID_TEST_TRANSFORMS")) {
      if (!target->chooseTransforms(transforms))
        return rt::Error{"the target has no choice of transforms"};
      options.longestConvolution = target->longestConvolution(true);
    }
    if (const char *products = std::getenv("HYBRID_TEST_PRODUCTS");
        products && !target->chooseProducts(products))
      return rt::Error{"the target has no choice of products"};
    mlir::PassManager manager(&context);
    buildGraphPipeline(manager, options, GraphStage::Fused);
    target->addSchedule(manager, true, false);
    if (failed(manager.run(module)))
      return rt::Error{"the case does not compile"};
    auto code = target->compile(module, "exe");
    if (failed(code))
      return rt::Error{"the case has no code"};
    std::vector<char> bytes = writeExecutable(module, *code, target->describe(), {});
    auto begin = reinterpret_cast<const std::byte *>(bytes.data());
    return rt::Executable::fromBytes({begin, begin + bytes.size()}, "case");
  }

  /// A session of it; null after a reported failure.
  std::unique_ptr<rt::Session> compile(mlir::ModuleOp module,
                                       const CompileOptions &options = {2, 8, "f64"}) {
    auto executable = compileExecutable(module, options);
    if (executable)
      return open(*executable, {});
    ADD_FAILURE() << executable.error().message;
    return nullptr;
  }

  static std::unique_ptr<rt::Session> open(const std::shared_ptr<const rt::Executable> &executable,
                                           const rt::SessionOptions &options) {
    auto session = rt::Session::create(executable, options);
    if (!session) {
      ADD_FAILURE() << session.error().message;
      return nullptr;
    }
    return std::move(*session);
  }

  mlir::MLIRContext context;
};

/// Runs one test of `suite` for each registered op with `Interface`; none at all is a failure.
template <typename Interface>
int runForEachOp(int argc, char **argv, const char *suite,
                 std::function<CaseTest *(std::string op)> make) {
  testing::InitGoogleTest(&argc, argv);
  mlir::MLIRContext context;
  context.loadDialect<HybridDialect>();
  int count = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "hybrid" || !name.hasInterface<Interface>())
      continue;
    std::string op = name.stripDialect().str();
    testing::RegisterTest(suite, op.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [make, op]() -> CaseTest * { return make(op); });
    ++count;
  }
  if (count == 0) {
    llvm::errs() << "no op is registered for " << suite << "\n";
    return 1;
  }
  return RUN_ALL_TESTS();
}

} // namespace hybrid::test
