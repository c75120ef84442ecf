//===- JsonNode.h - reading a JSON document that is not trusted -------------===//
//
// A value with its path, so that an error names the place: "pre_tokenizer.pretokenizers[1].type".
// A missing or wrong field is noted in the document's reader, and the first fault is what the
// loader reports; reading goes on with a default.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/files/Json.h"
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

class JsonNode {
public:
  /// `fault` receives the first fault and outlives the node.
  JsonNode(const nlohmann::json &value, std::string path, std::string &fault)
      : value(&value), path(std::move(path)), fault(&fault) {}

  const nlohmann::json &json() const { return *value; }
  const std::string &place() const { return path; }
  bool isNull() const { return value->is_null(); }
  /// Whether no fault was noted anywhere in the document.
  bool isGood() const { return fault->empty(); }

  /// A field, null where there is none.
  JsonNode operator[](std::string_view key) const;
  std::vector<JsonNode> elements(std::string_view key) const;

  /// Fields of a type. Without `otherwise` the field must be there.
  std::string string(std::string_view key) const;
  std::string string(std::string_view key, std::string_view otherwise) const;
  bool boolean(std::string_view key, bool otherwise) const;
  /// A number from 0 to `most`.
  uint64_t count(std::string_view key, uint64_t most) const;
  uint64_t count(std::string_view key, uint64_t most, uint64_t otherwise) const;
  /// Any number from `least` to `most`.
  double number(std::string_view key, double least, double most, double otherwise) const;
  /// Exactly one character (code point).
  uint32_t character(std::string_view key, uint32_t otherwise) const;
  /// The position of the field's text in `words`.
  size_t choice(std::string_view key, std::initializer_list<std::string_view> words,
                size_t otherwise) const;

  /// Of a node of type "Sequence": gives its elements, which are in the field `key`, to `read`.
  /// False for one of another type.
  bool readSequence(std::string_view key, const std::function<void(const JsonNode &)> &read) const;

  /// Notes a field that is none of these: what is not known is not silently left out.
  void allowOnly(std::initializer_list<std::string_view> keys) const;
  void note(std::string_view key, std::string_view what) const;
  void refuse(std::string_view what) const { note("", what); }

private:
  const nlohmann::json *value;
  std::string path;
  std::string *fault;
};

/// What `read` appends for a node; nothing for null.
template <typename Step>
std::vector<Step> readSteps(const JsonNode &node,
                            void (*read)(const JsonNode &, std::vector<Step> &)) {
  std::vector<Step> steps;
  if (!node.isNull())
    read(node, steps);
  return steps;
}

} // namespace hybrid::rt
