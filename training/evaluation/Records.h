//===- Records.h - examples of an evaluation -----------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

/// An example: a line of a JSONL file, or a whole text in the field "text".
struct Record {
  nlohmann::json fields; // an object
  std::string place;     // FILE:LINE

  /// A field, or one in an object: "target.span1_text". The error names the place and the field.
  Result<const nlohmann::json *> find(std::string_view path) const;
  /// One that is a string, a whole number, true or false, as text.
  Result<std::string> text(std::string_view path) const;
};

/// A .jsonl has a record a line; any other file is one record. Errors name the file and the line.
Result<std::vector<Record>> readRecords(const std::string &path);

/// The same, but any other file has a record a line, whole in the field `field`.
Result<std::vector<Record>> readLines(const std::string &path, const std::string &field);

/// Text with fields of a record in it: "Question: {question}\nAnswer:"; "{{" and "}}" are braces.
class TextTemplate {
public:
  static Result<TextTemplate> parse(std::string_view text);
  Result<std::string> fill(const Record &record) const;

private:
  struct Part {
    std::string text;
    bool isField = false;
  };
  std::vector<Part> parts;
};

} // namespace hybrid::rt
