//===- Explanations.h - what a front end says of bytes it refuses -------------------===//
#pragma once
#include "mlir/IR/Diagnostics.h"
#include <cstdlib>

namespace hybrid::test {

/// Swallows diagnostics and notes that there was one; an internal error counts as a crash.
class Explanations {
public:
  explicit Explanations(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          given = true;
          if (llvm::StringRef(diagnostic.str()).contains("internal error"))
            std::abort();
          return mlir::success();
        }) {}
  bool areGiven() const { return given; }

private:
  bool given = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace hybrid::test
