//===- Rotary.cpp - rotary positions of a config.json --------------------------===//
#include "training/exchange/Rotary.h"
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::exchange {

Rotary::Rotary(Config &config, int64_t headSize, double theta, double share, Share whose) {
  const bool whole = share == 1;
  const int64_t most = config.size({"max_position_embeddings"}, 2048);
  config.only("rope_interleaved", false, "the pairs of a head are halves apart");
  base = config.number({"rope_theta"}, theta);
  if (const double given = config.number({"partial_rotary_factor"}, share);
      whose == Share::OfConfig)
    share = given;
  // Of both the older one counts.
  const std::string_view key = config.has({"rope_scaling"}) ? "rope_scaling" : "rope_parameters";
  if (config.has({key})) {
    Config scaling = config.part(key);
    base = scaling.number({"rope_theta"}, base);
    share = scaling.number({"partial_rotary_factor"}, share);
    read(config, scaling, most);
  }
  config.withoutEffect({"rope_parameters", "rope_scaling"});
  if (!(share > 0 && share <= 1) || !(base > 0)) {
    config.fault(
        fmt::format("'rope_theta' is {} and 'partial_rotary_factor' {}, expected more than "
                    "0, and a share up to 1",
                    base, share));
    return;
  }
  // transformers leaves the share out of account in types that have none of their own.
  config.require(!whole || share == 1,
                 fmt::format("'partial_rotary_factor' is {}, expected 1: this type rotates all "
                             "channels of a head",
                             share));
  dims = static_cast<int64_t>(static_cast<double>(headSize) * share);
  config.require(
      dims > 0 && dims % 2 == 0,
      fmt::format("{} of {} channels of a head would be rotated, expected an even number", dims,
                  headSize));
  if (frequencies.empty())
    return;
  frequencies = fmt::format(fmt::runtime(frequencies), dims, spelled(base));
}

void Rotary::read(Config &config, Config &scaling, int64_t mostPositions) {
  const std::string kind = scaling.word({"rope_type", "type"}, "default");
  // Of several axes of positions, which are all the same for text.
  scaling.withoutEffect({"mrope_section", "mrope_interleaved"});
  if (kind == "default" || kind == "mrope") {
    scaling.withoutEffect({"original_max_position_embeddings"});
    return;
  }
  const double factor = scaling.number({"factor"});
  const double length =
      scaling.number({"original_max_position_embeddings"}, static_cast<double>(mostPositions));
  config.require(
      factor > 0 && length > 0,
      "'factor' and 'original_max_position_embeddings' of the rotary positions are above 0");
  if (kind == "linear") {
    frequencies =
        fmt::format("rotary_frequencies({{}}, base = {{}}, factor = {})", spelled(factor));
  } else if (kind == "llama3") {
    const double low = scaling.number({"low_freq_factor"}),
                 high = scaling.number({"high_freq_factor"});
    config.require(high > low, "'high_freq_factor' is above 'low_freq_factor'");
    frequencies = fmt::format(
        "llama3_frequencies({{}}, base = {{}}, factor = {}, low = {}, high = {}, length = {})",
        spelled(factor), spelled(low), spelled(high), spelled(length));
  } else if (kind == "yarn") {
    const double fast = scaling.number({"beta_fast"}, 32), slow = scaling.number({"beta_slow"}, 1);
    const bool truncated = scaling.flag({"truncate"}, true);
    config.require(fast > 0 && slow > 0, "'beta_fast' and 'beta_slow' are above 0");
    // The two scales of DeepSeek stand in for the factor where both are there.
    const double scale = scaling.number({"mscale"}, 0),
                 scaleAll = scaling.number({"mscale_all_dim"}, 0);
    auto gainOf = [&](double by) { return factor > 1 ? 0.1 * by * std::log(factor) + 1 : 1.0; };
    const bool both = scale != 0 && scaleAll != 0;
    gain =
        scaling.number({"attention_factor"}, both ? gainOf(scale) / gainOf(scaleAll) : gainOf(1));
    frequencies = fmt::format(
        "yarn_frequencies({{}}, base = {{}}, factor = {}, length = {}, fast = {}, slow = {}{})",
        spelled(factor), spelled(length), spelled(fast), spelled(slow),
        truncated ? "" : ", truncated = false");
  } else {
    config.fault(fmt::format("'rope_type' is '{}', expected default, linear, llama3 or yarn{}",
                             kind,
                             kind == "dynamic" ? ". The frequencies of 'dynamic' depend on the "
                                                 "length of the text, which no layer here knows"
                                               : ""));
  }
}

void Rotary::prepare(Page &page) const {
  if (frequencies.empty())
    return;
  page.use("std.rotary");
  page.line(fmt::format("let [along, across] = rotary_table(B, L, {}{})", frequencies,
                        gain == 1 ? "" : ", gain = " + spelled(gain)));
  page.line("let turned = rotated with (along = along, across = across)");
}

void Rotary::pass(Call &call, int64_t usual) const {
  if (!frequencies.empty()) {
    call.with("rotate", "turned");
    return;
  }
  call.unless(usual, "rotary", dims).with("rotary_base", base);
}

} // namespace hybrid::rt::exchange
