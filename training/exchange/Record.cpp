//===- Record.cpp - what an imported folder notes of the original ---------------===//
#include "training/exchange/Record.h"
#include "runtime/files/Json.h"
#include <fmt/format.h>

namespace hybrid::rt::exchange {

constexpr int64_t currentFormat = 1;

std::string recordOf(const std::string &type, const Architecture &model, const Weights &weights) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::object();
  auto &entries = tensors.get_ref<nlohmann::ordered_json::object_t &>();
  for (const auto &[name, entry] : weights.tensors())
    entries.emplace_back(name, std::string(nameOf(entry->type)));
  nlohmann::ordered_json record = {{"format", currentFormat},
                                   {"layout", "huggingface"},
                                   {"model_type", type},
                                   {"tensors", std::move(tensors)}};
  for (const TensorRule &rule : model.rules.rules())
    for (const ForeignTensor &source : rule.sources)
      if (rule.cutAnywhere)
        record["rows"][source.name] = source.shape[0];
  return jsonText(record) + "\n";
}

Result<Record> readRecord(const std::string &path) {
  auto text = readText(path);
  if (!text)
    return Error{fmt::format("{}. It is what hybrid-run import leaves in a folder: give one that "
                             "was imported",
                             text.error().message)};
  auto document = parseJson(*text, path, {.uniqueKeys = true});
  if (!document)
    return document.error();
  Record record;
  auto format = jsonField<int64_t>(*document, "format");
  auto type = jsonField<std::string>(*document, "model_type");
  auto tensors = document->is_object() ? document->find("tensors") : document->end();
  if (format != currentFormat || !type || tensors == document->end() || !tensors->is_object())
    return Error{fmt::format("{}: expected format {} with model_type and tensors: import the model "
                             "again",
                             path, currentFormat)};
  record.type = *type;
  for (const auto &[name, value] : tensors->items()) {
    auto stored =
        value.is_string() ? safetensorsType(value.get_ref<const std::string &>()) : std::nullopt;
    if (!stored)
      return Error{fmt::format("{}: tensor '{}' has type {}, which is none of a safetensors file",
                               path, name, jsonLine(value))};
    record.tensors[name] = *stored;
  }
  if (auto rows = document->find("rows"); rows != document->end())
    for (const auto &[name, value] : rows->items()) {
      auto count = jsonField<int64_t>(*rows, name);
      if (!count)
        return Error{fmt::format("{}: the rows of tensor '{}' are {}, expected a number", path,
                                 name, jsonLine(value))};
      record.rows[name] = *count;
    }
  return record;
}

std::string nameInFile(const Architecture &model, const std::string &name,
                       const std::function<bool(const std::string &)> &has) {
  if (has(name))
    return name;
  for (const auto &[own, other] : model.otherPrefixes)
    if (name.starts_with(own))
      if (std::string spelled = other + name.substr(own.size()); has(spelled))
        return spelled;
  return name;
}

} // namespace hybrid::rt::exchange
