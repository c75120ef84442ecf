//===- Documents.cpp - files as documents, one after another ----------------===//
#include "training/data/Documents.h"
#include "runtime/files/File.h"
#include "training/tokenizers/JsonNode.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <htslib/bgzf.h>
#include <htslib/kstring.h>
#include <optional>
#include <utility>
#include <xxhash.h>

namespace hybrid::rt {

nlohmann::json DocumentCursor::json() const {
  return {{"documents", documents}, {"file", file}, {"offset", offset}};
}

Result<DocumentCursor> DocumentCursor::fromJson(const nlohmann::json &json) {
  std::string fault;
  JsonNode node(json, "cursor", fault);
  DocumentCursor cursor;
  cursor.documents = node.count("documents", INT64_MAX);
  cursor.file = node.count("file", INT64_MAX);
  cursor.offset = node.count("offset", INT64_MAX);
  if (!fault.empty())
    return Error{fault};
  return cursor;
}

Result<std::vector<std::string>> filesOf(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error))
    return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const auto &entry : fs::directory_iterator(path, error))
    if (entry.is_regular_file(error) && !entry.path().filename().string().starts_with('.'))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (files.empty())
    return Error{fmt::format("the folder '{}' has no files", path)};
  return files;
}

Result<std::string> hashOfFile(const std::string &path, uint64_t &bytes) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  bytes = file->bytes().size();
  return fmt::format("{:016x}", XXH3_64bits(file->bytes().data(), file->bytes().size()));
}

namespace {

constexpr uint64_t largestRecord = uint64_t{4} << 30;

/// Goes through the files; a kind reads the documents of one.
class FilesReader : public DocumentReader {
public:
  explicit FilesReader(std::vector<std::string> files) : files(std::move(files)) {}

  Result<bool> next(DataDocument &document) final {
    for (; at < files.size(); ++at, isOpen = false, offset = record = 0) {
      if (!isOpen) {
        if (Result<void> opened = open(files[at]); !opened)
          return opened.error();
        isOpen = true;
      }
      document.file = files[at];
      Result<bool> found = read(document);
      if (!found)
        return found.error();
      if (!*found)
        continue;
      document.record = record++;
      ++documents;
      return true;
    }
    return false;
  }

  DocumentCursor cursor() const final { return {documents, at, offset}; }

  Result<void> seek(const DocumentCursor &cursor) final {
    at = isOpen = offset = record = documents = 0;
    DataDocument ignored;
    // Records are numbered from the start of a file; documents are quick to pass over.
    while (documents < cursor.documents) {
      Result<bool> found = next(ignored);
      if (!found)
        return found.error();
      if (!*found)
        break;
    }
    if (documents != cursor.documents || at != cursor.file || offset != cursor.offset)
      return Error{fmt::format("the data is not what it was: document {} no longer begins at byte "
                               "{} of file {}",
                               cursor.documents, cursor.offset, cursor.file)};
    return {};
  }

protected:
  virtual Result<void> open(const std::string &path) = 0;
  /// The document at `offset`, which moves behind it; false at the end of the file.
  virtual Result<bool> read(DataDocument &document) = 0;
  uint64_t offset = 0, record = 0;

private:
  std::vector<std::string> files;
  size_t at = 0;
  bool isOpen = false;
  uint64_t documents = 0;
};

class MappedReader : public FilesReader {
protected:
  using FilesReader::FilesReader;
  Result<void> open(const std::string &path) final {
    Result<MappedFile> opened = MappedFile::open(path);
    if (!opened)
      return opened.error();
    file.emplace(std::move(*opened));
    text = {reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size()};
    return {};
  }
  std::string_view text;

private:
  std::optional<MappedFile> file;
};

class TextReader final : public MappedReader {
public:
  TextReader(std::vector<std::string> files, std::string separator)
      : MappedReader(std::move(files)), separator(std::move(separator)) {}

private:
  Result<bool> read(DataDocument &document) override {
    while (offset < text.size()) {
      size_t end = separator.empty() ? std::string_view::npos : text.find(separator, offset);
      end = std::min(end, text.size());
      document.offset = offset;
      document.text = text.substr(offset, end - offset);
      document.name = std::filesystem::path(document.file).filename().string();
      offset = std::min(text.size(), end + separator.size());
      if (!document.text.empty())
        return true;
    }
    return false;
  }
  std::string separator;
};

class JsonLinesReader final : public MappedReader {
public:
  JsonLinesReader(std::vector<std::string> files, std::string field)
      : MappedReader(std::move(files)), field(std::move(field)) {}

private:
  Result<bool> read(DataDocument &document) override {
    while (offset < text.size()) {
      size_t end = std::min(text.find('\n', offset), text.size());
      std::string_view line = text.substr(offset, end - offset);
      document.offset = offset;
      offset = std::min(text.size(), end + 1);
      if (line.find_first_not_of(" \t\r") == std::string_view::npos)
        continue;
      auto place = [&] {
        return fmt::format("{}: record {} at byte {}", document.file, record, document.offset);
      };
      Result<nlohmann::json> value = parseJson(line, place());
      if (!value)
        return value.error();
      auto found = value->is_object() ? value->find(field) : value->end();
      if (found == value->end() || !found->is_string())
        return Error{fmt::format("{}: an object with a string '{}' is expected", place(), field)};
      content = found->get<std::string>();
      document.text = content;
      document.name = fmt::format("{}", record);
      return true;
    }
    return false;
  }
  std::string field, content;
};

/// Sequences without their line ends; htslib reads plain, gzip and bgzf files alike.
class FastaReader final : public FilesReader {
public:
  using FilesReader::FilesReader;
  ~FastaReader() override {
    close();
    std::free(line.s);
  }

private:
  void close() {
    if (file)
      bgzf_close(file);
    file = nullptr;
  }
  Result<void> open(const std::string &path) override {
    close();
    header.clear();
    place = 0;
    hadHeader = false;
    // What cannot be opened as a file is told in our words; the library only says that it cannot.
    if (Result<MappedFile> readable = MappedFile::open(path); !readable)
      return readable.error();
    file = bgzf_open(path.c_str(), "r");
    if (!file)
      return Error{fmt::format("cannot read '{}' as FASTA", path)};
    return {};
  }
  /// -1: the end.
  int readLine() {
    lineStart = place;
    int size = bgzf_getline(file, '\n', &line);
    place = static_cast<uint64_t>(bgzf_utell(file));
    return size;
  }
  Result<bool> read(DataDocument &document) override {
    auto fault = [&](std::string_view what) {
      return Error{fmt::format("{}: record {} at byte {} of the sequence text: {}", document.file,
                               record, lineStart, what)};
    };
    sequence.clear();
    int size = 0;
    while ((size = readLine()) >= 0) {
      std::string_view text(line.s, line.l);
      while (text.ends_with('\r') || text.ends_with(' '))
        text.remove_suffix(1);
      if (text.empty() || text.starts_with(';'))
        continue;
      if (text.starts_with('>')) {
        std::string started(text.substr(1));
        uint64_t startedAt = lineStart;
        std::swap(header, started);
        std::swap(headerAt, startedAt);
        if (!std::exchange(hadHeader, true))
          continue;
        return give(document, started, startedAt);
      }
      if (!hadHeader)
        return fault("a line that begins with '>' is expected");
      for (char c : text)
        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '*' && c != '-')
          return fault(
              fmt::format("byte 0x{:02x} is no letter of a sequence", static_cast<uint8_t>(c)));
      if (sequence.size() + text.size() > largestRecord)
        return fault("the sequence is longer than 4 GiB");
      sequence += text;
    }
    if (size < -1)
      return fault("the compressed data is damaged");
    offset = place;
    if (!std::exchange(hadHeader, false))
      return false;
    return give(document, header, headerAt);
  }
  bool give(DataDocument &document, const std::string &title, uint64_t begin) {
    document.offset = begin;
    document.name = title.substr(0, title.find_first_of(" \t"));
    document.text = sequence;
    offset = place;
    return true;
  }

  BGZF *file = nullptr;
  kstring_t line = {0, 0, nullptr};
  std::string header, sequence;
  uint64_t headerAt = 0, place = 0, lineStart = 0;
  bool hadHeader = false;
};

} // namespace

Result<std::unique_ptr<DocumentReader>> openDocuments(const DataSpec &spec) {
  Result<std::vector<std::string>> files = filesOf(spec.path);
  if (!files)
    return files.error();
  std::unique_ptr<DocumentReader> reader;
  if (spec.kind == "text")
    reader = std::make_unique<TextReader>(std::move(*files), spec.option("separator", ""));
  else if (spec.kind == "jsonl")
    reader = std::make_unique<JsonLinesReader>(std::move(*files), spec.option("field", "text"));
  else if (spec.kind == "fasta")
    reader = std::make_unique<FastaReader>(std::move(*files));
  else
    return Error{
        fmt::format("{}:{} has no documents: expected text, jsonl or fasta", spec.kind, spec.path)};
  return reader;
}

} // namespace hybrid::rt
