//===- Qwen3Next.cpp - qwen3_next and qwen3_5 ------------------------------------===//
//
// Three layers of four are a gated delta rule, the fourth is gated attention. Norms are 1 + w, but
// for the one inside the delta rule.
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

struct Settings {
  int64_t layers = 1, width = 1, inner = 1, vocabulary = 1;
  AttentionShape attention;
  DeltaShape delta;
  double eps = 1e-6;
  std::string activation;
  int64_t experts = 0, active = 0, expertInner = 1, sharedInner = 1;
  bool renormalised = true, tied = false;
  /// Of each layer: D or E delta rule, A or B attention; the second with experts.
  std::string letters;
};

struct Defaults {
  int64_t vocabulary, width, inner, layers, heads, keyHeads, keyDeltaHeads, valueDeltaHeads;
};

Settings readSettings(Config &config, const Defaults &usual) {
  readCommon(config);
  config.withoutEffect({"mamba_ssm_dtype", "attn_output_gate", "mtp_num_hidden_layers",
                        "mtp_use_dedicated_embeddings", "output_router_logits",
                        "router_aux_loss_coef", "use_sliding_window", "max_window_layers"});
  Settings s;
  s.vocabulary = config.size({"vocab_size"}, usual.vocabulary);
  s.width = config.size({"hidden_size"}, usual.width);
  s.inner = config.size({"intermediate_size"}, usual.inner);
  s.layers = readLayers(config, {"num_hidden_layers"}, usual.layers);
  s.attention = readAttention(config, s.width, usual.heads, usual.keyHeads, 256);
  s.attention.bias = config.flag({"attention_bias"}, false);
  s.eps = config.number({"rms_norm_eps"}, 1e-6);
  s.activation = activation(config, {"hidden_act"}, "silu");
  s.tied = config.flag({"tie_word_embeddings"}, false);
  s.delta = {s.width,
             config.size({"linear_num_key_heads"}, usual.keyDeltaHeads),
             config.size({"linear_num_value_heads"}, usual.valueDeltaHeads),
             config.size({"linear_key_head_dim"}, 128),
             config.size({"linear_value_head_dim"}, 128),
             config.size({"linear_conv_kernel_dim"}, 4),
             s.eps,
             s.activation};
  config.require(s.delta.valueHeads % s.delta.keyHeads == 0,
                 fmt::format("'linear_num_key_heads' is {}, which does not divide "
                             "'linear_num_value_heads', {}",
                             s.delta.keyHeads, s.delta.valueHeads));
  const auto types = readLayerTypes(config, s.layers, {"linear_attention", "full_attention"});
  const int64_t interval = config.size({"full_attention_interval"}, 4);
  for (int64_t i = 0; i < s.layers; ++i)
    s.letters += (types.empty() ? (i + 1) % interval == 0
                                : types[static_cast<size_t>(i)] == "full_attention")
                     ? 'A'
                     : 'D';
  return s;
}

void readExperts(Config &config, Settings &s) {
  s.experts = config.count({"num_experts"}, 512);
  s.active = config.size({"num_experts_per_tok"}, 10);
  s.expertInner = config.size({"moe_intermediate_size"}, 512);
  s.sharedInner = config.size({"shared_expert_intermediate_size"}, 512);
  s.renormalised = config.flag({"norm_topk_prob"}, true);
  const int64_t step = config.size({"decoder_sparse_step"}, 1);
  const auto dense = config.integers("mlp_only_layers");
  if (s.experts > 0)
    s.experts = checkedExperts(config, s.layers, s.experts, s.active);
  for (int64_t i = 0; i < s.layers; ++i)
    if (char &letter = s.letters[static_cast<size_t>(i)];
        s.experts > 0 && (i + 1) % step == 0 &&
        std::find(dense.begin(), dense.end(), i) == dense.end())
      letter = static_cast<char>(letter + 1);
}

bool isAttention(char letter) { return letter == 'A' || letter == 'B'; }
bool hasExperts(char letter) { return letter == 'B' || letter == 'E'; }

void writeBlocks(Page &page, const Settings &s, const Rotary &rotary, const std::string &norm) {
  Call attention("gated_attention", norm);
  attention.with("heads", s.attention.heads).with("kv_heads", s.attention.keyHeads);
  attention.with("size", s.attention.size).with("eps", s.eps);
  attention.unless(false, "bias", s.attention.bias);
  rotary.pass(attention, 0);
  Call dense("swiglu", norm), mixture("moe_with_shared", norm);
  dense.with("inner", s.inner);
  mixture.with("experts", s.experts).with("active", s.active).with("inner", s.expertInner);
  mixture.with("shared", s.sharedInner);
  if (!s.renormalised)
    mixture.with("routing", "\"argmax_softmax\"");
  for (Call *call : {&dense, &mixture})
    call->unless(std::string("silu"), "activation", s.activation);
  page.line(fmt::format("topology \"{}\" {{", topology(s.letters)));
  for (char letter : {'A', 'B', 'D', 'E'}) {
    if (s.letters.find(letter) == std::string::npos)
      continue;
    page.line(fmt::format("{} = {{", letter), 2);
    page.line("x += " + (isAttention(letter) ? attention : deltaCall(s.delta, norm)).text(), 3);
    page.line("x += " + (hasExperts(letter) ? mixture : dense).text(), 3);
    page.line("}", 2);
  }
  page.line("}");
}

void addGatedAttention(TensorRules &rules, const std::string &ours, const std::string &theirs,
                       const AttentionShape &shape) {
  const int64_t inner = shape.heads * shape.size, keys = shape.keyHeads * shape.size;
  auto projection = [&](const char *own, const char *name, int64_t to, int64_t from) {
    rules.same(fmt::format("{}{}.weight", ours, own), {to, from},
               fmt::format("{}{}.weight", theirs, name));
    if (shape.bias)
      rules.same(fmt::format("{}{}.bias", ours, own), {to}, fmt::format("{}{}.bias", theirs, name));
  };
  projection("q", "q_proj", 2 * inner, shape.width);
  projection("k", "k_proj", keys, shape.width);
  projection("v", "v_proj", keys, shape.width);
  projection("out", "o_proj", shape.width, inner);
  for (std::string side : {"q_norm", "k_norm"})
    rules.same(ours + side + ".weight", {shape.size}, theirs + side + ".weight");
}

void addBlock(TensorRules &rules, const Settings &s, char letter, bool grouped,
              const std::string &ours, const std::string &theirs) {
  rules.same(ours + "rmsnorm.weight", {s.width}, theirs + "input_layernorm.weight");
  if (isAttention(letter))
    addGatedAttention(rules, ours + "gated_attention.", theirs + "self_attn.", s.attention);
  else
    addDelta(rules, ours + "gated_deltanet.", theirs + "linear_attn.", s.delta, grouped);
  rules.same(ours + "rmsnorm_2.weight", {s.width}, theirs + "post_attention_layernorm.weight");
  if (!hasExperts(letter)) {
    addGated(rules, ours + "swiglu.", theirs + "mlp.", s.width, s.inner);
    return;
  }
  addMixture(
      rules, ours + "moe_with_shared.moe.",
      {s.width, s.expertInner, s.experts, theirs + "mlp.gate.weight", theirs + "mlp.experts."});
  rules.same(ours + "moe_with_shared.shared_gate.weight", {1, s.width},
             theirs + "mlp.shared_expert_gate.weight");
  addGated(rules, ours + "moe_with_shared.shared.", theirs + "mlp.shared_expert.", s.width,
           s.sharedInner);
}

Architecture build(const Settings &s, const Rotary &rotary, bool grouped) {
  Architecture model;
  model.page.use("std.attention");
  model.page.use("std.channel");
  model.page.use("std.delta");
  if (s.experts > 0)
    model.page.use("std.experts");
  const Ends ends{s.vocabulary, s.width, s.tied, "model.embed_tokens.weight", "lm_head.weight"};
  addEmbedding(model, ends);
  rotary.prepare(model.page);
  const std::string norm = fmt::format("rmsnorm(x, eps = {}, one_plus = true)", spelled(s.eps));
  writeBlocks(model.page, s, rotary, norm);
  for (int64_t i = 0; i < s.layers; ++i)
    addBlock(model.rules, s, s.letters[static_cast<size_t>(i)], grouped,
             fmt::format("blocks.{}.", i), fmt::format("model.layers.{}.", i));
  model.rules.same("rmsnorm.weight", {s.width}, "model.norm.weight");
  addHead(model, ends, norm);
  // A head that predicts several tokens, and what sees.
  model.ignoredPrefixes = {"mtp.", "model.visual."};
  model.otherPrefixes = {{"model.", "model.language_model."}};
  return model;
}

Settings readText(Config &config) {
  return readSettings(config, {248320, 4096, 12288, 32, 16, 4, 16, 32});
}

} // namespace

Architecture readQwen3Next(Config &config) {
  Settings s = readSettings(config, {151936, 2048, 5632, 48, 16, 2, 16, 32});
  readExperts(config, s);
  return build(s, Rotary(config, s.attention.size, 10000, 0.25), true);
}

Architecture readQwen35Text(Config &config) {
  const Settings s = readText(config);
  return build(s, Rotary(config, s.attention.size, 10000, 0.25), false);
}

Architecture readQwen35(Config &config) {
  readCommon(config);
  config.withoutEffect({"vision_config", "image_token_id", "video_token_id",
                        "vision_start_token_id", "vision_end_token_id"});
  config.require(config.has({"text_config"}), "'text_config' is missing");
  Config text = config.part("text_config");
  const bool saysTied = text.has({"tie_word_embeddings"});
  Settings s = readText(text);
  // It may be said of the whole model or of its text.
  const bool tied = config.flag({"tie_word_embeddings"}, s.tied);
  config.require(!saysTied || tied == s.tied,
                 "'tie_word_embeddings' is not what 'text_config.tie_word_embeddings' is");
  s.tied = tied;
  return build(s, Rotary(text, s.attention.size, 10000, 0.25), false);
}

} // namespace hybrid::rt::exchange
