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
#include <map>

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

  /// A session of the module compiled in f64 for the target HYBRID_TEST_TARGET, or this machine's
  /// CPU; null after a reported failure.
  std::unique_ptr<rt::Session> compile(mlir::ModuleOp module,
                                       const CompileOptions &options = {2, 8, "f64"}) {
    const char *name = std::getenv("HYBRID_TEST_TARGET");
    std::string complaint;
    auto target = createTarget(name ? name : "cpu", complaint);
    if (!target) {
      ADD_FAILURE() << complaint;
      return nullptr;
    }
    mlir::PassManager manager(&context);
    buildGraphPipeline(manager, options, GraphStage::Fused);
    target->addSchedule(manager, true, false);
    if (failed(manager.run(module)))
      return nullptr;
    auto code = target->compile(module, "exe");
    if (failed(code))
      return nullptr;
    std::vector<char> bytes = writeExecutable(module, *code, target->describe(), {});
    auto begin = reinterpret_cast<const std::byte *>(bytes.data());
    auto executable = rt::Executable::fromBytes({begin, begin + bytes.size()}, "case");
    if (!executable) {
      ADD_FAILURE() << executable.error().message;
      return nullptr;
    }
    auto session = rt::Session::create(*executable, {});
    if (!session) {
      ADD_FAILURE() << session.error().message;
      return nullptr;
    }
    return std::move(*session);
  }

  mlir::MLIRContext context;
};

/// Ops that only the CPU has a kernel for, each with a module; the laws that are walked over all
/// ops do not hold on another device, which must refuse them.
inline const std::map<std::string, const char *> &opsOfTheCpu() {
  static const std::map<std::string, const char *> modules = {{"recurrence", R"(
func.func @forward(%x: tensor<2x8x4xf32> {hybrid.name = "x"}) -> (tensor<2x8x4xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %h, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %y : tensor<2x8x4xf32>
})"}};
  return modules;
}

/// On a device without a kernel of the op. It fails once there is one: then the op leaves the list.
class IsRefused : public CaseTest {
public:
  IsRefused(const char *text) : text(text) {}
  void TestBody() override {
    std::string said;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) { said += diagnostic.str() + "\n"; });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(!!module) << said;
    EXPECT_EQ(compile(*module), nullptr);
    EXPECT_NE(said.find("runs on the CPU only"), std::string::npos) << said;
  }

private:
  const char *text;
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
    auto refused = opsOfTheCpu().find(op);
    const bool isRefused = refused != opsOfTheCpu().end() && std::getenv("HYBRID_TEST_TARGET");
    testing::RegisterTest(suite, op.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [make, op, isRefused, refused]() -> CaseTest * {
                            return isRefused ? new IsRefused(refused->second) : make(op);
                          });
    ++count;
  }
  if (count == 0) {
    llvm::errs() << "no op is registered for " << suite << "\n";
    return 1;
  }
  return RUN_ALL_TESTS();
}

} // namespace hybrid::test
