//===- FormatFiles.cpp - hybridc --format ------------------------------------===//
#include "tools/compiler/FormatFiles.h"
#include "executable/OutputFile.h"
#include "executable/Printable.h"
#include "frontends/dsl/Format.h"
#include "frontends/dsl/Source.h"
#include "mlir/IR/Diagnostics.h"
#include "tools/compiler/Messages.h"

namespace hybrid {

static bool formatFile(const std::string &path, const FormatOptions &options) {
  std::string reason;
  std::unique_ptr<llvm::MemoryBuffer> file = dsl::readSource(path, dsl::mostSourceBytes, reason);
  if (!file) {
    complain() << "cannot read '" << printable(path) << "': " << reason << '\n';
    return false;
  }
  const std::string text = file->getBuffer().str();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  PrintableStream messages(llvm::errs());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, messages);
  const std::optional<std::string> formatted = dsl::format(sources, context);
  if (!formatted)
    return false;
  if (options.check) {
    if (*formatted != text)
      complain() << "'" << printable(path) << "' is not formatted: hybridc --format -i writes it\n";
    return *formatted == text;
  }
  if (!options.inPlace || path == "-") {
    llvm::outs() << *formatted;
    return true;
  }
  // A file that would not change keeps its time.
  const std::string error = *formatted == text ? "" : writeOutputFile(path, *formatted);
  if (!error.empty())
    complain() << error << '\n';
  return error.empty();
}

int formatFiles(const FormatOptions &options) {
  bool good = true;
  for (const std::string &path : options.files)
    good &= formatFile(path, options);
  return flushed(good ? 0 : 1);
}

} // namespace hybrid
