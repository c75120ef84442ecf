//===- Destinations.h - where the values of a function lie ------------------===//
//
// A program computes many values where somebody else wants them: new parameters and gradients where
// the optimizer reads them, parts of a concatenation where it lies. Slices and their like are views
// of what they are taken from. Whoever places values and whoever counts their memory asks this.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/schedule/Memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace hybrid {

/// Where a value is computed that has no memory of its own, and a concatenation in any case.
struct Destination {
  Space space = Space::Arena;
  mlir::StringAttr parameter; // whose part of the space
  mlir::Value whole;          // in the arena, the concatenation whose memory it is
  View view;                  // what it takes of that; has no buffer
};

class Destinations {
public:
  using IsParameter = llvm::function_ref<bool(llvm::StringRef)>;
  /// `function` has one block and static shapes.
  Destinations(mlir::func::FuncOp function, IsParameter isParameter);

  /// Null for a value that has memory of its own or is a view.
  const Destination *of(mlir::Value value) const;
  /// The value whose memory of the arena `value` lies in, itself for most; null where it lies with
  /// parameters or constants.
  mlir::Value ownerOf(mlir::Value value) const;
  /// The parameter whose gradient result `number` of the function is; null for other results.
  mlir::StringAttr gradientOf(unsigned number) const { return gradients[number]; }
  /// Concatenations that have memory, the last one first.
  llvm::ArrayRef<mlir::Value> wholes() const { return owners; }

private:
  void claim(mlir::Value value, Destination place);

  llvm::DenseMap<mlir::Value, Destination> places;
  llvm::SmallVector<mlir::StringAttr> gradients;
  llvm::SmallVector<mlir::Value> owners;
};

} // namespace hybrid
