//===- NemotronH.cpp - nemotron_h -----------------------------------------------------===//
//
// A layer is one mixer: Mamba-2, attention without positions, an MLP or a mixture of such.
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

struct Experts {
  int64_t experts = 1, active = 1, inner = 1, shared = 1, latent = 0;
  ExpertGroups groups;
  double factor = 1;
  bool normalised = true;
};

Experts readExperts(Config &config) {
  Experts e;
  e.experts = config.size({"n_routed_experts"}, 8);
  e.active = config.size({"num_experts_per_tok"}, 2);
  e.inner = config.size({"moe_intermediate_size"}, 7688);
  e.shared = config.size({"moe_shared_expert_intermediate_size"}, 7688);
  e.factor = config.number({"routed_scaling_factor"}, 1);
  e.normalised = config.flag({"norm_topk_prob"}, true);
  e.groups = readExpertGroups(config, {"n_group"}, e.experts, e.active);
  config.withoutEffect({"n_shared_experts"}); // the one there is has a width of its own
  if (config.has({"moe_latent_size"}))
    e.latent = config.size({"moe_latent_size"});
  config.withoutEffect({"moe_latent_size"});
  return e;
}

/// A letter a layer: M Mamba-2, A attention, F an MLP, E experts.
std::string readPattern(Config &config) {
  static constexpr std::pair<std::string_view, char> words[] = {
      {"mamba", 'M'},     {"linear_attention", 'M'},
      {"attention", 'A'}, {"full_attention", 'A'},
      {"mlp", 'F'},       {"moe", 'E'}};
  static constexpr std::pair<char, char> signs[] = {{'M', 'M'}, {'*', 'A'}, {'-', 'F'}, {'E', 'E'}};
  std::string letters;
  const auto types = config.words("layers_block_type");
  for (const std::string &type : types) {
    const size_t before = letters.size();
    for (const auto &[word, letter] : words)
      if (type == word)
        letters += letter;
    config.require(
        letters.size() > before,
        fmt::format("'layers_block_type' has '{}', expected mamba, attention, mlp or moe", type));
  }
  const std::string pattern = config.word({"hybrid_override_pattern"}, "");
  if (types.empty())
    for (char sign : pattern) {
      const size_t before = letters.size();
      for (const auto &[theirs, letter] : signs)
        if (sign == theirs)
          letters += letter;
      config.require(
          letters.size() > before,
          fmt::format("'hybrid_override_pattern' has '{}', expected M, *, - or E", sign));
    }
  config.require(!letters.empty(), "'layers_block_type' or 'hybrid_override_pattern' is missing");
  const int64_t layers =
      readLayers(config, {"num_hidden_layers"}, static_cast<int64_t>(letters.size()));
  config.require(
      !types.empty() || layers == static_cast<int64_t>(letters.size()),
      fmt::format("'num_hidden_layers' is {}, but 'hybrid_override_pattern' has {} letters", layers,
                  letters.size()));
  if (letters.empty() || letters.size() > 1024)
    letters = "M";
  return letters;
}

} // namespace

Architecture readNemotronH(Config &config) {
  readCommon(config);
  config.withoutEffect({"num_logits_to_keep",
                        "residual_in_fp32",
                        "rescale_prenorm_residual",
                        "chunk_size",
                        "mamba_chunk_size",
                        "time_step_max",
                        "mamba_dt_max",
                        "time_step_floor",
                        "mamba_dt_init_floor",
                        "time_step_limit",
                        "mamba_dt_limit",
                        "max_position_embeddings",
                        "rope_theta",
                        "rope_parameters",
                        "partial_rotary_factor",
                        "expand",
                        "mamba_expand",
                        "output_router_logits",
                        "router_aux_loss_coef",
                        "mamba_ssm_cache_dtype",
                        "mamba_proj_bias", // `use_bias` says it
                        "attention_bias",  // there are none
                        "moe_shared_expert_overlap",
                        "mtp_layers_block_type",
                        "num_nextn_predict_layers"});
  config.only("sliding_window", nullptr, "its attention has no window");
  const int64_t width = config.size({"hidden_size"}, 4096),
                inner = config.size({"intermediate_size"}, 21504);
  const double eps = config.number({"layer_norm_epsilon", "rms_norm_eps", "norm_eps"}, 1e-5);
  AttentionShape attention;
  attention.width = width;
  attention.heads = config.size({"num_attention_heads"}, 32);
  attention.keyHeads = config.size({"num_key_value_heads"}, 8);
  attention.size = config.size({"head_dim", "attention_head_dim"}, 128);
  config.require(attention.heads % attention.keyHeads == 0,
                 "'num_key_value_heads' divides 'num_attention_heads'");
  const std::string function = activation(config, {"mlp_hidden_act"}, "relu2");
  const bool bias = config.flag({"mlp_bias"}, false);
  Mamba2Shape mamba;
  mamba.width = width;
  mamba.heads = config.size({"mamba_num_heads"}, 128);
  mamba.headSize = config.size({"mamba_head_dim"}, 64);
  mamba.groups = config.size({"n_groups", "mamba_n_groups"}, 8);
  mamba.state = config.size({"ssm_state_size"}, 128);
  mamba.taps = config.size({"conv_kernel", "mamba_d_conv"}, 4);
  mamba.convBias = config.flag({"use_conv_bias", "mamba_conv_bias"}, true);
  mamba.bias = config.flag({"use_bias"}, false);
  mamba.eps = eps;
  mamba.leastStep = config.number({"time_step_min", "mamba_dt_min"}, 0.001);
  mamba.activation = activation(config, {"mamba_hidden_act"}, "silu");
  config.require(mamba.heads % mamba.groups == 0, "'n_groups' divides 'mamba_num_heads'");
  const std::string letters = readPattern(config);
  Experts experts = readExperts(config);
  const bool hasExperts = letters.find('E') != std::string::npos;
  if (hasExperts)
    experts.experts = checkedExperts(config, static_cast<int64_t>(letters.size()), experts.experts,
                                     experts.active);
  const Ends ends{config.size({"vocab_size"}, 131072), width,
                  config.flag({"tie_word_embeddings"}, false), "backbone.embeddings.weight",
                  "lm_head.weight"};

  Architecture model;
  Page &page = model.page;
  TensorRules &rules = model.rules;
  for (const char *module : {"std.mixers", "std.mamba2", "std.channel"})
    page.use(module);
  if (hasExperts)
    page.use("std.experts");
  addEmbedding(model, ends);
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(eps));
  Call dense("mlp", norm), mixture("sigmoid_moe", norm);
  dense.with("inner", inner).unless(false, "bias", bias).with("activation", function);
  mixture.with("experts", experts.experts).with("active", experts.active);
  mixture.with("inner", experts.inner).with("shared", experts.shared);
  mixture.with("expert", fmt::format("mlp with (activation = {})", function));
  if (bias) // of the shared one alone
    mixture.with("shared_expert", fmt::format("mlp with (bias = true, activation = {})", function));
  mixture.unless(1.0, "factor", experts.factor).unless(true, "normalised", experts.normalised);
  passExpertGroups(mixture, experts.groups);
  mixture.unless(int64_t{0}, "latent", experts.latent);
  if (experts.latent > 0)
    mixture.unless(false, "latent_bias", bias);
  const std::pair<char, Call> blocks[] = {
      {'A', attentionCall(attention, norm).with("rotary", int64_t{0})},
      {'E', mixture},
      {'F', dense},
      {'M', mamba2Call(mamba, norm)}};
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  for (const auto &[letter, call] : blocks)
    if (letters.find(letter) != std::string::npos)
      page.line(fmt::format("{} = {{ x += {} }}", letter, call.text()), 2);
  page.line("}");
  auto addMlp = [&](const std::string &ours, const std::string &theirs, int64_t hidden) {
    for (auto [own, name, to, from] : {std::tuple("w1", "up_proj", hidden, width),
                                       std::tuple("w2", "down_proj", width, hidden)}) {
      rules.same(fmt::format("{}{}.weight", ours, own), {to, from},
                 fmt::format("{}{}.weight", theirs, name));
      if (bias)
        rules.same(fmt::format("{}{}.bias", ours, own), {to},
                   fmt::format("{}{}.bias", theirs, name));
    }
  };
  auto addExperts = [&](const std::string &ours, const std::string &theirs) {
    rules.same(ours + "router.scores.weight", {experts.experts, width}, theirs + "gate.weight");
    rules.same(ours + "router.correction", {experts.experts},
               theirs + "gate.e_score_correction_bias");
    const int64_t outer = experts.latent > 0 ? experts.latent : width;
    if (experts.latent > 0)
      for (auto [own, name, to, from] : {std::tuple("down", "fc1_latent_proj", outer, width),
                                         std::tuple("up", "fc2_latent_proj", width, outer)}) {
        rules.same(fmt::format("{}{}.weight", ours, own), {to, from},
                   fmt::format("{}{}.weight", theirs, name));
        if (bias)
          rules.same(fmt::format("{}{}.bias", ours, own), {to},
                     fmt::format("{}{}.bias", theirs, name));
      }
    for (auto [own, name, to, from] : {std::tuple("w1", "up_proj", experts.inner, outer),
                                       std::tuple("w2", "down_proj", outer, experts.inner)}) {
      std::vector<ForeignTensor> each;
      for (int64_t i = 0; i < experts.experts; ++i)
        each.push_back({fmt::format("{}experts.{}.{}.weight", theirs, i, name), {to, from}});
      rules.stacked(fmt::format("{}mixture.experts.{}.weight", ours, own),
                    {experts.experts, to, from}, std::move(each));
    }
    addMlp(ours + "shared.", theirs + "shared_experts.", experts.shared);
  };
  for (size_t i = 0; i < letters.size(); ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      layer = fmt::format("backbone.layers.{}.", i), theirs = layer + "mixer.";
    rules.same(ours + "rmsnorm.weight", {width}, layer + "norm.weight");
    if (letters[i] == 'A')
      addAttention(rules, ours + "attention.", theirs, attention);
    else if (letters[i] == 'M')
      addMamba2(rules, ours + "mamba2.", theirs, mamba);
    else if (letters[i] == 'F')
      addMlp(ours + "mlp.", theirs, inner);
    else
      addExperts(ours + "sigmoid_moe.", theirs);
  }
  rules.same("rmsnorm.weight", {width}, "backbone.norm_f.weight");
  addHead(model, ends, norm);
  model.otherPrefixes = {{"backbone.", "model."}};
  model.ignoredPrefixes = {"mtp."}; // a head that predicts several tokens
  return model;
}

} // namespace hybrid::rt::exchange
