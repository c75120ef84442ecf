//===- Zamba2.cpp - zamba2 ------------------------------------------------------------===//
//
// Mamba-2 layers; in front of some stands a transformer block, of which there are few that take
// turns (Zamba2: 2411.15242).
//
//===----------------------------------------------------------------------===//
#include "training/exchange/Mixers.h"
#include "training/exchange/Parts.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::exchange {
namespace {

struct Shared {
  int64_t width = 1, heads = 1, keyHeads = 1, inner = 1, rank = 1, blocks = 1;
  bool bias = false, attentionAdapters = false;
  int64_t size() const { return 2 * width / heads; }
};

Shared readShared(Config &config, int64_t width) {
  Shared shared;
  shared.width = width;
  shared.heads = config.size({"num_attention_heads"}, 32);
  if (config.has({"num_key_value_heads"}))
    shared.keyHeads = config.size({"num_key_value_heads"});
  else
    shared.keyHeads = shared.heads;
  config.require(2 * width % shared.heads == 0 && shared.heads % shared.keyHeads == 0,
                 fmt::format("'num_attention_heads' is {}, which does not divide twice "
                             "'hidden_size', {}, or is no multiple of 'num_key_value_heads', {}",
                             shared.heads, 2 * width, shared.keyHeads));
  shared.inner = config.has({"intermediate_size"}) ? config.size({"intermediate_size"}) : 4 * width;
  config.withoutEffect({"num_key_value_heads", "intermediate_size"});
  shared.rank = config.size({"adapter_rank"}, 128);
  shared.blocks = config.size({"num_mem_blocks"}, 1);
  shared.bias = config.flag({"add_bias_linear"}, false);
  shared.attentionAdapters = config.flag({"use_shared_attention_adapter"}, false);
  config.require(!shared.attentionAdapters || shared.heads == shared.keyHeads,
                 "'use_shared_attention_adapter' is for as many 'num_key_value_heads' as "
                 "'num_attention_heads'");
  // What follows from the others, and is written all the same.
  for (const char *key : {"attention_head_dim", "head_dim"})
    config.only(key, shared.size(), "it is twice 'hidden_size' through 'num_attention_heads'");
  config.only("attention_hidden_size", 2 * width, "it is twice 'hidden_size'");
  config.withoutEffect({"kv_channels", "num_query_groups", "hybrid_layer_ids", "ffn_hidden_size"});
  return shared;
}

Mamba2Shape readMamba2Shape(Config &config, int64_t width, bool bias) {
  config.withoutEffect({"time_step_max", "time_step_floor", "time_step_limit", "chunk_size",
                        "use_mem_eff_path", "use_conv_bias"});
  Mamba2Shape shape;
  shape.width = width;
  shape.heads = config.size({"n_mamba_heads"}, 8);
  const double expand = std::clamp(config.number({"mamba_expand"}, 2), 0.0, 1024.0);
  const auto inner = static_cast<int64_t>(expand * static_cast<double>(width));
  config.require(inner > 0 && inner % shape.heads == 0,
                 fmt::format("'n_mamba_heads' is {}, which does not divide 'mamba_expand' times "
                             "'hidden_size', {}",
                             shape.heads, inner));
  shape.headSize = std::max<int64_t>(1, inner / shape.heads);
  config.only("mamba_headdim", shape.headSize, "it follows from the other sizes");
  shape.groups = config.size({"mamba_ngroups"}, 1);
  config.require(shape.heads % shape.groups == 0,
                 fmt::format("'mamba_ngroups' is {}, which does not divide 'n_mamba_heads', {}",
                             shape.groups, shape.heads));
  shape.state = config.size({"mamba_d_state"}, 64);
  shape.taps = config.size({"mamba_d_conv"}, 4);
  shape.bias = bias;
  shape.leastStep = config.number({"time_step_min"}, 0.001);
  return shape;
}

/// A letter a layer: M, Mamba-2, or H, the same with a shared block in front of it.
std::string readLetters(Config &config) {
  std::vector<std::string> types = config.words("layers_block_type");
  if (types.empty())
    types = config.words("layer_types");
  else
    config.withoutEffect({"layer_types"});
  std::string letters;
  for (const std::string &type : types) {
    config.require(type == "mamba" || type == "linear_attention" || type == "hybrid",
                   fmt::format("'layers_block_type' has '{}', expected mamba or hybrid", type));
    letters += type == "hybrid" ? 'H' : 'M';
  }
  if (letters.empty()) {
    letters = "M";
    for (int i = 0; i < 7; ++i)
      letters += "MMMMMH";
    letters += "MMMMHMMMHMM";
  }
  const int64_t layers = readLayers(config, {"num_hidden_layers"}, 54);
  if (layers != static_cast<int64_t>(letters.size())) {
    config.fault(fmt::format("'num_hidden_layers' is {}, but 'layers_block_type' has {} words{}",
                             layers, letters.size(), types.empty() ? " where it is left out" : ""));
    return "M";
  }
  return letters;
}

void addAdapter(TensorRules &rules, const std::string &ours, const std::string &theirs,
                int64_t rank, int64_t from, int64_t to) {
  rules.same(ours + "down.weight", {rank, from}, theirs + "0.weight");
  rules.same(ours + "up", {to, rank}, theirs + "1.weight");
}

/// Parameters that the places of a block share.
void addShared(TensorRules &rules, const std::string &ours, const std::string &theirs,
               const Shared &shared) {
  const int64_t queries = shared.heads * shared.size(), keys = shared.keyHeads * shared.size(),
                from = 2 * shared.width;
  rules.same(ours + "norm", {from}, theirs + "input_layernorm.weight");
  rules.stacked(ours + "wqkv", {queries + 2 * keys, from},
                {{theirs + "self_attn.q_proj.weight", {queries, from}},
                 {theirs + "self_attn.k_proj.weight", {keys, from}},
                 {theirs + "self_attn.v_proj.weight", {keys, from}}});
  rules.same(ours + "wo", {shared.width, queries}, theirs + "self_attn.o_proj.weight");
  rules.same(ours + "inner_norm", {shared.width}, theirs + "pre_ff_layernorm.weight");
  const std::string unit = theirs + "feed_forward.";
  rules.same(ours + "w_in", {2 * shared.inner, shared.width}, unit + "gate_up_proj.weight");
  rules.same(ours + "w_out", {shared.width, shared.inner}, unit + "down_proj.weight");
  if (!shared.bias)
    return;
  rules.same(ours + "b_in", {2 * shared.inner}, unit + "gate_up_proj.bias");
  rules.same(ours + "b_out", {shared.width}, unit + "down_proj.bias");
}

/// What belongs to place `place` of a block, which is stored with the block.
void addPlace(TensorRules &rules, const std::string &ours, const std::string &theirs, int64_t place,
              const Shared &shared) {
  const int64_t wide = 2 * shared.width;
  if (shared.attentionAdapters)
    for (const char *side : {"q", "k", "v"})
      addAdapter(rules, fmt::format("{}{}_adapter.", ours, side),
                 fmt::format("{}self_attn.linear_{}_adapter_list.{}.", theirs, side, place),
                 shared.rank, wide, wide);
  addAdapter(rules, ours + "adapter.",
             fmt::format("{}feed_forward.gate_up_proj_adapter_list.{}.", theirs, place),
             shared.rank, shared.width, 2 * shared.inner);
}

} // namespace

Architecture readZamba2(Config &config) {
  readCommon(config);
  // The long context was read once; transformers computes nothing with it any more.
  config.withoutEffect({"num_logits_to_keep", "use_long_context"});
  const int64_t width = config.size({"hidden_size"}, 2560);
  const double eps = config.number({"rms_norm_eps"}, 1e-5);
  const std::string function = activation(config, {"hidden_act"}, "gelu");
  Shared shared = readShared(config, width);
  const Mamba2Shape mamba = readMamba2Shape(config, width, shared.bias);
  const bool turns = config.flag({"use_mem_rope"}, false);
  const Rotary rotary(config, shared.size(), 10000);
  const std::string letters = readLetters(config);
  const auto places = static_cast<int64_t>(std::count(letters.begin(), letters.end(), 'H'));
  const Ends ends{config.size({"vocab_size"}, 32000), width,
                  config.flag({"tie_word_embeddings"}, true), "model.embed_tokens.weight",
                  "lm_head.weight"};
  // Where nothing is tied, blocks are not either: each place has one of its own.
  shared.blocks = ends.tied ? std::min(shared.blocks, places) : places;

  Architecture model;
  Page &page = model.page;
  page.use("std.mamba2");
  if (places > 0)
    page.use("std.shared_blocks");
  addEmbedding(model, ends);
  if (places > 0 && turns)
    rotary.prepare(page);
  Call block("shared_transformer", std::to_string(width));
  block.with("heads", shared.heads).unless(shared.heads, "kv_heads", shared.keyHeads);
  block.with("inner", shared.inner).unless(false, "bias", shared.bias);
  block.unless(std::string("gelu"), "activation", function).with("rank", shared.rank);
  block.unless(false, "attention_adapters", shared.attentionAdapters).with("eps", eps);
  if (turns)
    rotary.pass(block, 0);
  if (places > 0) {
    for (int64_t i = 0; i < shared.blocks; ++i)
      page.line(fmt::format("let shared{} = {}", i, block.text()));
    std::string blocks;
    for (int64_t i = 0; i < shared.blocks; ++i)
      blocks += fmt::format("{}shared{}", i ? ", " : "", i);
    page.line(fmt::format("let [first, blocks, place] = [x, [{}], 0]", blocks));
  }
  const std::string norm = fmt::format("rmsnorm(x, eps = {})", spelled(eps));
  page.line(fmt::format("topology \"{}\" {{", topology(letters)));
  if (places > 0) {
    page.line("H = {", 2);
    page.line(fmt::format("let block = blocks[place % {}]", shared.blocks), 3);
    page.line(
        fmt::format("let h = linear(block(x, first, name = \"shared\"), {}, bias = false)", width),
        3);
    page.line("place += 1", 3);
    page.line("x += " +
                  mamba2Call(mamba, fmt::format("rmsnorm(x + h, eps = {})", spelled(eps))).text(),
              3);
    page.line("}", 2);
  }
  if (letters.find('M') != std::string::npos)
    page.line("M = { x += " + mamba2Call(mamba, norm).text() + " }", 2);
  page.line("}");
  std::vector<std::string> homes; // of the shared blocks: where their tensors are
  int64_t place = 0;
  for (size_t i = 0; i < letters.size(); ++i) {
    const std::string ours = fmt::format("blocks.{}.", i),
                      layer = fmt::format("model.layers.{}.", i),
                      theirs = letters[i] == 'H' ? layer + "mamba_decoder." : layer;
    if (letters[i] == 'H') {
      const std::string here = layer + "shared_transformer.";
      if (place < shared.blocks) {
        addShared(model.rules,
                  place == 0 ? "shared_transformer."
                             : fmt::format("shared_transformer_{}.", place + 1),
                  here, shared);
        homes.push_back(here);
        if (!ends.tied) // adapters of the places that would share it
          for (const char *adapters :
               {"self_attn.linear_", "feed_forward.gate_up_proj_adapter_list."})
            model.ignoredPrefixes.push_back(here + adapters);
      } else {
        model.ignoredPrefixes.push_back(here); // the same tensors again
      }
      addPlace(model.rules, ours + "shared.", homes[static_cast<size_t>(place % shared.blocks)],
               place, shared);
      model.rules.same(ours + "linear.weight", {width, width}, layer + "linear.weight");
      ++place;
    }
    model.rules.same(ours + "rmsnorm.weight", {width}, theirs + "input_layernorm.weight");
    addMamba2(model.rules, ours + "mamba2.", theirs + "mamba.", mamba);
  }
  model.rules.same("rmsnorm.weight", {width}, "model.final_layernorm.weight");
  addHead(model, ends, norm);
  return model;
}

} // namespace hybrid::rt::exchange
