//===- Source.h - files of a compilation and places in them ------------------===//
#pragma once
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::dsl {

/// Most bytes of a text that is read.
inline constexpr uint64_t mostSourceBytes = uint64_t(16) << 20;
/// The text of a file, or of standard input for "-". Null and the reason when it cannot be read or
/// has more than `most` bytes (a device may have no end).
std::unique_ptr<llvm::MemoryBuffer> readSource(const std::string &path, uint64_t most,
                                               std::string &reason);

/// A byte of a file. Small, so that every syntax node has one.
struct Place {
  uint32_t file = 0, offset = 0;
  bool operator==(const Place &) const = default;
};

/// One file: its text and where its lines start.
struct SourceFile {
  std::string name;
  llvm::StringRef text; // owned by the SourceMgr
  std::vector<uint32_t> lineStarts;
};

/// All files of a compilation. Buffers live in the SourceMgr, so that diagnostics can show their
/// lines.
class SourceFiles {
public:
  explicit SourceFiles(llvm::SourceMgr &manager) : manager(manager) {}

  uint32_t addMain();
  /// Nothing (and the reason) when the file cannot be read.
  std::optional<uint32_t> load(const std::string &path, std::string &reason);
  /// A text that is in no file, such as a flag's.
  uint32_t addText(llvm::StringRef name, llvm::StringRef text);
  /// Texts that stand for those on the disk, by real path: what an editor has not saved.
  const llvm::StringMap<std::string> *unsaved = nullptr;
  /// Whether there is a file, on the disk or not.
  bool exists(const std::string &path) const;
  const SourceFile &file(uint32_t index) const { return files[index]; }
  mlir::FileLineColLoc location(mlir::MLIRContext *context, Place place) const;

private:
  uint32_t add(unsigned buffer);

  llvm::SourceMgr &manager;
  std::vector<SourceFile> files;
};

} // namespace hybrid::dsl
