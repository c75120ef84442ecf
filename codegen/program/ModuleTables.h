//===- ModuleTables.h - what the programs of a module share ------------------===//
#pragma once
#include "codegen/program/Backend.h"
#include "codegen/program/Schedule.h"
#include "dialect/schedule/ScheduleOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace hybrid {

/// A table in the constants space that the program `setup` fills.
struct SetupTable {
  KernelName kernel;
  LaunchConfiguration configuration;
  int64_t grid;
  View view;                             // of a buffer that the table's kernel writes
  llvm::SmallVector<BufferOp> buffers{}; // of the programs that read it, to be placed
};

struct ModuleTables {
  ModuleTables(const Backend &backend, const LoweringOptions &options)
      : backend(backend), options(options) {}

  const Backend &backend;
  const LoweringOptions options;
  struct Parameter {
    int64_t offset;
    mlir::RankedTensorType type;
    bool trainable, decay;
    mlir::FloatAttr lrScale;
    bool isState = false; // and no parameter, though it lies among them
  };
  llvm::MapVector<mlir::StringAttr, Parameter> parameters;
  int64_t parameterBytes = 0;
  std::vector<char> constants; // initial contents
  int64_t constantsBytes = 0;  // with the tables behind
  std::vector<SetupTable> tables;
  std::map<std::string, std::string> kernelFiles; // kernel of the library -> its contract
  llvm::StringMap<std::string> functions;         // that kernels call: text -> symbol

  /// Gives all parameters of the function a place, in the order of declaration.
  void collectParameters(mlir::func::FuncOp forward);
  /// The same for what the function keeps from one run to the next.
  void collectStates(mlir::func::FuncOp function);
  /// IR that a person wrote may name a parameter that there is not, or give it another type: an
  /// error at `op`. No type: any.
  llvm::LogicalResult checkParameter(mlir::Operation *op, mlir::StringAttr name,
                                     mlir::Type type = {}) const;
  /// The same for all that the function reads, assigns and gives gradients of.
  llvm::LogicalResult checkParameters(mlir::func::FuncOp function) const;
  /// Offset of these bytes in the constants space.
  int64_t addConstant(llvm::ArrayRef<char> bytes);
  /// The table filled by `kernel`; an equal one made before is shared.
  SetupTable &addTable(KernelName kernel, LaunchConfiguration configuration, int64_t grid,
                       View view);
  /// Places tables behind the constants; call once, when all programs are lowered.
  void placeTables();
  /// Adds the program that fills the tables.
  void createSetup(mlir::OpBuilder &builder, mlir::Location loc);
  /// Says on the module where parameters and constants are.
  void describe(mlir::ModuleOp module) const;

private:
  llvm::StringMap<size_t> tableIndex; // kernel and constants -> index in `tables`
};

} // namespace hybrid
