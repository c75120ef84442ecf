//===- Recompile.cpp - an executable made again from what it carries ----------===//
#include "training/compile/Recompile.h"
#include "executable/Executable_generated.h"
#include "executable/OptimizerShards.h"
#include "executable/PrivateFolder.h"
#include "executable/SequenceRanks.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace hybrid::rt {
namespace fs = std::filesystem;

static std::string textOf(const flatbuffers::String *text) { return text ? text->str() : ""; }

/// Whether a name from a file is one of a module: folders and a file of letters, digits, - and _.
static bool isModuleName(std::string_view name) {
  if (!name.ends_with(".hyb") || name.size() > 200)
    return false;
  name.remove_suffix(4);
  bool inPart = false;
  for (char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!letter && (c != '/' || !inPart))
      return false;
    inPart = letter;
  }
  return inPart;
}

static Result<int64_t> numberIn(const std::string &text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return Error{"it was compiled with '" + text + "' where a number is expected"};
  return value;
}

/// Puts the texts below a folder; the path of the model's own.
static Result<std::string> writeTexts(const Executable &executable) {
  const fb::Executable &format = executable.format();
  std::map<std::string, std::string> texts{{"model.hyb", textOf(format.source())}};
  if (format.used())
    for (const fb::SourceFile *file : *format.used()) {
      const std::string name = textOf(file->name());
      if (!isModuleName(name) || !texts.try_emplace(name, textOf(file->text())).second)
        return Error{fmt::format("it uses the file '{}', which cannot be told from another", name)};
    }
  if (texts["model.hyb"].empty())
    return Error{"it carries no source"};
  const std::string cache = userFolder("XDG_CACHE_HOME", ".cache");
  if (std::string fault = makePrivateFolder(cache); !fault.empty())
    return Error{fault};
  const std::string folder = cache + "/source-" + hexadecimal(executable.seal().content);
  for (const auto &[name, text] : texts) {
    const std::string path = folder + "/" + name;
    if (auto made = makeFolder(fs::path(path).parent_path().string()); !made)
      return made.error();
    if (auto done = writeFileAtomically(path, text); !done)
      return done.error();
  }
  return folder + "/model.hyb";
}

Result<ModelSpec> sourceOf(const Executable &executable) {
  const fb::Executable &format = executable.format();
  ModelSpec spec;
  if (format.model() && format.model()->size())
    spec.model = format.model()->str();
  if (format.settings())
    for (const fb::Setting *setting : *format.settings()) {
      const std::string name = textOf(setting->name()), value = textOf(setting->value());
      std::optional<int64_t> number;
      if (setting->parameter()) {
        spec.settings.push_back(name + "=" + value);
        continue;
      }
      if (name == "batch" || name == "length" || name == "ensemble" ||
          name == sequenceRanksSetting) {
        auto read = numberIn(value);
        if (!read)
          return read.error();
        number = *read;
      }
      if (name == "batch")
        spec.batch = number;
      else if (name == "length")
        spec.length = number;
      else if (name == "ensemble")
        spec.replicas = *number;
      else if (name == sequenceRanksSetting)
        spec.sequenceRanks = *number;
      else if (name == "precision")
        spec.precision = value;
      else if (name == "optimizer")
        for (size_t at = 0; at <= value.size();) { // a line each
          const size_t end = std::min(value.find('\n', at), value.size());
          spec.optimizers.push_back(value.substr(at, end - at));
          at = end + 1;
        }
      else if (name == "attention")
        spec.attention = value;
      else if (name == "transforms")
        spec.transforms = value;
      else if (name == "small-products")
        spec.smallProducts = value;
      else if (name == "memory")
        spec.memory = value + "B";
      else if (name == "data-parallel")
        spec.reduction = value;
      else if (name == optimizerShardsSetting)
        spec.shards = value;
      else if (name == "chunked")
        spec.chunked = true;
      else if (name == "decode")
        spec.decode = true;
    }
  const std::string cpu = textOf(format.target()->cpu());
  spec.target = cpu.starts_with("x86-64-v") ? "cpu:" + cpu : "cpu";
  if (format.target()->device()->string_view() == "cuda") {
    spec.target = "cuda:";
    if (format.images())
      for (const fb::CodeImage *image : *format.images())
        *spec.target += (spec.target->back() == ':' ? "" : ",") + image->architecture()->str();
  }
  auto path = writeTexts(executable);
  if (!path)
    return path.error();
  spec.path = *path;
  return spec;
}

} // namespace hybrid::rt
