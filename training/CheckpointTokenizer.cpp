//===- CheckpointTokenizer.cpp - the tokenizer that a checkpoint carries -------===//
#include "training/CheckpointTokenizer.h"
#include "training/TensorHashes.h"
#include <fmt/format.h>

namespace hybrid::rt {

Result<std::unique_ptr<Tokenizer>> tokenizerOfCheckpoint(const std::string &path) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.error();
  if (auto sound = checkHashes(*file, path); !sound)
    return sound.error();
  auto found = file->metadata().find(tokenizerKey);
  if (found == file->metadata().end())
    return std::unique_ptr<Tokenizer>();
  return tokenizerFromText(found->second, fmt::format("the tokenizer in '{}'", path));
}

Result<std::unique_ptr<Tokenizer>> namedTokenizer(const std::string &name) {
  if (!name.ends_with(".safetensors"))
    return loadTokenizer(name);
  Result<std::unique_ptr<Tokenizer>> carried = tokenizerOfCheckpoint(name);
  if (carried && !*carried)
    return Error{fmt::format("'{}' carries no tokenizer: it was not trained on text", name)};
  return carried;
}

} // namespace hybrid::rt
