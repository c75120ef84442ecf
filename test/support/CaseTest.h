//===- CaseTest.h - tests that compile small modules in f64 and run them ----===//
//
// Cases are modules with a function @forward whose arguments may say what they are filled with:
// `test.range = [low, high]`, and `test.segments` for ids of packed segments.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/Dialects.h"
#include "codegen/Writer.h"
#include "codegen/cpu/CodegenCpu.h"
#include "dialect/HybridOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Passes.h"
#include "runtime/Session.h"
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

  /// A session of the module compiled for this machine in f64; null after a reported failure.
  std::unique_ptr<rt::Session> compile(mlir::ModuleOp module) {
    mlir::PassManager manager(&context);
    buildGraphPipeline(manager, {2, 8, "f64"}, GraphStage::Fused);
    manager.addPass(createScheduleCpu());
    if (failed(manager.run(module)))
      return nullptr;
    auto target = cpu::resolveTarget(module.getLoc(), "native");
    auto code = cpu::compileKernels(module, *target, cpu::CodeStage::SharedObject);
    if (failed(code))
      return nullptr;
    std::vector<char> bytes = writeExecutable(module, *code, *target, {});
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

} // namespace hybrid::test
