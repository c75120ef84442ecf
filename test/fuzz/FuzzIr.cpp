//===- FuzzIr.cpp - no text of a stage crashes the compiler ------------------------===//
//
// What hybridc does with an .mlir file, up to a schedule: there is IR that verifies, or a
// diagnostic.
//
//===----------------------------------------------------------------------===//
#include "codegen/DeviceTarget.h"
#include "codegen/Dialects.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mlir::DialectRegistry *registry = [] {
    auto *made = new mlir::DialectRegistry();
    hybrid::registerAllDialects(*made);
    return made;
  }();
  mlir::MLIRContext context(*registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  bool explained = false;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &) {
    explained = true;
    return mlir::success();
  });
  // MLIR's lexer looks at the character behind the end, which a file's buffer has.
  const std::string text(reinterpret_cast<const char *>(data), size);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  if (!module)
    return explained ? 0 : (std::abort(), 0);
  mlir::PassManager manager(&context);
  hybrid::buildGraphPipeline(manager, {2, 4, "f32"}, hybrid::GraphStage::Fused);
  if (mlir::failed(manager.run(*module)) && !explained)
    std::abort();
  return 0;
}
