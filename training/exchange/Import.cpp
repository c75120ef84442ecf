//===- Import.cpp - a model in Hugging Face's layout becomes one of ours -------===//
#include "training/exchange/Import.h"
#include "runtime/files/ElementCount.h"
#include "runtime/files/Json.h"
#include "training/CheckpointTokenizer.h"
#include "training/exchange/Folder.h"
#include "training/exchange/Record.h"
#include "training/exchange/Weights.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace hybrid::rt::exchange {
namespace {

namespace fs = std::filesystem;

/// Checks tensors against rules, and finds what is left over.
class Matching {
public:
  Matching(const Weights &weights, const Architecture &model) : weights(weights), model(model) {}

  Result<void> run(const std::string &folder);
  const std::vector<std::string> &unused() const { return left; }

private:
  void check(const ForeignTensor &tensor);
  bool isIgnored(const std::string &name) const;

  const Weights &weights;
  const Architecture &model;
  std::set<std::string> used;
  std::vector<std::string> missing, faults, unknown, left;
};

void Matching::check(const ForeignTensor &tensor) {
  const std::string name = nameInFile(
      model, tensor.name, [&](const std::string &name) { return weights.find(name) != nullptr; });
  const SafetensorsEntry *entry = weights.find(name);
  if (!entry) {
    missing.push_back(tensor.name);
    return;
  }
  used.insert(name);
  if (!isFloat(entry->type))
    faults.push_back(fmt::format("'{}' in '{}' holds {} numbers, expected F32, BF16, F16 or F64",
                                 name, weights.fileOf(name), nameOf(entry->type)));
  else if (entry->shape != tensor.shape)
    faults.push_back(fmt::format("'{}' in '{}' is [{}], but config.json makes it [{}]", name,
                                 weights.fileOf(name), fmt::join(entry->shape, ", "),
                                 fmt::join(tensor.shape, ", ")));
}

bool Matching::isIgnored(const std::string &name) const {
  auto begins = [&](const std::string &prefix) { return name.starts_with(prefix); };
  auto ends = [&](const std::string &suffix) { return name.ends_with(suffix); };
  return std::any_of(model.ignoredPrefixes.begin(), model.ignoredPrefixes.end(), begins) ||
         std::any_of(model.ignoredSuffixes.begin(), model.ignoredSuffixes.end(), ends) ||
         (!model.tiedHead.empty() && name == model.tiedHead);
}

Result<void> Matching::run(const std::string &folder) {
  for (const TensorRule &rule : model.rules.rules())
    for (const ForeignTensor &tensor : rule.sources)
      check(tensor);
  for (const auto &[name, entry] : weights.tensors())
    if (!used.contains(name))
      (isIgnored(name) ? left : unknown).push_back(name);
  if (!missing.empty())
    faults.insert(faults.begin(),
                  fmt::format("{} missing: {}",
                              missing.size() == 1 ? "a tensor is"
                                                  : fmt::format("{} tensors are", missing.size()),
                              someOf(missing)));
  if (!unknown.empty())
    faults.push_back(fmt::format(
        "{} no place in the model: {}",
        unknown.size() == 1 ? "a tensor has" : fmt::format("{} tensors have", unknown.size()),
        someOf(unknown)));
  constexpr size_t shown = 6;
  const size_t more = faults.size() > shown ? faults.size() - shown : 0;
  faults.resize(faults.size() - more);
  if (more)
    faults.push_back(fmt::format("and {} more", more));
  if (!faults.empty())
    return Error{fmt::format("the weights in '{}' are not those of its config.json: {}", folder,
                             fmt::join(faults, "; "))};
  return {};
}

/// Parameters one after another, made of tensors of the folder.
Result<void> writeParameters(const std::string &path, const Weights &weights,
                             const Architecture &model,
                             const std::map<std::string, std::string> &metadata) {
  const auto &rules = model.rules.rules();
  auto entriesOf = [&](const TensorRule &rule) {
    std::vector<const SafetensorsEntry *> entries;
    for (const ForeignTensor &tensor : rule.sources)
      entries.push_back(weights.find(nameInFile(model, tensor.name, [&](const std::string &name) {
        return weights.find(name) != nullptr;
      })));
    return entries;
  };
  std::vector<SafetensorsPlan> plans;
  for (const TensorRule &rule : rules) {
    const auto entries = entriesOf(rule);
    const bool wide = std::any_of(entries.begin(), entries.end(), [](const auto *entry) {
      return entry->type == SafetensorsEntry::Type::F64;
    });
    plans.push_back({rule.parameter,
                     wide ? SafetensorsEntry::Type::F64 : SafetensorsEntry::Type::F32, rule.shape});
  }
  std::vector<std::byte> current;
  return writeSafetensors(path, plans, metadata,
                          [&](size_t i) -> Result<std::span<const std::byte>> {
                            const bool wide = plans[i].type == SafetensorsEntry::Type::F64;
                            std::vector<std::vector<std::byte>> sources;
                            for (const SafetensorsEntry *entry : entriesOf(rules[i]))
                              sources.push_back(widened(*entry, wide));
                            current = gather(rules[i], sources, wide ? 8 : 4);
                            return std::span<const std::byte>(current);
                          });
}

/// What the model computes nothing with, as it is.
Result<void> writeUnused(const std::string &path, const Weights &weights,
                         const std::vector<std::string> &names) {
  std::vector<SafetensorsPlan> plans;
  for (const std::string &name : names)
    plans.push_back({name, weights.find(name)->type, weights.find(name)->shape});
  return writeSafetensors(path, plans, {}, [&](size_t i) -> Result<std::span<const std::byte>> {
    return weights.find(names[i])->data;
  });
}

std::string pageOf(const Described &described, int64_t numbers) {
  return described.architecture.page.text(
      described.type,
      fmt::format("Imported from a model of type {} in Hugging Face's layout.", described.type),
      fmt::format("{} parameters, in model.safetensors beside this file.", numbers));
}

} // namespace

Result<std::string> importHuggingFace(const std::string &folder, const std::string &out) {
  auto described = describe(folder);
  if (!described)
    return described.error();
  Architecture &model = described->architecture;
  auto weights = Weights::open(folder);
  if (!weights)
    return weights.error();
  model.rules.cutAs([&](const std::string &name) -> std::optional<int64_t> {
    const SafetensorsEntry *entry = weights->find(name);
    return entry && !entry->shape.empty() ? std::optional(entry->shape[0]) : std::nullopt;
  });
  Matching matching(*weights, model);
  if (auto done = matching.run(folder); !done)
    return done.error();
  auto sideFiles = readSideFiles(folder);
  if (!sideFiles)
    return sideFiles.error();

  std::map<std::string, std::string> metadata;
  std::string note;
  const bool hasTokenizer = std::any_of(sideFiles->begin(), sideFiles->end(), [](const auto &file) {
    return file.first == "tokenizer.json" || file.first == "tokenizer.model" ||
           file.first == "merges.txt";
  });
  if (!hasTokenizer)
    note = "no tokenizer comes with it\n";
  else if (auto tokenizer = loadTokenizer(folder))
    metadata[tokenizerKey] = (*tokenizer)->serialized();
  else
    note = fmt::format("its tokenizer cannot be read: {}\n", tokenizer.error().message);

  int64_t numbers = 0;
  for (const TensorRule &rule : model.rules.rules())
    numbers += elementCount(rule.shape);
  auto output = OutputFolder::create(out);
  if (!output)
    return output.error();
  if (auto done = writeParameters(output->file("model.safetensors"), *weights, model, metadata);
      !done)
    return done.error();
  if (!matching.unused().empty())
    if (auto done = writeUnused(output->file("unused.safetensors"), *weights, matching.unused());
        !done)
      return done.error();
  for (const auto &[name, content] : *sideFiles)
    if (auto done = output->write(name, content); !done)
      return done.error();
  if (auto done = output->write("model.hyb", pageOf(*described, numbers)); !done)
    return done.error();
  if (auto done = output->write("exchange.json", recordOf(described->type, model, *weights)); !done)
    return done.error();
  output->keep();
  const std::string page = (fs::path(out) / "model.hyb").string();
  return fmt::format("{}: {} parameters in {} tensors\n{}in {}\n", described->type, numbers,
                     weights->tensors().size(), note, page);
}

} // namespace hybrid::rt::exchange
