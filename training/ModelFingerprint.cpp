//===- ModelFingerprint.cpp - what an executable computes, however it is cut -------===//
#include "training/ModelFingerprint.h"
#include "executable/Executable_generated.h"
#include "executable/Limits.h"
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
                                   setting->name()->string_view() != sequenceRanksSetting)) {
        add(setting->name());
        add(setting->value());
      }
  return XXH3_64bits(text.data(), text.size());
}

} // namespace hybrid::rt
