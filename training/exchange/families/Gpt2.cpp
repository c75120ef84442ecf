//===- Gpt2.cpp - gpt2 -----------------------------------------------------------===//
#include "training/exchange/Parts.h"
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::exchange {

Architecture readGpt2(Config &config) {
  readCommon(config);
  config.withoutEffect({"n_ctx", "reorder_and_upcast_attn", "summary_activation",
                        "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                        "summary_use_proj", "gradient_checkpointing"});
  const int64_t width = config.size({"n_embd", "hidden_size"}, 768),
                vocabulary = config.size({"vocab_size"}, 50257),
                layers = readLayers(config, {"n_layer", "num_hidden_layers"}, 12),
                heads = config.size({"n_head", "num_attention_heads"}, 12),
                positions = config.size({"n_positions", "max_position_embeddings"}, 1024),
                inner = config.size({"n_inner"}, 4 * width);
  const double eps = config.number({"layer_norm_epsilon"}, 1e-5);
  const std::string function = activation(config, {"activation_function"}, "gelu_new");
  const bool scaled = config.flag({"scale_attn_weights"}, true),
             byDepth = config.flag({"scale_attn_by_inverse_layer_idx"}, false),
             tied = config.flag({"tie_word_embeddings"}, true);
  config.require(width % heads == 0,
                 fmt::format("'n_embd' is {}, which 'n_head', {}, does not divide", width, heads));

  Architecture model;
  Page &page = model.page;
  TensorRules &rules = model.rules;
  page.use("std.mixers");
  page.use("std.channel");
  const Ends ends{vocabulary, width, tied, "transformer.wte.weight", "lm_head.weight"};
  addEmbedding(model, ends);
  page.line(fmt::format("x = positions(x, {})", positions));
  rules.same("positions.weight", {positions, width}, "transformer.wpe.weight");
  const std::string norm = fmt::format("layernorm(x, eps = {})", spelled(eps));
  page.line(byDepth ? fmt::format("for i in 0..{} {{", layers)
                    : fmt::format("repeat {} {{", layers));
  Call attention("attention", norm);
  attention.with("heads", heads).with("rotary", int64_t{0}).with("bias", true);
  const double scale =
      scaled ? 1 / std::sqrt(static_cast<double>(width) / static_cast<double>(heads)) : 1;
  if (byDepth)
    attention.with("scale", fmt::format("{} / (i + 1.0)", spelled(scale)));
  else if (!scaled)
    attention.with("scale", scale);
  page.line("x += " + attention.text(), 2);
  Call channel("mlp", norm);
  channel.with("inner", inner)
      .with("bias", true)
      .unless(std::string("gelu_tanh"), "activation", function);
  page.line("x += " + channel.text(), 2);
  page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("transformer.h.{}.", i);
    auto pair = [&](const std::string &own, const std::string &name) {
      rules.same(ours + own + ".weight", {width}, theirs + name + ".weight");
      rules.same(ours + own + ".bias", {width}, theirs + name + ".bias");
    };
    auto projection = [&](const std::string &weight, const std::string &bias,
                          const std::string &name, int64_t out, int64_t in) {
      rules.transposed(ours + weight, {out, in}, theirs + name + ".weight");
      rules.same(ours + bias, {out}, theirs + name + ".bias");
    };
    pair("layernorm", "ln_1");
    projection("attention.wqkv", "attention.bqkv", "attn.c_attn", 3 * width, width);
    projection("attention.wo", "attention.bo", "attn.c_proj", width, width);
    pair("layernorm_2", "ln_2");
    projection("mlp.w1.weight", "mlp.w1.bias", "mlp.c_fc", inner, width);
    projection("mlp.w2.weight", "mlp.w2.bias", "mlp.c_proj", width, inner);
  }
  rules.same("layernorm.weight", {width}, "transformer.ln_f.weight");
  rules.same("layernorm.bias", {width}, "transformer.ln_f.bias");
  addHead(model, ends, norm);
  model.otherPrefixes = {{"transformer.", ""}};
  model.ignoredSuffixes = {".attn.bias", ".attn.masked_bias"}; // masks of old files
  return model;
}

} // namespace hybrid::rt::exchange
