//===- Rwkv.cpp - rwkv (version 4) ---------------------------------------------------===//
#include "training/exchange/Parts.h"
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

void addPair(TensorRules &rules, const std::string &ours, const std::string &theirs,
             int64_t width) {
  rules.same(ours + ".weight", {width}, theirs + ".weight");
  rules.same(ours + ".bias", {width}, theirs + ".bias");
}

void addTimeMix(TensorRules &rules, const std::string &ours, const std::string &theirs,
                int64_t width, int64_t inner) {
  for (auto [own, name] :
       {std::pair("mix_k", "key"), {"mix_v", "value"}, {"mix_r", "receptance"}}) {
    rules.reshaped(fmt::format("{}{}.share", ours, own), {width},
                   {fmt::format("{}time_mix_{}", theirs, name), {1, 1, width}});
    rules.same(fmt::format("{}{}.weight", ours, name), {inner, width},
               fmt::format("{}{}.weight", theirs, name));
  }
  rules.same(ours + "time_decay", {inner}, theirs + "time_decay");
  rules.same(ours + "time_first", {inner}, theirs + "time_first");
  rules.same(ours + "output.weight", {width, inner}, theirs + "output.weight");
}

void addChannelMix(TensorRules &rules, const std::string &ours, const std::string &theirs,
                   int64_t width, int64_t hidden) {
  for (auto [own, name] : {std::pair("mix_k", "key"), {"mix_r", "receptance"}})
    rules.reshaped(fmt::format("{}{}.share", ours, own), {width},
                   {fmt::format("{}time_mix_{}", theirs, name), {1, 1, width}});
  rules.same(ours + "key.weight", {hidden, width}, theirs + "key.weight");
  rules.same(ours + "receptance.weight", {width, width}, theirs + "receptance.weight");
  rules.same(ours + "value.weight", {width, hidden}, theirs + "value.weight");
}

} // namespace

Architecture readRwkv(Config &config) {
  readCommon(config);
  config.withoutEffect({"context_length", "max_position_embeddings"});
  // Transformers halves the stream behind every so many blocks. Norms undo that, but for their eps,
  // which counts four times as much for a stream of half the size.
  const int64_t halving = config.count({"rescale_every"}, 6);
  const int64_t width = config.size({"hidden_size"}, 4096),
                layers = readLayers(config, {"num_hidden_layers"}, 32),
                inner = config.size({"attention_hidden_size"}, width),
                hidden = config.size({"intermediate_size"}, 4 * width);
  const double eps = config.number({"layer_norm_epsilon"}, 1e-5);
  const Ends ends{config.size({"vocab_size"}, 50277), width,
                  config.flag({"tie_word_embeddings"}, false), "rwkv.embeddings.weight",
                  "head.weight"};

  Architecture model;
  Page &page = model.page;
  page.use("std.rwkv");
  addEmbedding(model, ends);
  const bool halves = halving > 0 && halving <= layers;
  std::string norm = fmt::format("layernorm(x, eps = {})", spelled(eps));
  if (halves)
    norm = fmt::format("layernorm(x, eps = {} * pow(4, div(i, {})))", spelled(eps), halving);
  page.line(fmt::format("x = layernorm(x, eps = {}, name = \"first_norm\")", spelled(eps)));
  addPair(model.rules, "first_norm", "rwkv.blocks.0.pre_ln", width);
  page.line(fmt::format("for i in 0..{} {{", layers));
  page.line("x += " + Call("rwkv4_time_mix", norm)
                          .with("depth", "i")
                          .with("layers", layers)
                          .unless(width, "inner", inner)
                          .text(),
            2);
  page.line("x += " + Call("rwkv4_channel_mix", norm)
                          .with("hidden", hidden)
                          .with("depth", "i")
                          .with("layers", layers)
                          .text(),
            2);
  page.line("}");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      theirs = fmt::format("rwkv.blocks.{}.", i);
    addPair(model.rules, ours + "layernorm", theirs + "ln1", width);
    addTimeMix(model.rules, ours + "rwkv4_time_mix.", theirs + "attention.", width, inner);
    addPair(model.rules, ours + "layernorm_2", theirs + "ln2", width);
    addChannelMix(model.rules, ours + "rwkv4_channel_mix.", theirs + "feed_forward.", width,
                  hidden);
  }
  addPair(model.rules, "layernorm", "rwkv.ln_out", width);
  // Whatever config.json says of eps.
  addHead(model, ends,
          halves ? fmt::format("layernorm(x, eps = 1e-5 * pow(4, {}))", layers / halving)
                 : "layernorm(x, eps = 1e-5)");
  return model;
}

} // namespace hybrid::rt::exchange
