//===- KimiLinear.cpp - kimi_linear ---------------------------------------------------===//
//
// Kimi delta attention, and latent attention without positions; experts with a sigmoid router
// behind all layers but the first (Kimi Linear: 2510.26692).
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

struct Delta {
  int64_t width = 1, heads = 1, size = 1, taps = 1;
  double eps = 1e-5;
  int64_t inner() const { return heads * size; }
};

struct Latent {
  int64_t width = 1, heads = 1, nope = 1, rope = 1, value = 1, rank = 1, queryRank = 0;
  bool bias = false;
};

struct Experts {
  int64_t width = 1, experts = 1, active = 1, inner = 1, shared = 0;
  double factor = 1;
  bool normalised = true;
  ExpertGroups groups;
};

/// Settings of the delta layers; `part` is the object of their own, which goes before.
Delta readDelta(Config &config, Config &part, int64_t width, double eps) {
  Delta delta;
  delta.width = width;
  delta.heads = config.size({"linear_num_heads"}, 32);
  delta.size = config.size({"linear_head_dim"}, 128);
  delta.taps = config.size({"linear_conv_kernel_dim"}, 4);
  delta.eps = eps;
  delta.heads = part.size({"num_heads"}, delta.heads);
  delta.size = part.size({"head_dim"}, delta.size);
  delta.taps = part.size({"short_conv_kernel_size"}, delta.taps);
  return delta;
}

/// A letter a layer: D, the delta rule, or A, latent attention.
std::string readMixers(Config &config, Config &part, int64_t layers) {
  const auto types = readLayerTypes(config, layers, {"linear_attention", "full_attention"});
  std::string letters(static_cast<size_t>(layers), ' ');
  for (auto [key, letter] : {std::pair("full_attn_layers", 'A'), {"kda_layers", 'D'}})
    for (int64_t i : part.integers(key)) { // counted from 1
      config.require(i >= 1 && i <= layers, fmt::format("'linear_attn_config.{}' has {} of layers "
                                                        "1 to {}",
                                                        key, i, layers));
      if (i >= 1 && i <= layers)
        letters[static_cast<size_t>(i - 1)] = letter;
    }
  const bool listed = letters.find_first_not_of(' ') != std::string::npos;
  config.require(!listed || !types.empty() || letters.find(' ') == std::string::npos,
                 "a layer is neither in 'linear_attn_config.full_attn_layers' nor in "
                 "'linear_attn_config.kda_layers'");
  for (size_t i = 0; i < letters.size(); ++i)
    if (!types.empty())
      letters[i] = types[i] == "full_attention" ? 'A' : 'D';
    else if (!listed)
      letters[i] = i > 0 && i % 4 == 0 ? 'A' : 'D';
    else if (letters[i] == ' ')
      letters[i] = 'D';
  return letters;
}

/// Which layers have experts.
std::vector<bool> readSparse(Config &config, int64_t layers) {
  const auto types = config.words("mlp_layer_types");
  const int64_t first = config.count({"first_k_dense_replace"}, 1);
  config.only("moe_layer_freq", 1, "every layer behind the dense ones has experts");
  config.require(types.empty() || static_cast<int64_t>(types.size()) == layers,
                 fmt::format("'mlp_layer_types' has {} words for {} layers", types.size(), layers));
  std::vector<bool> sparse;
  for (int64_t i = 0; i < layers; ++i) {
    const bool given = static_cast<int64_t>(types.size()) == layers;
    const std::string &type = given ? types[static_cast<size_t>(i)] : "";
    config.require(!given || type == "dense" || type == "sparse",
                   fmt::format("'mlp_layer_types' has '{}', expected dense or sparse", type));
    sparse.push_back(given ? type == "sparse" : i >= first);
  }
  return sparse;
}

Experts readExperts(Config &config, int64_t width) {
  config.withoutEffect({"use_grouped_topk", "num_nextn_predict_layers", "output_router_logits",
                        "router_aux_loss_coef"});
  config.only("moe_router_activation_func", "sigmoid", "its router does not compete");
  Experts e;
  e.width = width;
  e.experts = config.size({"num_experts", "num_local_experts"}, 256);
  e.active = config.size({"num_experts_per_token", "num_experts_per_tok"}, 8);
  e.inner = config.size({"moe_intermediate_size"}, 1024);
  e.shared = config.size({"num_shared_experts", "n_shared_experts"}, 1) * e.inner;
  e.factor = config.number({"routed_scaling_factor"}, 2.446);
  e.normalised = config.flag({"moe_renormalize", "norm_topk_prob"}, true);
  e.groups = readExpertGroups(config, {"num_expert_group", "n_group"}, e.experts, e.active);
  return e;
}

Latent readLatent(Config &config, int64_t width) {
  config.withoutEffect({"head_dim", "qk_head_dim", "rope_theta", "rope_parameters", "rope_scaling",
                        "max_position_embeddings", "model_max_length"});
  config.only("mla_use_nope", true, "its attention has no positions");
  Latent latent;
  latent.width = width;
  latent.heads = config.size({"num_attention_heads"}, 32);
  config.require(!config.has({"num_key_value_heads"}) ||
                     config.size({"num_key_value_heads"}) == latent.heads,
                 "'num_key_value_heads' is 'num_attention_heads': keys are made for each head");
  config.withoutEffect({"num_key_value_heads"});
  latent.nope = config.size({"qk_nope_head_dim"}, 128);
  latent.rope = config.size({"qk_rope_head_dim"}, 64);
  latent.value = config.size({"v_head_dim"}, 128);
  latent.rank = config.size({"kv_lora_rank"}, 512);
  latent.queryRank = config.has({"q_lora_rank"}) ? config.size({"q_lora_rank"}) : 0;
  config.withoutEffect({"q_lora_rank"});
  latent.bias = config.flag({"attention_bias"}, false);
  return latent;
}

void addDelta(TensorRules &rules, const std::string &ours, const std::string &theirs,
              const Delta &delta) {
  const int64_t inner = delta.inner();
  auto projection = [&](const char *name, int64_t rows) {
    return ForeignTensor{theirs + name + "_proj.weight", {rows, delta.width}};
  };
  rules.stacked(ours + "in.weight", {3 * inner + 2 * delta.size + delta.heads, delta.width},
                {projection("q", inner), projection("k", inner), projection("v", inner),
                 projection("f_a", delta.size), projection("g_a", delta.size),
                 projection("b", delta.heads)});
  auto convolution = [&](const char *name) {
    return ForeignTensor{theirs + name + "_conv1d.weight", {inner, 1, delta.taps}};
  };
  rules.stacked(ours + "short.weight", {3 * inner, delta.taps},
                {convolution("q"), convolution("k"), convolution("v")});
  rules.reshaped(ours + "decay.rate", {delta.heads}, {theirs + "A_log", {1, 1, delta.heads, 1}});
  rules.same(ours + "decay.bias", {inner}, theirs + "dt_bias");
  rules.same(ours + "decay_out.weight", {inner, delta.size}, theirs + "f_b_proj.weight");
  rules.same(ours + "gate_out.weight", {inner, delta.size}, theirs + "g_b_proj.weight");
  rules.same(ours + "norm", {delta.size}, theirs + "o_norm.weight");
  rules.same(ours + "out.weight", {delta.width, inner}, theirs + "o_proj.weight");
}

void addLatent(TensorRules &rules, const std::string &ours, const std::string &theirs,
               const Latent &latent) {
  auto projection = [&](const char *own, const char *name, int64_t to, int64_t from, bool bias) {
    rules.same(fmt::format("{}{}.weight", ours, own), {to, from},
               fmt::format("{}{}.weight", theirs, name));
    if (bias)
      rules.same(fmt::format("{}{}.bias", ours, own), {to}, fmt::format("{}{}.bias", theirs, name));
  };
  const int64_t queries = latent.heads * (latent.nope + latent.rope);
  if (latent.queryRank > 0) {
    projection("q_a", "q_a_proj", latent.queryRank, latent.width, latent.bias);
    rules.same(ours + "q_norm.weight", {latent.queryRank}, theirs + "q_a_layernorm.weight");
    projection("q", "q_b_proj", queries, latent.queryRank, false);
  } else {
    projection("q", "q_proj", queries, latent.width, false);
  }
  projection("kv_a", "kv_a_proj_with_mqa", latent.rank + latent.rope, latent.width, latent.bias);
  rules.same(ours + "kv_norm.weight", {latent.rank}, theirs + "kv_a_layernorm.weight");
  rules.same(ours + "kv_b", {latent.heads * (latent.nope + latent.value), latent.rank},
             theirs + "kv_b_proj.weight");
  projection("out", "o_proj", latent.width, latent.heads * latent.value, latent.bias);
}

void addExperts(TensorRules &rules, const std::string &ours, const std::string &theirs,
                const Experts &e) {
  Mixture mixture{e.width, e.inner, e.experts, theirs + "gate.weight", theirs + "experts."};
  addMixture(rules, ours, mixture, {"w1", "w3", "w2"});
  rules.same(ours + "router.correction", {e.experts}, theirs + "gate.e_score_correction_bias");
  addGated(rules, ours + "shared.", theirs + "shared_experts.", e.width, e.shared);
}

} // namespace

Architecture readKimiLinear(Config &config) {
  readCommon(config);
  config.withoutEffect({"pretraining_tp"});
  const int64_t width = config.size({"hidden_size"}, 2304),
                inner = config.size({"intermediate_size"}, 9216),
                layers = readLayers(config, {"num_hidden_layers"}, 27);
  const double eps = config.number({"rms_norm_eps"}, 1e-5);
  const std::string function = activation(config, {"hidden_act"}, "silu");
  Config part = config.part("linear_attn_config");
  const Delta delta = readDelta(config, part, width, eps);
  const Latent latent = readLatent(config, width);
  Experts experts = readExperts(config, width);
  const std::string mixers = readMixers(config, part, layers);
  const std::vector<bool> sparse = readSparse(config, layers);
  std::string letters; // A and D, or B and E with experts
  for (size_t i = 0; i < mixers.size(); ++i)
    letters += static_cast<char>(mixers[i] + (sparse[i] ? 1 : 0));
  const bool hasExperts = letters.find_first_of("BE") != std::string::npos;
  if (hasExperts)
    experts.experts = checkedExperts(config, layers, experts.experts, experts.active);
  // transformers keeps a head of its own whatever is said of tied weights.
  config.withoutEffect({"tie_word_embeddings"});
  const Ends ends{config.size({"vocab_size"}, 163840), width, false, "model.embed_tokens.weight",
                  "lm_head.weight"};

  Architecture model;
  Page &page = model.page;
  for (const char *module : {"std.attention", "std.delta", "std.channel"})
    page.use(module);
  if (hasExperts)
    page.use("std.experts");
  addEmbedding(model, ends);
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(eps));
  Call linear("kimi_delta_attention", norm), full("latent_attention", norm);
  linear.with("heads", delta.heads).with("size", delta.size).with("taps", delta.taps);
  linear.with("eps", delta.eps).unless(std::string("silu"), "activation", function);
  full.with("heads", latent.heads).with("nope", latent.nope).with("rope", latent.rope);
  full.with("value", latent.value).with("rank", latent.rank);
  full.unless(int64_t{0}, "q_rank", latent.queryRank).with("rotary", int64_t{0});
  full.unless(false, "bias", latent.bias);
  Call dense("swiglu", norm), mixture("sigmoid_moe", norm);
  dense.with("inner", inner).unless(std::string("silu"), "activation", function);
  mixture.with("experts", experts.experts).with("active", experts.active);
  mixture.with("inner", experts.inner).with("shared", experts.shared);
  if (function != "silu")
    mixture.with("expert", fmt::format("swiglu_expert with (activation = {})", function));
  mixture.unless(1.0, "factor", experts.factor).unless(true, "normalised", experts.normalised);
  passExpertGroups(mixture, experts.groups);
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  for (char letter : {'A', 'B', 'D', 'E'}) {
    if (letters.find(letter) == std::string::npos)
      continue;
    page.line(fmt::format("{} = {{", letter), 2);
    page.line("x += " + (letter == 'A' || letter == 'B' ? full : linear).text(), 3);
    page.line("x += " + (letter == 'A' || letter == 'D' ? dense : mixture).text(), 3);
    page.line("}", 2);
  }
  page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const char letter = letters[static_cast<size_t>(i)];
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("model.layers.{}.", i);
    model.rules.same(ours + "rmsnorm.weight", {width}, theirs + "input_layernorm.weight");
    if (letter == 'A' || letter == 'B')
      addLatent(model.rules, ours + "latent_attention.", theirs + "self_attn.", latent);
    else
      addDelta(model.rules, ours + "kimi_delta_attention.", theirs + "self_attn.", delta);
    model.rules.same(ours + "rmsnorm_2.weight", {width},
                     theirs + "post_attention_layernorm.weight");
    if (letter == 'B' || letter == 'E') {
      addExperts(model.rules, ours + "sigmoid_moe.", theirs + "block_sparse_moe.", experts);
    } else {
      addGated(model.rules, ours + "swiglu.", theirs + "mlp.", width, inner);
      // transformers writes dense layers by the name of those with experts.
      model.otherPrefixes.emplace_back(theirs + "mlp.", theirs + "block_sparse_moe.");
    }
  }
  model.rules.same("rmsnorm.weight", {width}, "model.norm.weight");
  addHead(model, ends, norm);
  return model;
}

} // namespace hybrid::rt::exchange
