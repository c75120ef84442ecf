//===- Messages.cpp - what the compiler says to people -----------------------===//
#include "tools/compiler/Messages.h"
#include "executable/Printable.h"

namespace hybrid {

llvm::raw_ostream &complain() { return llvm::errs() << "error: "; }

void PrintableStream::write_impl(const char *bytes, size_t count) {
  to << printable({bytes, count});
  written += count;
}

int flushed(int status) {
  llvm::outs().flush();
  std::error_code lost = llvm::outs().error();
  llvm::outs().clear_error();
  if (!lost)
    return status;
  complain() << "cannot write to standard output: " << lost.message() << '\n';
  return status == 0 ? 1 : status;
}

} // namespace hybrid
