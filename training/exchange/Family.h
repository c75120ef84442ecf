//===- Family.h - architectures that can be imported --------------------------===//
//
// A family reads the settings of a config.json and says two things: the page of the model in our
// language, and the rules of its tensors. Nothing else knows an architecture.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/exchange/Config.h"
#include "training/exchange/Page.h"
#include "training/exchange/TensorRules.h"
#include <span>

namespace hybrid::rt::exchange {

/// What a family makes of a config.json. Its own code may be run on settings that are at fault.
struct Architecture {
  Page page;
  TensorRules rules;
  /// Beginnings and ends of names of tensors that the model computes nothing with.
  std::vector<std::string> ignoredPrefixes, ignoredSuffixes;
  /// How names in files may begin instead of as in the rules: (in the rules, in files).
  std::vector<std::pair<std::string, std::string>> otherPrefixes;
  /// Where the head is the embedding: what files that store it all the same call it.
  std::string tiedHead;
};

struct Family {
  std::string_view type; // `model_type` of config.json
  Architecture (*read)(Config &config);
};

/// All that can be imported, in the order of their names.
std::span<const Family> families();

// A file each under families/.
Architecture readBamba(Config &config);
Architecture readFalconH1(Config &config);
Architecture readGemma2(Config &config);
Architecture readGpt2(Config &config);
Architecture readGraniteHybrid(Config &config);
Architecture readJamba(Config &config);
Architecture readKimiLinear(Config &config);
Architecture readLfm2(Config &config);
Architecture readLlama(Config &config);
Architecture readMamba(Config &config);
Architecture readMamba2(Config &config);
Architecture readMistral(Config &config);
Architecture readMixtral(Config &config);
Architecture readNemotronH(Config &config);
Architecture readOlmoHybrid(Config &config);
Architecture readQwen2(Config &config);
Architecture readQwen3(Config &config);
Architecture readQwen35(Config &config);
Architecture readQwen35Text(Config &config);
Architecture readQwen3Next(Config &config);
Architecture readRecurrentGemma(Config &config);
Architecture readRwkv(Config &config);
Architecture readZamba2(Config &config);

} // namespace hybrid::rt::exchange
