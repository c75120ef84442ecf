//===- CompileCache.cpp - what was compiled before --------------------------------===//
#include "training/compile/CompileCache.h"
#include "executable/PrivateFolder.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xxhash.h>

namespace hybrid::rt {
namespace fs = std::filesystem;
using nlohmann::json;

std::string compileKey(const std::vector<std::string> &texts) {
  XXH3_state_t *state = XXH3_createState();
  XXH3_128bits_reset(state);
  for (const std::string &text : texts)
    XXH3_128bits_update(state, text.c_str(), text.size() + 1);
  const XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// A string of an object; empty when it is none.
static std::string textIn(const json &object, const char *key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

static json arrayIn(const json &object, const char *key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? *found : json::array();
}

static json readJson(const std::string &path) {
  auto text = readText(path);
  return text ? parseJsonOrNull(*text) : json();
}

Result<CompileCache> CompileCache::open() {
  const std::string folder = userFolder("XDG_CACHE_HOME", ".cache");
  if (folder.empty())
    return Error{"there is no folder to keep compiled models in: set XDG_CACHE_HOME to one of "
                 "yours"};
  if (std::string fault = makePrivateFolder(folder); !fault.empty())
    return Error{fmt::format("{}; compiled models are kept there: set XDG_CACHE_HOME to another "
                             "folder of yours",
                             fault)};
  return CompileCache(folder);
}

std::optional<std::string> CompileCache::find(const std::string &key) const {
  const json list = readJson(folder + "/" + key + ".json");
  const json read = arrayIn(list, "read");
  if (read.empty())
    return std::nullopt;
  for (const json &file : read) {
    auto text = readText(textIn(file, "path"));
    if (!text ||
        fmt::format("{:016x}", XXH3_64bits(text->data(), text->size())) != textIn(file, "hash"))
      return std::nullopt;
  }
  std::error_code error;
  for (const json &path : arrayIn(list, "absent"))
    if (!path.is_string() || fs::is_regular_file(path.get<std::string>(), error))
      return std::nullopt;
  std::string executable = folder + "/" + fs::path(textIn(list, "executable")).filename().string();
  return fs::is_regular_file(executable, error) ? std::optional(executable) : std::nullopt;
}

Result<CompileCache::Workplace> CompileCache::workplace() const {
  Workplace place(TemporaryFolder(folder + "/compile"));
  if (!place.folder.error().empty())
    return Error{place.folder.error()};
  return place;
}

Result<std::string> CompileCache::keep(const std::string &key, const Workplace &place) const {
  json list = readJson(place.dependencies());
  std::vector<std::string> contents{key};
  for (const json &file : arrayIn(list, "read"))
    contents.insert(contents.end(), {textIn(file, "name"), textIn(file, "hash")});
  if (contents.size() == 1)
    return Error{fmt::format("hybridc did not say what it read in '{}'", place.dependencies())};
  // Named by contents: a list never names an executable that was made of others.
  const std::string name = compileKey(contents) + ".hyx", kept = folder + "/" + name;
  if (std::string why = moveInPlace(place.executable(), kept); !why.empty())
    return Error{fmt::format("cannot write '{}': {}", kept, why)};
  list["executable"] = name;
  if (auto done = writeFileAtomically(folder + "/" + key + ".json", jsonText(list) + "\n"); !done)
    return done.error();
  return kept;
}

} // namespace hybrid::rt
