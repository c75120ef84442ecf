//===- OlmoHybrid.cpp - olmo_hybrid ---------------------------------------------------===//
//
// A gated delta rule, normed before, and attention, normed behind: each with a gated unit.
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

DeltaShape readDelta(Config &config, int64_t width, int64_t heads, const std::string &function) {
  DeltaShape shape;
  shape.width = width;
  shape.keyHeads = config.size({"linear_num_key_heads"}, heads);
  shape.valueHeads = config.size({"linear_num_value_heads"}, heads);
  config.require(shape.valueHeads % shape.keyHeads == 0,
                 fmt::format("'linear_num_key_heads' is {}, which does not divide "
                             "'linear_num_value_heads', {}",
                             shape.keyHeads, shape.valueHeads));
  shape.keySize =
      config.size({"linear_key_head_dim"}, std::max<int64_t>(1, 3 * width / (4 * shape.keyHeads)));
  shape.valueSize = config.size({"linear_value_head_dim"}, 2 * shape.keySize);
  shape.taps = config.size({"linear_conv_kernel_dim"}, 4);
  shape.negative = config.flag({"linear_allow_neg_eigval"}, true);
  shape.eps = 1e-5; // whatever the config says of the other norms
  shape.activation = function;
  return shape;
}

void addDeltaParts(TensorRules &rules, const std::string &ours, const std::string &theirs,
                   const DeltaShape &shape) {
  const int64_t streams = 2 * shape.keys() + shape.values(), heads = shape.valueHeads;
  auto projection = [&](const char *name, int64_t rows) {
    return ForeignTensor{theirs + name + "_proj.weight", {rows, shape.width}};
  };
  rules.stacked(ours + "in.weight", {streams + shape.values() + 2 * heads, shape.width},
                {projection("q", shape.keys()), projection("k", shape.keys()),
                 projection("v", shape.values()), projection("g", shape.values()),
                 projection("b", heads), projection("a", heads)});
  auto convolution = [&](const char *name, int64_t rows) {
    return ForeignTensor{theirs + name + "_conv1d.weight", {rows, 1, shape.taps}};
  };
  // transformers writes equal thirds of the three together, whatever their widths.
  rules.joined(ours + "short.weight", {streams, shape.taps},
               {convolution("q", shape.keys()), convolution("k", shape.keys()),
                convolution("v", shape.values())});
  rules.same(ours + "decay.rate", {heads}, theirs + "A_log");
  rules.same(ours + "decay.bias", {heads}, theirs + "dt_bias");
  rules.same(ours + "norm", {shape.valueSize}, theirs + "o_norm.weight");
  rules.same(ours + "out.weight", {shape.width, shape.values()}, theirs + "o_proj.weight");
}

/// A letter a layer: D, the delta rule, or A, attention.
std::string readLetters(Config &config, int64_t layers) {
  const auto types = readLayerTypes(config, layers, {"linear_attention", "full_attention"});
  std::string letters;
  for (int64_t i = 0; i < layers; ++i)
    letters += (types.empty() ? i % 4 == 3 : types[static_cast<size_t>(i)] == "full_attention")
                   ? 'A'
                   : 'D';
  if (types.empty() && letters.find('A') == std::string::npos)
    letters.back() = 'A';
  return letters;
}

} // namespace

Architecture readOlmoHybrid(Config &config) {
  readCommon(config);
  config.withoutEffect({"linear_a_log_min", "linear_a_log_max", "linear_dt_min", "linear_dt_max",
                        "linear_dt_init_floor"});
  const int64_t width = config.size({"hidden_size"}, 3840),
                inner = config.size({"intermediate_size"}, 11008),
                layers = readLayers(config, {"num_hidden_layers"}, 32);
  const double eps = config.number({"rms_norm_eps"}, 1e-6);
  const std::string function = activation(config, {"hidden_act"}, "silu");
  AttentionShape attention = readAttention(config, width, 30, {});
  attention.bias = attention.outBias = config.flag({"attention_bias"}, false);
  // Without settings of positions there are none.
  const bool turns = config.has({"rope_parameters", "rope_scaling", "rope_theta"});
  const Rotary rotary(config, attention.size, 10000);
  const DeltaShape delta = readDelta(config, width, attention.heads, function);
  const std::string letters = readLetters(config, layers);
  const Ends ends{config.size({"vocab_size"}, 100352), width,
                  config.flag({"tie_word_embeddings"}, false), "model.embed_tokens.weight",
                  "lm_head.weight"};

  Architecture model;
  Page &page = model.page;
  for (const char *module : {"std.mixers", "std.attention", "std.delta", "std.channel"})
    page.use(module);
  addEmbedding(model, ends);
  if (turns)
    rotary.prepare(page);
  auto norm = [&](const std::string &of) {
    return fmt::format("rmsnorm({}, eps = {})", of, spelled(eps));
  };
  Call softmax = attentionCall(attention, "x");
  softmax.with("norm", fmt::format("joint_norm with (eps = {})", spelled(eps)));
  if (turns)
    rotary.pass(softmax, attention.size);
  else
    softmax.with("rotary", int64_t{0});
  auto channel = [&](const std::string &of) {
    Call call("swiglu", of);
    call.with("inner", inner).unless(std::string("silu"), "activation", function);
    return call.text();
  };
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  if (letters.find('A') != std::string::npos) {
    page.line("A = {", 2);
    page.line("x += " + norm(softmax.text()), 3);
    page.line("x += " + norm(channel("x")), 3);
    page.line("}", 2);
  }
  if (letters.find('D') != std::string::npos) {
    page.line("D = {", 2);
    page.line("x += " + deltaCall(delta, norm("x")).text(), 3);
    page.line("x += " + channel(norm("x")), 3);
    page.line("}", 2);
  }
  page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("model.layers.{}.", i);
    const bool isAttention = letters[static_cast<size_t>(i)] == 'A';
    const std::string first = theirs +
                              (isAttention ? "post_attention_layernorm." : "attention_layer_norm."),
                      second = theirs + (isAttention ? "post_feedforward_layernorm."
                                                     : "feedforward_layer_norm.");
    model.rules.same(ours + "rmsnorm.weight", {width}, first + "weight");
    if (isAttention) {
      addAttention(model.rules, ours + "attention.", theirs + "self_attn.", attention);
      for (auto [side, heads] :
           {std::pair("q_norm", attention.heads), {"k_norm", attention.keyHeads}})
        model.rules.same(fmt::format("{}attention.{}.weight", ours, side), {heads * attention.size},
                         fmt::format("{}self_attn.{}.weight", theirs, side));
      // transformers writes this norm by the name that the other layers' second one has.
      model.otherPrefixes.emplace_back(first, theirs + "feedforward_layer_norm.");
    } else {
      addDeltaParts(model.rules, ours + "gated_deltanet.", theirs + "linear_attn.", delta);
      model.otherPrefixes.emplace_back(first, theirs + "input_layernorm.");
      model.otherPrefixes.emplace_back(second, theirs + "post_attention_layernorm.");
    }
    model.rules.same(ours + "rmsnorm_2.weight", {width}, second + "weight");
    addGated(model.rules, ours + "swiglu.", theirs + "mlp.", width, inner);
  }
  model.rules.same("rmsnorm.weight", {width}, "model.norm.weight");
  addHead(model, ends, norm("x"));
  model.ignoredPrefixes = {"mtp."};
  return model;
}

} // namespace hybrid::rt::exchange
