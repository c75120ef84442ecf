//===- Messages.h - what the compiler says to people -------------------------===//
#pragma once
#include "llvm/Support/raw_ostream.h"

namespace hybrid {

/// Standard error, after the word that errors begin with.
llvm::raw_ostream &complain();

/// `status`, or 1 if what was printed on standard output did not arrive.
int flushed(int status);

/// Passes on what can be printed and escapes what would command a terminal.
class PrintableStream : public llvm::raw_ostream {
public:
  explicit PrintableStream(llvm::raw_ostream &to) : llvm::raw_ostream(true), to(to) {}

private:
  void write_impl(const char *bytes, size_t count) override;
  uint64_t current_pos() const override { return written; }

  llvm::raw_ostream &to;
  uint64_t written = 0;
};

} // namespace hybrid
