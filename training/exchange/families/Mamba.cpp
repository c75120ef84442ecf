//===- Mamba.cpp - mamba and mamba2 -------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

/// What both have around their layers, which `call` computes and `addLayer(ours, theirs)` fills.
template <typename AddLayer>
Architecture around(const Ends &ends, int64_t layers, double eps, Call call, AddLayer addLayer) {
  Architecture model;
  addEmbedding(model, ends);
  model.page.line(fmt::format("repeat {} {{", layers));
  model.page.line("x += " + call.text(), 2);
  model.page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("backbone.layers.{}.", i);
    model.rules.same(ours + "rmsnorm.weight", {ends.width}, theirs + "norm.weight");
    addLayer(model.rules, ours, theirs + "mixer.");
  }
  model.rules.same("rmsnorm.weight", {ends.width}, "backbone.norm_f.weight");
  addHead(model, ends, fmt::format("rmsnorm(x, eps = {})", spelled(eps)));
  // State-spaces' own files have the singular.
  model.otherPrefixes = {{"backbone.embeddings.", "backbone.embedding."}};
  return model;
}

void readInitialSteps(Config &config) {
  config.withoutEffect({"time_step_floor", "time_step_init_scheme", "time_step_max",
                        "time_step_min", "time_step_scale", "rescale_prenorm_residual",
                        "residual_in_fp32", "d_inner", "d_model", "n_layer", "ssm_cfg",
                        "fused_add_norm", "pad_vocab_size_multiple", "chunk_size"});
  config.only("rms_norm", true, "the norm is an RMS norm");
}

} // namespace

Architecture readMamba(Config &config) {
  readCommon(config);
  readInitialSteps(config);
  const int64_t width = config.size({"hidden_size"}, 768), state = config.size({"state_size"}, 16),
                taps = config.size({"conv_kernel"}, 4),
                layers = readLayers(config, {"num_hidden_layers"}, 32);
  const double expand = config.number({"expand"}, 2);
  config.require(expand > 0 && expand <= 1024, "'expand' is above 0 and at most 1024");
  const auto inner =
      std::max<int64_t>(1, static_cast<int64_t>(std::min(std::max(expand, 0.0), 1024.0) *
                                                static_cast<double>(width)));
  config.require(config.size({"intermediate_size"}, inner) == inner,
                 fmt::format("'intermediate_size' is not int(expand * hidden_size), {}", inner));
  const bool automatic = config.isWord("time_step_rank");
  config.require(!automatic || config.word({"time_step_rank"}) == "auto",
                 "'time_step_rank' is an integer or auto");
  const int64_t rank =
      automatic ? (width + 15) / 16 : config.size({"time_step_rank"}, (width + 15) / 16);
  const double eps = config.number({"layer_norm_epsilon"}, 1e-5);
  const bool bias = config.flag({"use_bias"}, false),
             convBias = config.flag({"use_conv_bias"}, true);
  const std::string function = activation(config, {"hidden_act"}, "silu");
  const Ends ends{config.size({"vocab_size"}, 50280), width,
                  config.flag({"tie_word_embeddings"}, true), "backbone.embeddings.weight",
                  "lm_head.weight"};

  Call call("mamba", fmt::format("rmsnorm(x, eps = {})", spelled(eps)));
  call.with("inner", inner).with("state", state).with("taps", taps).with("dt_rank", rank);
  call.unless(true, "conv_bias", convBias).unless(false, "bias", bias);
  call.unless(std::string("silu"), "activation", function);
  Architecture model = around(
      ends, layers, eps, call,
      [&](TensorRules &rules, const std::string &ours, const std::string &theirs) {
        addMamba(rules, ours + "mamba.", theirs, {width, inner, state, taps, rank, bias, convBias});
      });
  model.page.use("std.mamba");
  return model;
}

Architecture readMamba2(Config &config) {
  readCommon(config);
  readInitialSteps(config);
  config.withoutEffect({"time_step_rank"});
  Mamba2Shape shape;
  shape.width = config.size({"hidden_size"}, 4096);
  shape.state = config.size({"state_size"}, 128);
  shape.taps = config.size({"conv_kernel"}, 4);
  shape.heads = config.size({"num_heads"}, 128);
  shape.headSize = config.size({"head_dim"}, 64);
  shape.groups = config.size({"n_groups"}, 8);
  shape.bias = config.flag({"use_bias"}, false);
  shape.convBias = config.flag({"use_conv_bias"}, true);
  shape.eps = config.number({"layer_norm_epsilon"}, 1e-5);
  shape.activation = activation(config, {"hidden_act"}, "silu");
  const int64_t layers = readLayers(config, {"num_hidden_layers"}, 64);
  const double expand = config.number({"expand"}, 2);
  config.require(
      std::abs(expand * static_cast<double>(shape.width) -
               static_cast<double>(shape.heads * shape.headSize)) < 1,
      fmt::format("'num_heads' times 'head_dim' is {}, but 'expand' times 'hidden_size' {}",
                  shape.heads * shape.headSize, expand * static_cast<double>(shape.width)));
  config.require(shape.heads % shape.groups == 0,
                 fmt::format("'n_groups' is {}, which does not divide 'num_heads', {}",
                             shape.groups, shape.heads));
  readStepLimits(config, shape);
  const Ends ends{config.size({"vocab_size"}, 32768), shape.width,
                  config.flag({"tie_word_embeddings"}, false), "backbone.embeddings.weight",
                  "lm_head.weight"};

  Architecture model =
      around(ends, layers, shape.eps,
             mamba2Call(shape, fmt::format("rmsnorm(x, eps = {})", spelled(shape.eps))),
             [&](TensorRules &rules, const std::string &ours, const std::string &theirs) {
               addMamba2(rules, ours + "mamba2.", theirs, shape);
             });
  model.page.use("std.mamba2");
  return model;
}

} // namespace hybrid::rt::exchange
