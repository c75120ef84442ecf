//===- Rotary.h - rotary positions of a config.json ----------------------------===//
#pragma once
#include "training/exchange/Config.h"
#include "training/exchange/Page.h"

namespace hybrid::rt::exchange {

/// How attention rotates queries and keys. The kinds are default, linear, llama3 and yarn.
class Rotary {
public:
  /// From `rope_parameters`, or `rope_theta`, `rope_scaling` and `partial_rotary_factor`. `theta`
  /// and `share` (of a head's channels that turn) are the type's defaults; a share OfType is not
  /// read from the top of the file.
  enum class Share : uint8_t { OfConfig, OfType };
  Rotary(Config &config, int64_t headSize, double theta, double share = 1,
         Share whose = Share::OfConfig);

  /// What stands in front of the blocks, if anything.
  void prepare(Page &page) const;
  /// The arguments of the layer, whose heads have `usual` rotated channels unless told.
  void pass(Call &call, int64_t usual) const;

private:
  void read(Config &config, Config &scaling, int64_t mostPositions);

  int64_t dims = 0;
  double base = 0;
  std::string frequencies; // of a kind that attention does not know by itself
  double gain = 1;
};

} // namespace hybrid::rt::exchange
