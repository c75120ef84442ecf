//===- Schedule.cpp - a module of functions becomes programs ----------------===//
#include "codegen/program/Schedule.h"
#include "codegen/program/ProgramBuilder.h"

using namespace mlir;

namespace hybrid {

LogicalResult lowerToSchedule(ModuleOp module, const Backend &backend,
                              const LoweringOptions &options) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward)
    return module.emitError() << "has no function @forward to schedule";
  ModuleTables tables(backend, options);
  tables.collectParameters(forward);
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    tables.collectStates(function);
  for (func::FuncOp function : functions)
    if (failed(tables.checkParameters(function)) ||
        failed(ProgramBuilder(tables, function).lowerFunction()))
      return failure();
  tables.placeTables();
  OpBuilder builder(forward);
  builder.setInsertionPoint(forward->getPrevNode()); // its program
  tables.createSetup(builder, module.getLoc());
  tables.describe(module);
  for (func::FuncOp function : functions)
    function.erase();
  return success();
}

} // namespace hybrid
