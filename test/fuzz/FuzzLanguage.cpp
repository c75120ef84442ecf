//===- FuzzLanguage.cpp - no text crashes the front end, nor makes a faulty program -===//
//
// Whatever the bytes, there is a module that verifies or a diagnostic; an internal error counts as
// a crash. What parses can be formatted, and formatting the result changes nothing.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/Format.h"
#include "frontends/dsl/Frontend.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/Explanations.h"
#include "llvm/Support/MemoryBuffer.h"

static std::optional<std::string> format(llvm::StringRef text, mlir::MLIRContext &context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "fuzz.hyb"), llvm::SMLoc());
  return hybrid::dsl::format(sources, context);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "fuzz.hyb"), llvm::SMLoc());
  const hybrid::test::Explanations explanations(context);
  hybrid::dsl::Options options;
  options.importPaths = {HYBRID_MODELS_DIR};
  hybrid::dsl::FilesRead files;
  if (!hybrid::dsl::compileFile(sources, context, options, files) && !explanations.areGiven())
    abort();
  if (std::optional<std::string> formatted = format(text, context))
    if (format(*formatted, context) != formatted)
      abort();
  return 0;
}
