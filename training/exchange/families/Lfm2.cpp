//===- Lfm2.cpp - lfm2 -------------------------------------------------------------===//
#include "training/exchange/Parts.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

/// The inner width of the gated units.
int64_t readInner(Config &config) {
  const int64_t given = config.size({"intermediate_size", "block_ff_dim"}, 12288),
                multiple = config.size({"block_multiple_of"}, 256);
  const bool adjusts = config.flag({"block_auto_adjust_ff_dim"}, true);
  const double factor = config.number({"block_ffn_dim_multiplier"}, 1);
  config.require(factor > 0 && factor <= 1024,
                 "'block_ffn_dim_multiplier' is above 0 and at most 1024");
  if (!adjusts || !(factor > 0 && factor <= 1024))
    return given;
  const auto inner = static_cast<int64_t>(factor * static_cast<double>(2 * given / 3));
  return std::max<int64_t>(1, (inner + multiple - 1) / multiple) * multiple;
}

/// A letter a layer: C a convolution, A attention.
std::string readOrder(Config &config, int64_t layers) {
  std::string letters(static_cast<size_t>(layers), 'C');
  const auto types = readLayerTypes(config, layers, {"conv", "full_attention"});
  const auto attention = config.integers("full_attn_idxs");
  if (types.empty() && !config.has({"full_attn_idxs"}))
    return std::string(static_cast<size_t>(layers), 'A');
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i] == "full_attention")
      letters[i] = 'A';
  if (types.empty())
    for (int64_t i : attention) {
      config.require(i < layers, fmt::format("'full_attn_idxs' has {} of {} layers", i, layers));
      if (i < layers)
        letters[static_cast<size_t>(i)] = 'A';
    }
  return letters;
}

void addConvolution(TensorRules &rules, const std::string &ours, const std::string &theirs,
                    int64_t width, int64_t taps, bool bias) {
  rules.same(ours + "in.weight", {3 * width, width}, theirs + "in_proj.weight");
  rules.reshaped(ours + "short.weight", {width, taps}, {theirs + "conv.weight", {width, 1, taps}});
  rules.same(ours + "out.weight", {width, width}, theirs + "out_proj.weight");
  if (!bias)
    return;
  rules.same(ours + "in.bias", {3 * width}, theirs + "in_proj.bias");
  rules.same(ours + "short.bias", {width}, theirs + "conv.bias");
  rules.same(ours + "out.bias", {width}, theirs + "out_proj.bias");
}

} // namespace

Architecture readLfm2(Config &config) {
  readCommon(config);
  config.withoutEffect({"block_dim", "block_mlp_init_scale", "block_norm_eps",
                        "block_out_init_scale", "block_use_swiglu", "block_use_xavier_init",
                        "conv_dim", "conv_dim_out", "conv_use_xavier_init", "num_heads"});
  const int64_t width = config.size({"hidden_size"}, 2560),
                layers = readLayers(config, {"num_hidden_layers"}, 32), inner = readInner(config),
                taps = config.size({"conv_L_cache"}, 3);
  const double eps = config.number({"norm_eps"}, 1e-5);
  const bool bias = config.flag({"conv_bias"}, false);
  const AttentionShape attention = readAttention(config, width, 32, 8);
  const Rotary rotary(config, attention.size, 1e6);
  const std::string letters = readOrder(config, layers);
  const Ends ends{config.size({"vocab_size"}, 65536), width,
                  config.flag({"tie_embedding", "tie_word_embeddings"}, true),
                  "model.embed_tokens.weight", "lm_head.weight"};

  Architecture model;
  Page &page = model.page;
  TensorRules &rules = model.rules;
  page.use("std.mixers");
  page.use("std.attention");
  page.use("std.channel");
  page.use("std.short_convolutions");
  addEmbedding(model, ends);
  rotary.prepare(page);
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(eps)),
                    channel = "  x += " + Call("swiglu", norm).with("inner", inner).text();
  Call convolution("gated_short_conv", norm), softmax = attentionCall(attention, norm);
  convolution.with("taps", taps).unless(false, "bias", bias);
  softmax.with("norm", fmt::format("head_norm with (eps = {})", spelled(eps)));
  rotary.pass(softmax, attention.size);
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  for (auto [letter, call] : {std::pair('C', &convolution), {'A', &softmax}}) {
    if (letters.find(letter) == std::string::npos)
      continue;
    page.line(fmt::format("{} = {{", letter), 2);
    page.line("  x += " + call->text(), 2);
    page.line(channel, 2);
    page.line("}", 2);
  }
  page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("model.layers.{}.", i);
    rules.same(ours + "rmsnorm.weight", {width}, theirs + "operator_norm.weight");
    if (letters[static_cast<size_t>(i)] == 'C') {
      addConvolution(rules, ours + "gated_short_conv.", theirs + "conv.", width, taps, bias);
    } else {
      addAttention(rules, ours + "attention.", theirs + "self_attn.", attention, "out_proj");
      for (auto [own, name] : {std::pair("q_norm", "q_layernorm"), {"k_norm", "k_layernorm"}})
        rules.same(fmt::format("{}attention.{}.weight", ours, own), {attention.size},
                   fmt::format("{}self_attn.{}.weight", theirs, name));
    }
    rules.same(ours + "rmsnorm_2.weight", {width}, theirs + "ffn_norm.weight");
    addGated(rules, ours + "swiglu.", theirs + "feed_forward.", width, inner, false,
             {"w1", "w3", "w2"});
  }
  rules.same("rmsnorm.weight", {width}, "model.embedding_norm.weight");
  addHead(model, ends, norm);
  return model;
}

} // namespace hybrid::rt::exchange
