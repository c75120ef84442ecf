//===- Gemma2.cpp - gemma2 -----------------------------------------------------------===//
//
// Norms before and behind each branch, all 1 + w, and logits between caps.
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Parts.h"
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::exchange {

Architecture readGemma2(Config &config) {
  readCommon(config);
  config.only("use_bidirectional_attention", false, "every position sees the past alone");
  const int64_t width = config.size({"hidden_size"}, 2304),
                inner = config.size({"intermediate_size"}, 9216),
                layers = readLayers(config, {"num_hidden_layers"}, 26);
  AttentionShape shape = readAttention(config, width, 8, 4, 256);
  shape.bias = shape.outBias = config.flag({"attention_bias"}, false);
  const int64_t window = config.size({"sliding_window"}, 4096);
  const double eps = config.number({"rms_norm_eps"}, 1e-6),
               scalar = config.number({"query_pre_attn_scalar"}, 256),
               cap = config.number({"attn_logit_softcapping"},
                                   config.isNull("attn_logit_softcapping") ? 0.0 : 50.0),
               finalCap = config.number({"final_logit_softcapping"},
                                        config.isNull("final_logit_softcapping") ? 0.0 : 30.0);
  config.require(scalar > 0 && cap >= 0 && finalCap >= 0,
                 "'query_pre_attn_scalar' is above 0, and caps are not below");
  config.withoutEffect({"hidden_act"});
  const std::string function = activation(config, {"hidden_activation"}, "gelu_pytorch_tanh");
  const Rotary rotary(config, shape.size, 10000);
  const auto types = readLayerTypes(config, layers, {"full_attention", "sliding_attention"});
  std::string letters;
  for (int64_t i = 0; i < layers; ++i)
    letters += (types.empty() ? i % 2 == 0 : types[static_cast<size_t>(i)] == "sliding_attention")
                   ? 'W'
                   : 'A';
  const Ends ends{config.size({"vocab_size"}, 256000), width,
                  config.flag({"tie_word_embeddings"}, true), "model.embed_tokens.weight",
                  "lm_head.weight"};

  Architecture model;
  Page &page = model.page;
  page.use("std.mixers");
  page.use("std.attention");
  page.use("std.channel");
  addEmbedding(model, ends);
  page.line(fmt::format("x *= {}", spelled(std::sqrt(static_cast<double>(width)))));
  rotary.prepare(page);
  auto norm = [&](const std::string &of) {
    return fmt::format("rmsnorm({}, eps = {}, one_plus = true)", of, spelled(eps));
  };
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  for (char letter : {'A', 'W'}) {
    if (letters.find(letter) == std::string::npos)
      continue;
    shape.window = letter == 'W' ? window : 0;
    Call attention = attentionCall(shape, norm("x"));
    rotary.pass(attention, shape.size);
    attention.with("scale", 1 / std::sqrt(scalar));
    if (cap > 0)
      attention.with("score", fmt::format("softcap with (cap = {})", spelled(cap)));
    Call channel("swiglu", norm("x"));
    channel.with("inner", inner).unless(std::string("silu"), "activation", function);
    page.line(fmt::format("{} = {{", letter), 2);
    page.line("x += " + norm(attention.text()), 3);
    page.line("x += " + norm(channel.text()), 3);
    page.line("}", 2);
  }
  page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("model.layers.{}.", i);
    // A norm's arguments are computed before it: the inner one is the first.
    for (auto [own, name] : {std::pair("rmsnorm", "input_layernorm"),
                             {"rmsnorm_2", "post_attention_layernorm"},
                             {"rmsnorm_3", "pre_feedforward_layernorm"},
                             {"rmsnorm_4", "post_feedforward_layernorm"}})
      model.rules.same(fmt::format("{}{}.weight", ours, own), {width},
                       fmt::format("{}{}.weight", theirs, name));
    addAttention(model.rules, ours + "attention.", theirs + "self_attn.", shape);
    addGated(model.rules, ours + "swiglu.", theirs + "mlp.", width, inner);
  }
  model.rules.same("rmsnorm.weight", {width}, "model.norm.weight");
  addHead(model, ends, norm("x"), finalCap);
  return model;
}

} // namespace hybrid::rt::exchange
