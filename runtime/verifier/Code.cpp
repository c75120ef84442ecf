//===- Code.cpp - the target, and code whose hash is the one recorded -----===//
#include "runtime/CpuFeatures.h"
#include "runtime/cuda/Architecture.h"
#include "runtime/verifier/Verifier.h"
#include <unordered_set>
#include <xxhash.h>

namespace hybrid::rt::verifier {

Result<void> Verifier::checkTarget() {
  std::string_view device = viewOf(executable.target()->device());
  onCuda = device == "cuda";
  if (!onCuda && device != "cpu")
    return error("compiled for the device '{}', but this hybrid-run runs 'cpu' and 'cuda'",
                 device.substr(0, 64));
  return onCuda ? checkImages() : checkCpuCode();
}

Result<void> Verifier::checkCpuCode() const {
  const fb::Target &target = *executable.target();
  std::string missing;
  if (target.features())
    for (const flatbuffers::String *feature : *target.features()) {
      std::string_view name = viewOf(feature);
      if (!isSoundName(name) || name.size() > 64)
        return error("corrupt: a required CPU feature has no sound name");
      if (!hasCpuFeature(name) && missing.size() < 512)
        missing.append(missing.empty() ? "" : ", ").append(name);
    }
  if (!missing.empty())
    return error(
        "compiled for '{}', which needs CPU features that this one ({}) lacks: {}; compile "
        "it on this machine, or with --target=cpu:x86-64-v3 for any recent one",
        viewOf(target.cpu()).substr(0, 64), cpuModelName(), missing);
  if (!executable.code() || executable.code()->size() == 0)
    return error("corrupt: it holds no code");
  uint64_t hash = XXH3_64bits(executable.code()->data(), executable.code()->size());
  if (hash != executable.code_hash())
    return error("corrupt: the code's hash is {:016x}, but {:016x} was recorded; compile the model "
                 "again",
                 hash, executable.code_hash());
  return {};
}

Result<void> Verifier::checkImages() const {
  if (executable.code() && executable.code()->size())
    return error("corrupt: it is for the device 'cuda', but holds {} bytes of code for a CPU",
                 executable.code()->size());
  if (!executable.images() || executable.images()->size() == 0)
    return error("corrupt: it holds no code");
  std::unordered_set<std::string_view> architectures;
  for (const fb::CodeImage *image : *executable.images()) {
    std::string_view name = viewOf(image->architecture());
    if (!isSoundName(name) || !cuda::Architecture::parse(name))
      return error("corrupt: a code image is for '{}', which is no architecture",
                   isSoundName(name) ? name.substr(0, 64) : "?");
    if (!architectures.insert(name).second)
      return error("corrupt: two code images are for '{}'", name);
    if (image->bytes()->size() == 0)
      return error("corrupt: the code image for '{}' is empty", name);
    uint64_t hash = XXH3_64bits(image->bytes()->data(), image->bytes()->size());
    if (hash != image->hash())
      return error("corrupt: the hash of the code for '{}' is {:016x}, but {:016x} was recorded; "
                   "compile the model again",
                   name, hash, image->hash());
  }
  return {};
}

} // namespace hybrid::rt::verifier
