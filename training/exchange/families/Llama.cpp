//===- Llama.cpp - llama, mistral, qwen2, qwen3 and mixtral ---------------------===//
//
// Attention and a gated unit, or a mixture of them, each behind an RMS norm.
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Parts.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

struct Settings {
  int64_t layers = 1, width = 1, inner = 1, vocabulary = 1;
  AttentionShape attention;
  bool headNorm = false, bias = false; // bias: of the gated unit
  double eps = 1e-6;
  std::string activation;
  int64_t experts = 0, active = 0;
  bool tied = false;
  std::vector<bool> windowed; // whether a layer has the window; empty: all have
};

/// What a type has where config.json says nothing: transformers' configuration classes.
struct Defaults {
  int64_t vocabulary, width, inner, layers, heads;
  std::optional<int64_t> keyHeads, headSize;
  double eps;
};

Settings readSettings(Config &config, const Defaults &usual) {
  readCommon(config);
  config.withoutEffect({"pretraining_tp"});
  Settings s;
  s.vocabulary = config.size({"vocab_size"}, usual.vocabulary);
  s.width = config.size({"hidden_size"}, usual.width);
  s.inner = config.size({"intermediate_size"}, usual.inner);
  s.layers = readLayers(config, {"num_hidden_layers"}, usual.layers);
  s.attention = readAttention(config, s.width, usual.heads, usual.keyHeads, usual.headSize);
  s.eps = config.number({"rms_norm_eps"}, usual.eps);
  s.activation = activation(config, {"hidden_act"}, "silu");
  s.tied = config.flag({"tie_word_embeddings"}, false);
  return s;
}

std::string channelText(const Settings &s, const std::string &norm) {
  if (s.experts == 0)
    return Call("swiglu", norm)
        .with("inner", s.inner)
        .unless(false, "bias", s.bias)
        .unless(std::string("silu"), "activation", s.activation)
        .text();
  Call call("moe", norm);
  call.with("experts", s.experts).with("active", s.active).with("inner", s.inner);
  if (s.activation != "silu")
    call.with("expert", fmt::format("swiglu_expert with (activation = {})", s.activation));
  return call.with("routing", "\"argmax_softmax_norm\"").text();
}

void writeBlock(Page &page, const Settings &s, const Rotary &rotary, bool windowed) {
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(s.eps));
  AttentionShape shape = s.attention;
  if (!windowed)
    shape.window = 0;
  Call call = attentionCall(shape, norm);
  if (s.headNorm)
    call.with("norm", fmt::format("head_norm with (eps = {})", spelled(s.eps)));
  rotary.pass(call, shape.size);
  page.line("x += " + call.text(), 2);
  page.line("x += " + channelText(s, norm), 2);
}

void writeBlocks(Page &page, const Settings &s, const Rotary &rotary) {
  const auto windows = std::count(s.windowed.begin(), s.windowed.end(), true);
  if (windows == 0 || windows == s.layers) {
    page.line(fmt::format("repeat {} {{", s.layers));
    writeBlock(page, s, rotary, s.windowed.empty() || windows > 0);
    page.line("}");
    return;
  }
  std::string letters;
  for (bool windowed : s.windowed)
    letters += windowed ? 'W' : 'A';
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  for (bool windowed : {false, true}) {
    page.line(windowed ? "  W = {" : "  A = {");
    writeBlock(page, s, rotary, windowed);
    page.line("  }");
  }
  page.line("}");
}

void addBlock(TensorRules &rules, const Settings &s, const std::string &ours,
              const std::string &theirs) {
  rules.same(ours + "rmsnorm.weight", {s.width}, theirs + "input_layernorm.weight");
  addAttention(rules, ours + "attention.", theirs + "self_attn.", s.attention);
  if (s.headNorm)
    for (std::string side : {"q_norm", "k_norm"})
      rules.same(ours + "attention." + side + ".weight", {s.attention.size},
                 theirs + "self_attn." + side + ".weight");
  rules.same(ours + "rmsnorm_2.weight", {s.width}, theirs + "post_attention_layernorm.weight");
  if (s.experts == 0)
    addGated(rules, ours + "swiglu.", theirs + "mlp.", s.width, s.inner, s.bias);
  else
    addMixture(rules, ours + "moe.",
               {s.width, s.inner, s.experts, theirs + "block_sparse_moe.gate.weight",
                theirs + "block_sparse_moe.experts."},
               {"w1", "w3", "w2"});
}

Architecture build(const Settings &s, const Rotary &rotary) {
  Architecture model;
  model.page.use("std.mixers");
  model.page.use(s.experts ? "std.experts" : "std.channel");
  if (s.headNorm)
    model.page.use("std.attention");
  const Ends ends{s.vocabulary, s.width, s.tied, "model.embed_tokens.weight", "lm_head.weight"};
  addEmbedding(model, ends);
  rotary.prepare(model.page);
  writeBlocks(model.page, s, rotary);
  for (int64_t i = 0; i < s.layers; ++i)
    addBlock(model.rules, s, fmt::format("blocks.{}.", i), fmt::format("model.layers.{}.", i));
  model.rules.same("rmsnorm.weight", {s.width}, "model.norm.weight");
  addHead(model, ends, fmt::format("rmsnorm(x, eps = {})", spelled(s.eps)));
  model.ignoredSuffixes = {".rotary_emb.inv_freq"};
  return model;
}

/// A window of every layer; null is none, which is not the same as not to say.
int64_t readWindow(Config &config, int64_t usual) {
  const bool isNull = config.isNull("sliding_window");
  return config.count({"sliding_window"}, isNull ? 0 : usual);
}

/// Qwen's window: in layers from `max_window_layers` on, or where `layer_types` says so.
void readQwenWindows(Config &config, Settings &s) {
  const int64_t window = readWindow(config, 4096);
  const bool slides = config.flag({"use_sliding_window"}, false) && window > 0;
  const int64_t first = config.count({"max_window_layers"}, 28);
  const auto types = readLayerTypes(config, s.layers, {"full_attention", "sliding_attention"});
  for (int64_t i = 0; i < s.layers; ++i)
    s.windowed.push_back(types.empty() ? slides && i >= first
                                       : types[static_cast<size_t>(i)] == "sliding_attention");
  if (slides)
    s.attention.window = window;
  else
    config.require(std::count(s.windowed.begin(), s.windowed.end(), true) == 0,
                   "'layer_types' has sliding_attention, but 'use_sliding_window' is false");
}

} // namespace

Architecture readLlama(Config &config) {
  Settings s = readSettings(config, {32000, 4096, 11008, 32, 32, {}, {}, 1e-6});
  s.attention.bias = s.attention.outBias = config.flag({"attention_bias"}, false);
  s.bias = config.flag({"mlp_bias"}, false);
  return build(s, Rotary(config, s.attention.size, 10000));
}

Architecture readMistral(Config &config) {
  Settings s = readSettings(config, {32000, 4096, 14336, 32, 32, 8, {}, 1e-6});
  s.attention.window = readWindow(config, 4096);
  return build(s, Rotary(config, s.attention.size, 10000));
}

Architecture readMixtral(Config &config) {
  Settings s = readSettings(config, {32000, 4096, 14336, 32, 32, 8, {}, 1e-5});
  s.attention.window = readWindow(config, 0);
  s.experts = config.size({"num_local_experts", "num_experts"}, 8);
  s.active = config.size({"num_experts_per_tok"}, 2);
  s.experts = checkedExperts(config, s.layers, s.experts, s.active);
  config.withoutEffect({"output_router_logits", "router_aux_loss_coef", "router_jitter_noise"});
  return build(s, Rotary(config, s.attention.size, 1e6));
}

Architecture readQwen2(Config &config) {
  Settings s = readSettings(config, {151936, 4096, 22016, 32, 32, 32, {}, 1e-6});
  s.attention.bias = true; // of q, k and v
  readQwenWindows(config, s);
  return build(s, Rotary(config, s.attention.size, 10000));
}

Architecture readQwen3(Config &config) {
  Settings s = readSettings(config, {151936, 4096, 22016, 32, 32, 32, 128, 1e-6});
  s.attention.bias = s.attention.outBias = config.flag({"attention_bias"}, false);
  s.headNorm = true;
  readQwenWindows(config, s);
  return build(s, Rotary(config, s.attention.size, 10000));
}

} // namespace hybrid::rt::exchange
