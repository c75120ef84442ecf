//===- Json.cpp - JSON documents, read -----------------------------------------===//
#include "runtime/files/Json.h"
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace hybrid::rt {
namespace {

using nlohmann::json;

/// Builds a document from what the library's parser sees, and stops at what the rules forbid.
class Builder : public nlohmann::json_sax<json> {
public:
  explicit Builder(const JsonRules &rules) : rules(rules) {}

  json document;
  std::string fault;
  size_t place = 0; // of a syntax error

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(int64_t value) override { return put(value); }
  bool number_unsigned(uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string &) override { return put(value); }
  bool string(std::string &value) override { return put(std::move(value)); }
  bool binary(binary_t &) override { return false; } // JSON as text has none
  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string &name) override {
    auto [entry, isNew] = openValues.back()->emplace(std::move(name), nullptr);
    if (!isNew && rules.uniqueKeys) {
      fault = fmt::format("'{}' appears twice", entry.key());
      return false;
    }
    keyed = &entry.value();
    return true;
  }

  bool parse_error(size_t at, const std::string &, const json::exception &) override {
    place = at;
    return false;
  }

private:
  template <typename Value> bool put(Value &&value) {
    attach(json(std::forward<Value>(value)));
    return true;
  }

  json *attach(json value) {
    if (openValues.empty()) {
      document = std::move(value);
      return &document;
    }
    if (openValues.back()->is_array()) {
      openValues.back()->push_back(std::move(value));
      return &openValues.back()->back();
    }
    *keyed = std::move(value);
    return keyed;
  }

  bool open(json value) {
    if (static_cast<int>(openValues.size()) >= rules.depth) {
      fault = fmt::format("brackets are nested deeper than {}", rules.depth);
      return false;
    }
    // An array that grows moves what it holds, but only while none of that is open.
    openValues.push_back(attach(std::move(value)));
    return true;
  }

  bool close() {
    openValues.pop_back();
    return true;
  }

  const JsonRules &rules;
  std::vector<json *> openValues;
  json *keyed = nullptr; // where the value of the last key goes
};

} // namespace

Result<json> parseJson(std::string_view text, const std::string &name, const JsonRules &rules) {
  Builder builder(rules);
  if (json::sax_parse(text, &builder))
    return std::move(builder.document);
  if (!builder.fault.empty())
    return Error{fmt::format("{}: {}", name, builder.fault)};
  return Error{fmt::format("{}: not JSON: byte {} cannot stand there", name, builder.place)};
}

json parseJsonOrNull(std::string_view text) {
  Result<json> value = parseJson(text, "");
  return value ? std::move(*value) : json();
}

} // namespace hybrid::rt
