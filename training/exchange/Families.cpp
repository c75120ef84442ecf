//===- Families.cpp - architectures that can be imported ----------------------===//
#include "training/exchange/Family.h"

namespace hybrid::rt::exchange {

std::span<const Family> families() {
  static constexpr Family all[] = {
      {"bamba", readBamba},
      {"falcon_h1", readFalconH1},
      {"gemma2", readGemma2},
      {"gpt2", readGpt2},
      {"granitemoehybrid", readGraniteHybrid},
      {"jamba", readJamba},
      {"kimi_linear", readKimiLinear},
      {"lfm2", readLfm2},
      {"llama", readLlama},
      {"mamba", readMamba},
      {"mamba2", readMamba2},
      {"mistral", readMistral},
      {"mixtral", readMixtral},
      {"nemotron_h", readNemotronH},
      {"olmo_hybrid", readOlmoHybrid},
      {"qwen2", readQwen2},
      {"qwen3", readQwen3},
      {"qwen3_5", readQwen35},
      {"qwen3_5_text", readQwen35Text},
      {"qwen3_next", readQwen3Next},
      {"recurrent_gemma", readRecurrentGemma},
      {"rwkv", readRwkv},
      {"zamba2", readZamba2},
  };
  return all;
}

} // namespace hybrid::rt::exchange
