//===- FalconH1.cpp - falcon_h1 -------------------------------------------------------===//
//
// Attention and Mamba-2 side by side on one normed stream, a gated unit behind them, and factors on
// nearly everything (Falcon-H1: 2507.22448).
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

/// A list of `count` numbers, all 1 where there is none.
std::vector<double> readFactors(Config &config, const std::string &key, size_t count) {
  std::vector<double> factors;
  for (const nlohmann::json &value : config.list(key))
    factors.push_back(config.numberOrInfinity(value, key));
  if (factors.empty())
    return std::vector<double>(count, 1.0);
  const bool sound =
      factors.size() == count && std::all_of(factors.begin(), factors.end(),
                                             [](double factor) { return std::isfinite(factor); });
  config.require(sound, fmt::format("'{}' is a list of {} numbers", key, count));
  return sound ? factors : std::vector<double>(count, 1.0);
}

std::string times(double factor) { return factor == 1 ? "" : " * " + spelled(factor); }

Mamba2Shape readMamba2Shape(Config &config, int64_t width, double eps) {
  config.withoutEffect({"mamba_chunk_size", "mamba_d_ssm", "mamba_expand"});
  Mamba2Shape shape;
  shape.width = width;
  const double expand = std::clamp(config.number({"mamba_expand"}, 2), 0.0, 1024.0);
  const int64_t inner = config.isNull("mamba_d_ssm")
                            ? static_cast<int64_t>(expand * static_cast<double>(width))
                            : config.size({"mamba_d_ssm"}, 1024);
  shape.heads = config.size({"mamba_n_heads"}, 128);
  const int64_t each = std::max<int64_t>(1, inner / shape.heads);
  const bool automatic = config.isWord("mamba_d_head");
  config.require(!automatic || config.word({"mamba_d_head"}) == "auto",
                 "'mamba_d_head' is an integer or auto");
  shape.headSize = automatic ? each : config.size({"mamba_d_head"}, each);
  config.require(
      shape.heads * shape.headSize == inner,
      fmt::format("'mamba_n_heads' times 'mamba_d_head' is {}, but the state-space layer "
                  "is {} wide ('mamba_d_ssm')",
                  shape.heads * shape.headSize, inner));
  shape.groups = config.size({"mamba_n_groups"}, 1);
  config.require(shape.heads % shape.groups == 0,
                 fmt::format("'mamba_n_groups' is {}, which does not divide 'mamba_n_heads', {}",
                             shape.groups, shape.heads));
  shape.state = config.size({"mamba_d_state"}, 256);
  shape.taps = config.size({"mamba_d_conv"}, 4);
  shape.convBias = config.flag({"mamba_conv_bias"}, true);
  shape.bias = config.flag({"mamba_proj_bias"}, false);
  shape.outBias = config.flag({"projectors_bias"}, false);
  shape.eps = eps;
  const bool normed = config.flag({"mamba_rms_norm"}, false),
             first = config.flag({"mamba_norm_before_gate"}, true);
  shape.norm = !normed ? "none" : first ? "first" : "gated";
  readStepLimits(config, shape);
  return shape;
}

} // namespace

Architecture readFalconH1(Config &config) {
  readCommon(config);
  config.withoutEffect({"num_logits_to_keep", "mamba_use_mlp", "layer_types", "layers_block_type"});
  const int64_t width = config.size({"hidden_size"}, 4096),
                inner = config.size({"intermediate_size"}, 14336),
                layers = readLayers(config, {"num_hidden_layers"}, 32);
  const double eps = config.number({"rms_norm_eps"}, 1e-5);
  const std::string function = activation(config, {"hidden_act"}, "silu");
  AttentionShape attention = readAttention(config, width, 32, 8);
  attention.bias = attention.outBias = config.flag({"attention_bias"}, false);
  const bool bias = config.flag({"mlp_bias"}, false);
  const Rotary rotary(config, attention.size, 10000);
  Mamba2Shape mamba = readMamba2Shape(config, width, eps);
  mamba.activation = function;
  const double embedding = config.number({"embedding_multiplier"}, 1),
               head = config.number({"lm_head_multiplier"}, 1),
               key = config.number({"key_multiplier"}, 1),
               attentionIn = config.number({"attention_in_multiplier"}, 1),
               attentionOut = config.number({"attention_out_multiplier"}, 1),
               mambaIn = config.number({"ssm_in_multiplier"}, 1),
               mambaOut = config.number({"ssm_out_multiplier"}, 1);
  config.require(key > 0, "'key_multiplier' is above 0");
  const auto parts = readFactors(config, "ssm_multipliers", 5),
             gated = readFactors(config, "mlp_multipliers", 2);
  const Ends ends{config.size({"vocab_size"}, 128000), width,
                  config.flag({"tie_word_embeddings"}, false), "model.embed_tokens.weight",
                  "lm_head.weight"};

  Architecture model;
  Page &page = model.page;
  for (const char *module : {"std.mixers", "std.mamba2", "std.channel"})
    page.use(module);
  addEmbedding(model, ends);
  if (embedding != 1)
    page.line("x *= " + spelled(embedding));
  rotary.prepare(page);
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(eps));
  Call softmax = attentionCall(attention, "n" + times(attentionIn)),
       scan = mamba2Call(mamba, "n" + times(mambaIn)), channel("swiglu", norm);
  rotary.pass(softmax, attention.size);
  if (key != 1)
    softmax.with("scale", key / std::sqrt(static_cast<double>(attention.size)));
  static constexpr const char *names[] = {"gate_scale", "x_scale", "b_scale", "c_scale",
                                          "dt_scale"};
  for (size_t i = 0; i < parts.size(); ++i)
    scan.unless(1.0, names[i], parts[i]);
  channel.with("inner", inner).unless(false, "bias", bias);
  channel.unless(std::string("silu"), "activation", function).unless(1.0, "gate_scale", gated[0]);
  page.line(fmt::format("repeat {} {{", layers));
  page.line("let n = " + norm, 2);
  page.line("x += " + scan.text() + times(mambaOut) + " + " + softmax.text() + times(attentionOut),
            2);
  page.line("x += " + channel.text() + times(gated[1]), 2);
  page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("model.layers.{}.", i);
    model.rules.same(ours + "rmsnorm.weight", {width}, theirs + "input_layernorm.weight");
    addMamba2(model.rules, ours + "mamba2.", theirs + "mamba.", mamba);
    addAttention(model.rules, ours + "attention.", theirs + "self_attn.", attention);
    model.rules.same(ours + "rmsnorm_2.weight", {width}, theirs + "pre_ff_layernorm.weight");
    addGated(model.rules, ours + "swiglu.", theirs + "feed_forward.", width, inner, bias);
  }
  model.rules.same("rmsnorm.weight", {width}, "model.final_layernorm.weight");
  addHead(model, ends, norm, 0, times(head));
  return model;
}

} // namespace hybrid::rt::exchange
