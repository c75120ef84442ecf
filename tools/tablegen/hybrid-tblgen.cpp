//===- hybrid-tblgen.cpp - tables made of the dialect's .td files -----------===//
//
// The command line; each generator registers itself in its own file.
//
//===----------------------------------------------------------------------===//
#include "llvm/Support/CommandLine.h"
#include "llvm/TableGen/Main.h"

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "tables of the hybrid dialect\n");
  return llvm::TableGenMain(argv[0], llvm::TableGenMainFn());
}
