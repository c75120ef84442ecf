//===- LocationText.cpp - where in a model an op came from ------------------===//
#include "dialect/schedule/LocationText.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

std::string hybrid::locationText(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      llvm::raw_string_ostream(text)
          << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return text;
}
