//===- Documents.h - files as documents, one after another ------------------===//
#pragma once
#include "training/data/DataSpec.h"
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hybrid::rt {

/// A text, a line of a JSONL file or a record of a FASTA file.
struct DataDocument {
  std::string_view text; // valid until the next one is read
  std::string file, name;
  uint64_t record = 0, offset = 0; // of its file; the byte where it begins
};

/// A place between two documents: what resuming needs. Which document comes next, from the
/// beginning of all files.
struct DocumentCursor {
  uint64_t documents = 0, file = 0, offset = 0;

  nlohmann::json json() const;
  static Result<DocumentCursor> fromJson(const nlohmann::json &json);
};

class DocumentReader {
public:
  virtual ~DocumentReader() = default;
  /// False at the end. Errors name the file, the record and the byte.
  virtual Result<bool> next(DataDocument &document) = 0;
  /// Where the next document begins, and going there.
  virtual DocumentCursor cursor() const = 0;
  virtual Result<void> seek(const DocumentCursor &cursor) = 0;
};

/// text:PATH, one document a file, or several with separator=TEXT; jsonl:PATH, field=NAME (text);
/// fasta:PATH, plain, gzip or bgzf. A folder is all its files in the order of their names.
Result<std::unique_ptr<DocumentReader>> openDocuments(const DataSpec &spec);

/// The files of a path that is a file or a folder, sorted.
Result<std::vector<std::string>> filesOf(const std::string &path);
/// XXH3-64 of a file's bytes in 16 hexadecimal digits.
Result<std::string> hashOfFile(const std::string &path, uint64_t &bytes);

} // namespace hybrid::rt
