//===- RecurrentGemma.cpp - recurrent_gemma ---------------------------------------===//
#include "training/exchange/Parts.h"
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

/// What transformers multiplies embeddings by, whatever the type of the weights: √D with 8 bits.
double rootOfWidth(int64_t width) {
  const auto bits = std::bit_cast<uint32_t>(std::sqrt(static_cast<float>(width)));
  return std::bit_cast<float>((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000);
}

void addBoth(TensorRules &rules, const std::string &ours, const std::string &theirs,
             const Shape &shape) {
  rules.same(ours + ".weight", shape, theirs + ".weight");
  rules.same(ours + ".bias", {shape[0]}, theirs + ".bias");
}

void addGriffin(TensorRules &rules, const std::string &ours, const std::string &theirs,
                int64_t width, int64_t inner, int64_t blocks, int64_t taps) {
  for (auto [own, name] : {std::pair("y", "linear_y"), {"x", "linear_x"}})
    addBoth(rules, ours + own, theirs + name, {inner, width});
  addBoth(rules, ours + "out", theirs + "linear_out", {width, inner});
  rules.reshaped(ours + "short.weight", {inner, taps},
                 {theirs + "conv_1d.weight", {inner, 1, taps}});
  rules.same(ours + "short.bias", {inner}, theirs + "conv_1d.bias");
  rules.same(ours + "rg_lru.lambda", {inner}, theirs + "rg_lru.recurrent_param");
  const int64_t size = inner / blocks;
  for (std::string gate : {"input_gate", "recurrent_gate"}) {
    rules.same(ours + "rg_lru." + gate + ".weight", {blocks, size, size},
               theirs + "rg_lru." + gate + "_weight");
    rules.same(ours + "rg_lru." + gate + ".bias", {blocks, size},
               theirs + "rg_lru." + gate + "_bias");
  }
}

} // namespace

Architecture readRecurrentGemma(Config &config) {
  readCommon(config);
  config.withoutEffect(
      {"w_init_variance_scale", "final_w_init_variance_scale", "embeddings_scale_by_sqrt_dim"});
  const int64_t width = config.size({"hidden_size"}, 2560),
                inner = config.size({"intermediate_size"}, 3 * 2560),
                layers = readLayers(config, {"num_hidden_layers"}, 26),
                recurrent = config.size({"lru_width"}, width),
                taps = config.size({"conv1d_width"}, 4);
  AttentionShape shape = readAttention(config, width, 10, {});
  shape.size = std::max<int64_t>(1, width / shape.heads); // whatever 'head_dim' says
  config.require(
      !config.has({"head_dim"}) || width % shape.heads == 0,
      fmt::format("'hidden_size' is {}, which {} heads do not divide", width, shape.heads));
  shape.bias = config.flag({"attention_bias"}, false);
  shape.outBias = true;
  shape.window = config.size({"attention_window_size"}, 2048);
  const Rotary rotary(config, shape.size, 10000, 0.5);
  const double eps = config.number({"rms_norm_eps"}, 1e-6),
               cap = config.number({"logits_soft_cap"}, 30);
  config.withoutEffect({"hidden_act"});
  const std::string function = activation(config, {"hidden_activation"}, "gelu_pytorch_tanh");
  config.require(inner % 2 == 0,
                 fmt::format("'intermediate_size' is {}, expected an even number", inner));
  config.require(
      recurrent % shape.heads == 0,
      fmt::format("'lru_width' is {}, which {} heads do not divide", recurrent, shape.heads));
  config.require(cap > 0, "'logits_soft_cap' is above 0");
  std::vector<std::string> types = config.words("block_types");
  if (types.empty())
    types = {"recurrent", "recurrent", "attention"};
  std::string letters;
  for (int64_t i = 0; i < layers; ++i) {
    const std::string &type = types[static_cast<size_t>(i) % types.size()];
    config.require(type == "recurrent" || type == "attention",
                   fmt::format("'block_types' has '{}', expected recurrent or attention", type));
    letters += type == "recurrent" ? 'R' : 'A';
  }
  const Ends ends{config.size({"vocab_size"}, 256000), width,
                  config.flag({"tie_word_embeddings"}, true), "model.embed_tokens.weight",
                  "lm_head.weight"};

  Architecture model;
  Page &page = model.page;
  TensorRules &rules = model.rules;
  page.use("std.mixers");
  page.use("std.recurrences");
  page.use("std.channel");
  addEmbedding(model, ends);
  page.line(fmt::format("x *= {}", spelled(rootOfWidth(width))));
  rotary.prepare(page);
  const std::string norm = fmt::format("rmsnorm(x, eps = {}, one_plus = true)", spelled(eps));
  Call griffin("griffin", norm), attention = attentionCall(shape, norm), channel("swiglu", norm);
  griffin.with("width", recurrent).with("blocks", shape.heads).with("taps", taps);
  griffin.unless(std::string("gelu_tanh"), "activation", function);
  rotary.pass(attention, shape.size);
  channel.with("inner", inner / 2).with("bias", true).with("activation", function);
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  for (char letter : {'A', 'R'}) {
    if (letters.find(letter) == std::string::npos)
      continue;
    page.line(fmt::format("{} = {{", letter), 2);
    page.line("x += " + (letter == 'A' ? attention : griffin).text(), 3);
    page.line("x += " + channel.text(), 3);
    page.line("}", 2);
  }
  page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("model.layers.{}.", i);
    rules.same(ours + "rmsnorm.weight", {width}, theirs + "temporal_pre_norm.weight");
    if (letters[static_cast<size_t>(i)] == 'A')
      addAttention(rules, ours + "attention.", theirs + "temporal_block.", shape);
    else
      addGriffin(rules, ours + "griffin.", theirs + "temporal_block.", width, recurrent,
                 shape.heads, taps);
    rules.same(ours + "rmsnorm_2.weight", {width}, theirs + "channel_pre_norm.weight");
    addGated(rules, ours + "swiglu.", theirs + "mlp_block.", width, inner / 2, true);
  }
  rules.same("rmsnorm.weight", {width}, "model.final_norm.weight");
  addHead(model, ends, norm, cap);
  return model;
}

} // namespace hybrid::rt::exchange
