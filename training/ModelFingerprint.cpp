//===- ModelFingerprint.cpp - what an executable computes, however it is cut -------===//
#include "training/ModelFingerprint.h"
#include "executable/Executable_generated.h"
#include "executable/Limits.h"
#include "executable/OptimizerShards.h"
#include "executable/SequenceRanks.h"
#include <algorithm>
#include <cstdlib>
#include <string>
#include <xxhash.h>

namespace hybrid::rt {

bool reducesOverRanks(const Executable &executable) {
  for (const fb::Program *program : *executable.format().programs())
    if (program->name()->string_view() == "train" && program->steps())
      for (const fb::Step *step : *program->steps())
        if (step->operation_as_AllReduce())
          return true;
  return false;
}

int64_t sequenceRanksOf(const Executable &executable) {
  if (const auto *settings = executable.format().settings())
    for (const fb::Setting *setting : *settings)
      if (!setting->parameter() && setting->name()->string_view() == sequenceRanksSetting)
        return std::clamp<int64_t>(std::atoll(setting->value()->c_str()), 1, mostRanks);
  return 1;
}

bool sharesOptimizer(const Executable &executable) {
  return executable.format().shared() && executable.format().shared()->size() > 0;
}

bool isShared(const Executable &executable, uint64_t offset, uint64_t bytes) {
  if (executable.format().shared())
    for (const fb::BufferRef *stretch : *executable.format().shared())
      if (offset >= stretch->offset() && offset + bytes <= stretch->offset() + stretch->bytes())
        return true;
  return false;
}

uint64_t modelFingerprint(const Executable &executable) {
  const fb::Executable &format = executable.format();
  std::string text;
  auto add = [&](const flatbuffers::String *part) {
    text += part ? part->str() : std::string();
    text += '\0';
  };
  add(format.source());
  if (format.used())
    for (const fb::SourceFile *file : *format.used()) {
      add(file->name());
      add(file->text());
    }
  add(format.model());
  if (format.settings())
    for (const fb::Setting *setting : *format.settings())
      if (setting->parameter() || (setting->name()->string_view() != "batch" &&
                                   setting->name()->string_view() != sequenceRanksSetting &&
                                   setting->name()->string_view() != optimizerShardsSetting)) {
        add(setting->name());
        add(setting->value());
      }
  return XXH3_64bits(text.data(), text.size());
}

} // namespace hybrid::rt
