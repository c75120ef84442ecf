//===- Bamba.cpp - bamba and granitemoehybrid ----------------------------------------===//
//
// Mamba-2 and attention, each with a channel mixer behind it.
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

/// The keys of the state-space layers, which both types spell alike.
Mamba2Shape readMamba2Shape(Config &config, int64_t width, double eps, int64_t usualState,
                            int64_t usualHeads) {
  config.withoutEffect({"mamba_chunk_size", "time_step_min", "time_step_max", "time_step_floor"});
  Mamba2Shape shape;
  shape.width = width;
  shape.heads = config.size({"mamba_n_heads"}, usualHeads);
  const double expand = config.number({"mamba_expand"}, 2);
  const auto inner =
      static_cast<int64_t>(std::clamp(expand, 0.0, 1024.0) * static_cast<double>(width));
  const bool automatic = config.isWord("mamba_d_head");
  config.require(!automatic || config.word({"mamba_d_head"}) == "auto",
                 "'mamba_d_head' is an integer or auto");
  shape.headSize = automatic
                       ? std::max<int64_t>(1, inner / shape.heads)
                       : config.size({"mamba_d_head"}, std::max<int64_t>(1, inner / shape.heads));
  config.require(shape.heads * shape.headSize == inner,
                 fmt::format("'mamba_n_heads' times 'mamba_d_head' is {}, but 'mamba_expand' times "
                             "'hidden_size' {}",
                             shape.heads * shape.headSize, inner));
  shape.groups = config.size({"mamba_n_groups"}, 1);
  config.require(shape.heads % shape.groups == 0,
                 fmt::format("'mamba_n_groups' is {}, which does not divide 'mamba_n_heads', {}",
                             shape.groups, shape.heads));
  shape.state = config.size({"mamba_d_state"}, usualState);
  shape.taps = config.size({"mamba_d_conv"}, 4);
  shape.convBias = config.flag({"mamba_conv_bias"}, true);
  shape.bias = config.flag({"mamba_proj_bias"}, false);
  shape.eps = eps;
  readStepLimits(config, shape);
  return shape;
}

void writeBlocks(Page &page, const std::string &letters, const Call &attention, const Call &mamba,
                 const std::vector<std::string> &channel, const std::string &factor) {
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  for (char letter : {'A', 'M'}) {
    if (letters.find(letter) == std::string::npos)
      continue;
    page.line(fmt::format("{} = {{", letter), 2);
    page.line("x += " + (letter == 'A' ? attention : mamba).text() + factor, 3);
    for (const std::string &line : channel)
      page.line(line, 3);
    page.line("}", 2);
  }
  page.line("}");
}

void addMixer(TensorRules &rules, char letter, const std::string &ours, const std::string &theirs,
              const AttentionShape &attention, const Mamba2Shape &mamba) {
  rules.same(ours + "rmsnorm.weight", {mamba.width}, theirs + "input_layernorm.weight");
  if (letter == 'A')
    addAttention(rules, ours + "attention.", theirs + "self_attn.", attention);
  else
    addMamba2(rules, ours + "mamba2.", theirs + "mamba.", mamba);
}

/// A letter a layer: M, Mamba-2, or A, attention, by the list of layers where there is one.
std::string mixersOf(Config &config, int64_t layers) {
  std::string letters(static_cast<size_t>(layers), 'M');
  const auto types =
      readLayerTypes(config, layers, {"mamba", "linear_attention", "attention", "full_attention"});
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i] == "attention" || types[i] == "full_attention")
      letters[i] = 'A';
  return letters;
}

} // namespace

Architecture readBamba(Config &config) {
  readCommon(config);
  config.withoutEffect({"num_logits_to_keep", "z_loss_coefficient"});
  const int64_t width = config.size({"hidden_size"}, 4096),
                inner = config.size({"intermediate_size"}, 14336),
                layers = readLayers(config, {"num_hidden_layers"}, 32);
  const double eps = config.number({"rms_norm_eps"}, 1e-5);
  const std::string function = activation(config, {"hidden_act"}, "silu");
  AttentionShape attention = readAttention(config, width, 32, 8);
  attention.bias = attention.outBias = config.flag({"attention_bias"}, false);
  const bool bias = config.flag({"mlp_bias"}, false);
  const Rotary rotary(config, attention.size, 10000, 0.5, Rotary::Share::OfType);
  Mamba2Shape mamba = readMamba2Shape(config, width, eps, 256, 128);
  mamba.activation = function;
  std::string letters = mixersOf(config, layers);
  for (int64_t i : config.integers("attn_layer_indices")) {
    config.require(i < layers, fmt::format("'attn_layer_indices' has {} of {} layers", i, layers));
    if (i < layers)
      letters[static_cast<size_t>(i)] = 'A';
  }
  const Ends ends{config.size({"vocab_size"}, 128000), width,
                  config.flag({"tie_word_embeddings"}, false), "model.embed_tokens.weight",
                  "lm_head.weight"};

  Architecture model;
  model.page.use("std.mixers");
  model.page.use("std.mamba2");
  model.page.use("std.channel");
  addEmbedding(model, ends);
  rotary.prepare(model.page);
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(eps));
  Call softmax = attentionCall(attention, norm), channel("swiglu", norm);
  rotary.pass(softmax, attention.size);
  channel.with("inner", inner).unless(false, "bias", bias);
  channel.unless(std::string("silu"), "activation", function);
  writeBlocks(model.page, letters, softmax, mamba2Call(mamba, norm), {"x += " + channel.text()},
              "");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("model.layers.{}.", i);
    addMixer(model.rules, letters[static_cast<size_t>(i)], ours, theirs, attention, mamba);
    model.rules.same(ours + "rmsnorm_2.weight", {width}, theirs + "pre_ff_layernorm.weight");
    addGated(model.rules, ours + "swiglu.", theirs + "feed_forward.", width, inner, bias);
  }
  model.rules.same("rmsnorm.weight", {width}, "model.final_layernorm.weight");
  addHead(model, ends, norm);
  return model;
}

Architecture readGraniteHybrid(Config &config) {
  readCommon(config);
  config.withoutEffect({"output_router_logits", "router_aux_loss_coef", "init_method",
                        "normalization_function", "num_logits_to_keep"});
  const int64_t width = config.size({"hidden_size"}, 4096),
                inner = config.size({"intermediate_size"}, 11008),
                layers = readLayers(config, {"num_hidden_layers"}, 32),
                routed = config.count({"num_local_experts"}, 8),
                active = config.count({"num_experts_per_tok"}, 2),
                shared = config.size({"shared_intermediate_size"}, 1024);
  const int64_t experts = routed > 0 ? checkedExperts(config, layers, routed, active) : 0;
  const double eps = config.number({"rms_norm_eps"}, 1e-6),
               embedding = config.number({"embedding_multiplier"}, 1),
               residual = config.number({"residual_multiplier"}, 1),
               scale = config.number({"attention_multiplier"}, 1),
               scaling = config.number({"logits_scaling"}, 1);
  config.require(scale > 0 && scaling > 0,
                 "'attention_multiplier' and 'logits_scaling' are above 0");
  const std::string function = activation(config, {"hidden_act"}, "silu");
  AttentionShape attention = readAttention(config, width, 32, {});
  attention.bias = attention.outBias = config.flag({"attention_bias"}, false);
  const std::string positions = config.word({"position_embedding_type"}, "nope");
  config.require(
      positions == "rope" || positions == "nope",
      fmt::format("'position_embedding_type' is '{}', expected rope or nope", positions));
  const Rotary rotary(config, attention.size, 10000);
  Mamba2Shape mamba = readMamba2Shape(config, width, eps, 256, 128);
  mamba.activation = function;
  std::string letters = mixersOf(config, layers);
  const Ends ends{config.size({"vocab_size"}, 32000), width,
                  config.flag({"tie_word_embeddings"}, false), "model.embed_tokens.weight",
                  "lm_head.weight"};

  Architecture model;
  Page &page = model.page;
  page.use("std.mixers");
  page.use("std.mamba2");
  page.use(experts > 0 ? "std.experts" : "std.channel");
  addEmbedding(model, ends);
  if (embedding != 1)
    page.line("x *= " + spelled(embedding));
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(eps)),
                    factor = residual == 1 ? "" : " * " + spelled(residual);
  Call softmax = attentionCall(attention, norm);
  if (positions == "rope") {
    rotary.prepare(page);
    rotary.pass(softmax, attention.size);
  } else {
    softmax.with("rotary", int64_t{0});
  }
  softmax.with("scale", scale);
  Call together("fused_swiglu", experts > 0 ? "n" : norm), mixture("moe", "n");
  together.with("inner", shared).unless(std::string("silu"), "activation", function);
  together.with("name", "\"shared\"");
  std::string expert = "fused_swiglu";
  if (function != "silu")
    expert += fmt::format(" with (activation = {})", function);
  mixture.with("experts", experts).with("active", active).with("inner", inner);
  mixture.with("expert", expert);
  std::vector<std::string> channel = {"x += " + together.text() + factor};
  if (experts > 0)
    channel = {"let n = " + norm,
               fmt::format("x += ({} + {}){}", mixture.text(), together.text(), factor)};
  writeBlocks(page, letters, softmax, mamba2Call(mamba, norm), channel, factor);
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("model.layers.{}.", i);
    addMixer(model.rules, letters[static_cast<size_t>(i)], ours, theirs, attention, mamba);
    model.rules.same(ours + "rmsnorm_2.weight", {width},
                     theirs + "post_attention_layernorm.weight");
    if (experts > 0) {
      const std::string moe = theirs + "block_sparse_moe.";
      model.rules.same(ours + "moe.router.scores.weight", {experts, width},
                       moe + "router.layer.weight");
      model.rules.same(ours + "moe.mixture.experts.in.weight", {experts, 2 * inner, width},
                       moe + "input_linear.weight");
      model.rules.same(ours + "moe.mixture.experts.out.weight", {experts, width, inner},
                       moe + "output_linear.weight");
    }
    model.rules.same(ours + "shared.in.weight", {2 * shared, width},
                     theirs + "shared_mlp.input_linear.weight");
    model.rules.same(ours + "shared.out.weight", {width, shared},
                     theirs + "shared_mlp.output_linear.weight");
  }
  model.rules.same("rmsnorm.weight", {width}, "model.norm.weight");
  addHead(model, ends, norm, 0, scaling == 1 ? "" : " / " + spelled(scaling));
  return model;
}

} // namespace hybrid::rt::exchange
