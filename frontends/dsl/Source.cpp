//===- Source.cpp - files of a compilation and places in them ----------------===//
#include "frontends/dsl/Source.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

namespace hybrid::dsl {

uint32_t SourceFiles::add(unsigned buffer) {
  SourceFile file;
  const llvm::MemoryBuffer *memory = manager.getMemoryBuffer(buffer);
  file.name = memory->getBufferIdentifier().str();
  file.text = memory->getBuffer();
  file.lineStarts.push_back(0);
  for (size_t i = 0; i < file.text.size(); ++i)
    if (file.text[i] == '\n')
      file.lineStarts.push_back(static_cast<uint32_t>(i + 1));
  files.push_back(std::move(file));
  return static_cast<uint32_t>(files.size() - 1);
}

uint32_t SourceFiles::addMain() { return add(manager.getMainFileID()); }

std::optional<uint32_t> SourceFiles::load(const std::string &path, std::string &reason) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    reason = buffer.getError().message();
    return std::nullopt;
  }
  return add(manager.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc()));
}

mlir::FileLineColLoc SourceFiles::location(mlir::MLIRContext *context, Place place) const {
  const SourceFile &file = files[place.file];
  auto next = std::upper_bound(file.lineStarts.begin(), file.lineStarts.end(), place.offset);
  auto line = static_cast<unsigned>(next - file.lineStarts.begin());
  unsigned column = place.offset - file.lineStarts[line - 1] + 1;
  return mlir::FileLineColLoc::get(context, file.name, line, column);
}

} // namespace hybrid::dsl
