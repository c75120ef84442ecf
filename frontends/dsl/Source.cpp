//===- Source.cpp - files of a compilation and places in them ----------------===//
#include "frontends/dsl/Source.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include <algorithm>

namespace hybrid::dsl {

std::unique_ptr<llvm::MemoryBuffer> readSource(const std::string &path, uint64_t most,
                                               std::string &reason) {
  namespace fs = llvm::sys::fs;
  const bool isInput = path == "-";
  llvm::Expected<fs::file_t> file =
      isInput ? llvm::Expected<fs::file_t>(fs::getStdinHandle()) : fs::openNativeFileForRead(path);
  if (!file) {
    reason = llvm::errorToErrorCode(file.takeError()).message();
    return nullptr;
  }
  llvm::scope_exit close([&] {
    if (!isInput)
      fs::closeFile(*file);
  });
  fs::file_status status;
  if (!fs::status(*file, status) && status.type() == fs::file_type::directory_file) {
    reason = "is a directory";
    return nullptr;
  }
  llvm::SmallVector<char, 0> text;
  constexpr size_t portion = 1 << 16;
  while (true) {
    const size_t filled = text.size();
    text.resize_for_overwrite(filled + portion);
    llvm::Expected<size_t> got =
        fs::readNativeFile(*file, llvm::MutableArrayRef(text).drop_front(filled));
    if (!got) {
      reason = llvm::errorToErrorCode(got.takeError()).message();
      return nullptr;
    }
    text.truncate(filled + *got);
    if (*got == 0)
      break;
    if (text.size() > most) {
      reason = "has more than " + std::to_string(most) + " bytes";
      return nullptr;
    }
  }
  return llvm::MemoryBuffer::getMemBufferCopy({text.data(), text.size()},
                                              isInput ? "<stdin>" : path);
}

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
  if (unsaved)
    if (auto text = unsaved->find(path); text != unsaved->end())
      return addText(path, text->second);
  std::unique_ptr<llvm::MemoryBuffer> buffer = readSource(path, mostSourceBytes, reason);
  if (!buffer)
    return std::nullopt;
  return add(manager.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc()));
}

bool SourceFiles::exists(const std::string &path) const {
  return (unsaved && unsaved->contains(path)) || llvm::sys::fs::is_regular_file(path);
}

uint32_t SourceFiles::addText(llvm::StringRef name, llvm::StringRef text) {
  return add(
      manager.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc()));
}

mlir::FileLineColLoc SourceFiles::location(mlir::MLIRContext *context, Place place) const {
  const SourceFile &file = files[place.file];
  auto next = std::upper_bound(file.lineStarts.begin(), file.lineStarts.end(), place.offset);
  auto line = static_cast<unsigned>(next - file.lineStarts.begin());
  unsigned column = place.offset - file.lineStarts[line - 1] + 1;
  return mlir::FileLineColLoc::get(context, file.name, line, column);
}

} // namespace hybrid::dsl
