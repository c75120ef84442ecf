//===- Mixers.h - tensors of recurrent layers that several families have -------===//
#pragma once
#include "training/exchange/Config.h"
#include "training/exchange/Page.h"
#include "training/exchange/TensorRules.h"
#include <limits>
#include <optional>

namespace hybrid::rt::exchange {

struct MambaShape {
  int64_t width, inner, state, taps, rank;
  bool bias, convBias;
};
/// Of std.mamba's layer; both names end with a dot.
void addMamba(TensorRules &rules, const std::string &ours, const std::string &theirs,
              const MambaShape &shape);

struct Mamba2Shape {
  int64_t width = 1, heads = 1, headSize = 1, state = 1, groups = 1, taps = 1;
  bool bias = false, convBias = true;
  std::optional<bool> outBias; // as `bias` unless given
  double eps = 1e-5, leastStep = 0, mostStep = std::numeric_limits<double>::infinity();
  std::string activation = "silu";
  std::string norm = "gated"; // gated, first or none, as std.mamba2 has it
};
/// `time_step_limit`: between what steps lie.
void readStepLimits(Config &config, Mamba2Shape &shape);
/// Of std.mamba2's layer.
Call mamba2Call(const Mamba2Shape &shape, const std::string &norm);
void addMamba2(TensorRules &rules, const std::string &ours, const std::string &theirs,
               const Mamba2Shape &shape);

/// The gated delta rule of std.delta; value heads share key heads.
struct DeltaShape {
  int64_t width = 1, keyHeads = 1, valueHeads = 1, keySize = 1, valueSize = 1, taps = 1;
  double eps = 1e-6;
  std::string activation = "silu"; // of the convolution
  bool negative = false;           // whether beta is up to 2
  int64_t keys() const { return keyHeads * keySize; }
  int64_t values() const { return valueHeads * valueSize; }
};
Call deltaCall(const DeltaShape &shape, const std::string &norm);
/// `grouped`: in_proj_qkvz and in_proj_ba have their rows key head by key head, as Qwen3-Next has
/// them; if not, the projections are apart.
void addDelta(TensorRules &rules, const std::string &ours, const std::string &theirs,
              const DeltaShape &shape, bool grouped);

} // namespace hybrid::rt::exchange
