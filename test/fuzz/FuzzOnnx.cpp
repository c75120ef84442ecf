//===- FuzzOnnx.cpp - no bytes crash the reader of ONNX models -----------------------===//
//
// Whatever the bytes, there is a module that verifies or a diagnostic; an internal error counts as
// a crash.
//
//===----------------------------------------------------------------------===//
#include "frontends/onnx/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/Explanations.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const hybrid::test::Explanations explanations(context);
  const hybrid::onnx::frontend::ImportOptions options{"/proc/self/fuzz.onnx", 2, 4, {}};
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  if (!hybrid::onnx::frontend::importModel(bytes, context, options).module &&
      !explanations.areGiven())
    abort();
  return 0;
}
