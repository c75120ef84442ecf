//===- Jamba.cpp - jamba -----------------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

struct Settings {
  int64_t layers = 1, width = 1, inner = 1, experts = 1, active = 1;
  AttentionShape attention;
  MambaShape mamba{};
  double eps = 1e-6;
  std::string activation;
  /// Of each layer: M or N mamba, A or B attention; the second with experts.
  std::string letters;
};

bool isAttention(char letter) { return letter == 'A' || letter == 'B'; }
bool hasExperts(char letter) { return letter == 'B' || letter == 'N'; }

/// Whether a layer is one of every so many.
struct Every {
  int64_t period, offset;
  bool operator()(int64_t layer) const { return layer % period == offset; }
};

Every readEvery(Config &config, const std::string &what, int64_t period, int64_t offset) {
  return {config.size({what + "_layer_period"}, period),
          config.count({what + "_layer_offset"}, offset)};
}

Settings readSettings(Config &config) {
  Settings s;
  s.width = config.size({"hidden_size"}, 4096);
  s.inner = config.size({"intermediate_size"}, 14336);
  s.layers = readLayers(config, {"num_hidden_layers"}, 32);
  s.attention = readAttention(config, s.width, 32, 8);
  s.eps = config.number({"rms_norm_eps"}, 1e-6);
  s.activation = activation(config, {"hidden_act"}, "silu");
  s.experts = config.size({"num_experts"}, 16);
  s.active = config.size({"num_experts_per_tok"}, 2);
  s.experts = checkedExperts(config, s.layers, s.experts, s.active);
  const bool automatic = config.isWord("mamba_dt_rank");
  config.require(!automatic || config.word({"mamba_dt_rank"}) == "auto",
                 "'mamba_dt_rank' is an integer or auto");
  s.mamba = {s.width,
             config.size({"mamba_expand"}, 2) * s.width,
             config.size({"mamba_d_state"}, 16),
             config.size({"mamba_d_conv"}, 4),
             automatic ? (s.width + 15) / 16 : config.size({"mamba_dt_rank"}, (s.width + 15) / 16),
             config.flag({"mamba_proj_bias"}, false),
             config.flag({"mamba_conv_bias"}, true)};
  const Every attention = readEvery(config, "attn", 8, 4),
              experts = readEvery(config, "expert", 2, 1);
  const auto types = readLayerTypes(config, s.layers,
                                    {"linear_attention", "mamba", "attention", "full_attention"});
  for (int64_t i = 0; i < s.layers; ++i) {
    const bool attends = types.empty() ? attention(i)
                                       : types[static_cast<size_t>(i)].ends_with("attention") &&
                                             !types[static_cast<size_t>(i)].starts_with("linear");
    const bool mixes = s.experts > 1 && experts(i);
    s.letters += attends ? (mixes ? 'B' : 'A') : (mixes ? 'N' : 'M');
  }
  return s;
}

void writeBlocks(Page &page, const Settings &s, const std::string &norm) {
  Call attention = attentionCall(s.attention, norm).with("rotary", int64_t{0});
  Call mamba("mamba", norm), dense("swiglu", norm), mixture("moe", norm);
  mamba.with("inner", s.mamba.inner).with("state", s.mamba.state).with("taps", s.mamba.taps);
  mamba.with("dt_rank", s.mamba.rank).unless(true, "conv_bias", s.mamba.convBias);
  mamba.unless(false, "bias", s.mamba.bias);
  mamba.unless(std::string("silu"), "activation", s.activation);
  mamba.with("inner_norm", fmt::format("rmsnorm with (eps = {})", spelled(s.eps)));
  dense.with("inner", s.inner).unless(std::string("silu"), "activation", s.activation);
  mixture.with("experts", s.experts).with("active", s.active).with("inner", s.inner);
  if (s.activation != "silu")
    mixture.with("expert", fmt::format("swiglu_expert with (activation = {})", s.activation));
  mixture.with("routing", "\"argmax_softmax\"");
  page.line(fmt::format("topology \"{}\" {{", topology(s.letters)));
  for (char letter : {'A', 'B', 'M', 'N'}) {
    if (s.letters.find(letter) == std::string::npos)
      continue;
    page.line(fmt::format("{} = {{", letter), 2);
    page.line("x += " + (isAttention(letter) ? attention : mamba).text(), 3);
    page.line("x += " + (hasExperts(letter) ? mixture : dense).text(), 3);
    page.line("}", 2);
  }
  page.line("}");
}

void addBlock(TensorRules &rules, const Settings &s, char letter, const std::string &ours,
              const std::string &theirs) {
  rules.same(ours + "rmsnorm.weight", {s.width}, theirs + "input_layernorm.weight");
  if (isAttention(letter)) {
    addAttention(rules, ours + "attention.", theirs + "self_attn.", s.attention);
  } else {
    addMamba(rules, ours + "mamba.", theirs + "mamba.", s.mamba);
    for (auto [name, size] :
         {std::pair("dt", s.mamba.rank), {"b", s.mamba.state}, {"c", s.mamba.state}})
      rules.same(fmt::format("{}mamba.core.{}_norm.weight", ours, name), {size},
                 fmt::format("{}mamba.{}_layernorm.weight", theirs, name));
  }
  rules.same(ours + "rmsnorm_2.weight", {s.width}, theirs + "pre_ff_layernorm.weight");
  if (hasExperts(letter))
    addMixture(rules, ours + "moe.",
               {s.width, s.inner, s.experts, theirs + "feed_forward.router.weight",
                theirs + "feed_forward.experts."});
  else
    addGated(rules, ours + "swiglu.", theirs + "feed_forward.", s.width, s.inner);
}

} // namespace

Architecture readJamba(Config &config) {
  readCommon(config);
  config.withoutEffect({"num_logits_to_keep", "output_router_logits", "router_aux_loss_coef",
                        "max_position_embeddings"});
  config.only("sliding_window", nullptr, "jamba's attention has no window");
  const Settings s = readSettings(config);
  const Ends ends{config.size({"vocab_size"}, 65536), s.width,
                  config.flag({"tie_word_embeddings"}, false), "model.embed_tokens.weight",
                  "lm_head.weight"};
  Architecture model;
  model.page.use("std.mixers");
  model.page.use("std.mamba");
  model.page.use("std.channel");
  if (s.letters.find_first_of("BN") != std::string::npos)
    model.page.use("std.experts");
  addEmbedding(model, ends);
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(s.eps));
  writeBlocks(model.page, s, norm);
  for (int64_t i = 0; i < s.layers; ++i)
    addBlock(model.rules, s, s.letters[static_cast<size_t>(i)], fmt::format("blocks.{}.", i),
             fmt::format("model.layers.{}.", i));
  model.rules.same("rmsnorm.weight", {s.width}, "model.final_layernorm.weight");
  addHead(model, ends, norm);
  return model;
}

} // namespace hybrid::rt::exchange
