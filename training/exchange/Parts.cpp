//===- Parts.cpp - what families of models have alike --------------------------===//
#include "training/exchange/Parts.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::exchange {

void readCommon(Config &config) {
  config.withoutEffect({"architectures",
                        "auto_map",
                        "model_type",
                        "transformers_version",
                        "torch_dtype",
                        "dtype",
                        "_name_or_path",
                        "_attn_implementation",
                        "_attn_implementation_autoset",
                        "use_cache",
                        "initializer_range",
                        "bos_token_id",
                        "eos_token_id",
                        "pad_token_id",
                        "sep_token_id",
                        "decoder_start_token_id",
                        "tokenizer_class",
                        "task_specific_params",
                        "finetuning_task",
                        "problem_type",
                        "id2label",
                        "label2id",
                        "num_labels",
                        "return_dict",
                        "output_hidden_states",
                        "output_attentions",
                        "torchscript",
                        "use_bfloat16",
                        "tf_legacy_loss",
                        "prefix",
                        "chunk_size_feed_forward",
                        "cross_attention_hidden_size",
                        "attention_dropout",
                        "resid_pdrop",
                        "use_mamba_kernels",
                        "use_mambapy",
                        "use_associative_scan",
                        "embd_pdrop",
                        "attn_pdrop",
                        "hidden_dropout",
                        "dropout"});
  // Older files repeat how texts were drawn; generation_config.json has it now.
  config.withoutEffect({"max_length",
                        "min_length",
                        "do_sample",
                        "early_stopping",
                        "num_beams",
                        "num_beam_groups",
                        "diversity_penalty",
                        "temperature",
                        "top_k",
                        "top_p",
                        "typical_p",
                        "repetition_penalty",
                        "length_penalty",
                        "no_repeat_ngram_size",
                        "encoder_no_repeat_ngram_size",
                        "bad_words_ids",
                        "num_return_sequences",
                        "output_scores",
                        "return_dict_in_generate",
                        "forced_bos_token_id",
                        "forced_eos_token_id",
                        "remove_invalid_values",
                        "exponential_decay_length_penalty",
                        "suppress_tokens",
                        "begin_suppress_tokens"});
  config.only("is_encoder_decoder", false, "models with an encoder cannot be imported");
  config.withoutEffect({"is_decoder", "tie_encoder_decoder"});
  config.only("add_cross_attention", false, "models with cross attention cannot be imported");
  config.only("pruned_heads", nlohmann::json::object(), "pruned heads cannot be imported");
  if (config.has({"quantization_config"}))
    config.fault("'quantization_config' says that the weights are quantised: import the model in "
                 "f32, bf16 or f16");
  config.withoutEffect({"quantization_config"});
}

std::string activation(Config &config, Keys keys, const std::string &usual) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"silu", "silu"},
      {"swish", "silu"},
      {"gelu", "gelu"},
      {"gelu_python", "gelu"},
      {"gelu_new", "gelu_tanh"},
      {"gelu_pytorch_tanh", "gelu_tanh"},
      {"gelu_fast", "gelu_tanh"},
      {"gelu_accurate", "gelu_tanh"},
      {"quick_gelu", "quick_gelu"},
      {"relu", "relu"},
      {"relu2", "squared_relu"},
      {"tanh", "tanh"},
      {"sigmoid", "sigmoid"}};
  const std::string name = config.word(keys, usual);
  std::string names;
  for (const auto &[theirs, ours] : known) {
    if (name == theirs)
      return std::string(ours);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", theirs);
  }
  config.fault(fmt::format("'{}' is '{}', expected one of {}", *keys.begin(), name, names));
  return "silu";
}

int64_t readLayers(Config &config, Keys keys, int64_t usual) {
  constexpr int64_t most = 1024;
  const int64_t layers = config.size(keys, usual);
  if (layers <= most)
    return layers;
  config.fault(fmt::format("'{}' is {}, expected at most {}", *keys.begin(), layers, most));
  return 1;
}

std::vector<std::string> readLayerTypes(Config &config, int64_t layers,
                                        std::initializer_list<std::string_view> known) {
  std::vector<std::string> types = config.words("layer_types");
  if (types.empty())
    return types;
  if (static_cast<int64_t>(types.size()) != layers) {
    config.fault(fmt::format("'layer_types' has {} words for {} layers", types.size(), layers));
    return {};
  }
  for (const std::string &type : types)
    if (std::find(known.begin(), known.end(), type) == known.end()) {
      std::string names;
      for (std::string_view name : known)
        names += fmt::format("{}{}", names.empty() ? "" : " or ", name);
      config.fault(fmt::format("'layer_types' has '{}', expected {}", type, names));
      return {};
    }
  return types;
}

std::string topology(const std::string &letters) {
  std::string text;
  for (size_t i = 0; i < letters.size();) {
    size_t end = std::min(letters.find_first_not_of(letters[i], i), letters.size());
    if (end - i > 1)
      text += std::to_string(end - i);
    text += letters[i];
    i = end;
  }
  return text;
}

void addEmbedding(Architecture &model, const Ends &ends) {
  model.page.use("std.layers");
  model.page.use("std.heads");
  model.page.line("input tokens: int[B, L]");
  if (ends.tied) {
    model.page.line(fmt::format("let table = token_table({}, {})", ends.vocabulary, ends.width));
    model.page.line("let x = op.embedding(table, tokens)");
    model.rules.same("token_table.weight", {ends.vocabulary, ends.width}, ends.embedding);
    model.tiedHead = ends.head;
  } else {
    model.page.line(fmt::format("let x = embed(tokens, {}, {})", ends.vocabulary, ends.width));
    model.rules.same("embed.weight", {ends.vocabulary, ends.width}, ends.embedding);
  }
}

void addHead(Architecture &model, const Ends &ends, const std::string &norm, double cap,
             const std::string &factor) {
  std::string scores = ends.tied
                           ? fmt::format("tied({}, table)", norm)
                           : fmt::format("untied({}, {}, bias = false)", norm, ends.vocabulary);
  if (!ends.tied)
    model.rules.same("untied.unembed.weight", {ends.vocabulary, ends.width}, ends.head);
  if (cap > 0)
    scores = fmt::format("{0} * tanh({1} / {0})", spelled(cap), scores);
  model.page.line("output logits = " + scores + factor);
}

AttentionShape readAttention(Config &config, int64_t width, int64_t usualHeads,
                             std::optional<int64_t> usualKeyHeads,
                             std::optional<int64_t> usualSize) {
  AttentionShape shape;
  shape.width = width;
  shape.heads = config.size({"num_attention_heads"}, usualHeads);
  if (config.isNull("num_key_value_heads"))
    usualKeyHeads.reset();
  shape.keyHeads = config.size({"num_key_value_heads"}, usualKeyHeads.value_or(shape.heads));
  config.require(shape.heads % shape.keyHeads == 0,
                 fmt::format("'num_key_value_heads' is {}, which does not divide "
                             "'num_attention_heads', {}",
                             shape.keyHeads, shape.heads));
  const bool given = config.has({"head_dim"}) || usualSize;
  shape.size =
      config.size({"head_dim"}, usualSize.value_or(std::max<int64_t>(1, width / shape.heads)));
  config.require(given || width % shape.heads == 0,
                 fmt::format("'hidden_size' is {}, which {} heads do not divide, and there is no "
                             "'head_dim'",
                             width, shape.heads));
  return shape;
}

Call attentionCall(const AttentionShape &shape, const std::string &norm) {
  Call call("attention", norm);
  call.with("heads", shape.heads).unless(shape.heads, "kv_heads", shape.keyHeads);
  if (shape.size * shape.heads != shape.width)
    call.with("head_size", shape.size);
  if (shape.window > 0)
    call.with("window", shape.window - 1);
  return call.unless(false, "bias", shape.bias).unless(shape.bias, "out_bias", shape.outBias);
}

void addAttention(TensorRules &rules, const std::string &ours, const std::string &theirs,
                  const AttentionShape &shape, const std::string &out) {
  const int64_t inner = shape.heads * shape.size, keys = shape.keyHeads * shape.size;
  const int64_t width = shape.width;
  rules.stacked(ours + "wqkv", {inner + 2 * keys, width},
                {{theirs + "q_proj.weight", {inner, width}},
                 {theirs + "k_proj.weight", {keys, width}},
                 {theirs + "v_proj.weight", {keys, width}}});
  if (shape.bias)
    rules.stacked(ours + "bqkv", {inner + 2 * keys},
                  {{theirs + "q_proj.bias", {inner}},
                   {theirs + "k_proj.bias", {keys}},
                   {theirs + "v_proj.bias", {keys}}});
  rules.same(ours + "wo", {width, inner}, theirs + out + ".weight");
  if (shape.outBias)
    rules.same(ours + "bo", {width}, theirs + out + ".bias");
}

void addGated(TensorRules &rules, const std::string &ours, const std::string &theirs, int64_t width,
              int64_t inner, bool bias, const GatedNames &names) {
  auto projection = [&](const char *own, const std::string &name, int64_t to, int64_t from) {
    rules.same(ours + own + ".weight", {to, from}, theirs + name + ".weight");
    if (bias)
      rules.same(ours + own + ".bias", {to}, theirs + name + ".bias");
  };
  projection("w1", names.gate, inner, width);
  projection("w2", names.up, inner, width);
  projection("w3", names.down, width, inner);
}

void addMixture(TensorRules &rules, const std::string &ours, const Mixture &mixture,
                const GatedNames &names) {
  rules.same(ours + "router.scores.weight", {mixture.experts, mixture.width}, mixture.router);
  auto projection = [&](const char *own, const std::string &name, int64_t to, int64_t from) {
    std::vector<ForeignTensor> each;
    for (int64_t i = 0; i < mixture.experts; ++i)
      each.push_back({fmt::format("{}{}.{}.weight", mixture.each, i, name), {to, from}});
    rules.stacked(fmt::format("{}mixture.experts.{}.weight", ours, own),
                  {mixture.experts, to, from}, std::move(each));
  };
  projection("w1", names.gate, mixture.inner, mixture.width);
  projection("w2", names.up, mixture.inner, mixture.width);
  projection("w3", names.down, mixture.width, mixture.inner);
}

ExpertGroups readExpertGroups(Config &config, Keys keys, int64_t experts, int64_t active) {
  ExpertGroups read{config.size(keys, 1), config.size({"topk_group"}, 1)};
  const std::string key(*keys.begin());
  if (read.groups == 1 || read.kept >= read.groups)
    return {};
  const int64_t size = experts / read.groups;
  config.require(
      experts % read.groups == 0 && size > 1,
      fmt::format("'{}' is {}, which does not part {} experts into groups of two or more", key,
                  read.groups, experts));
  config.require(read.kept * size >= active,
                 fmt::format("'topk_group' is {}: {} groups of {} experts have not the {} that are "
                             "active",
                             read.kept, read.kept, size, active));
  return read;
}

void passExpertGroups(Call &call, const ExpertGroups &groups) {
  if (groups.groups > 1)
    call.with("groups", groups.groups).with("kept", groups.kept);
}

int64_t checkedExperts(Config &config, int64_t layers, int64_t experts, int64_t active) {
  constexpr int64_t most = int64_t{1} << 18;
  config.require(active <= experts,
                 fmt::format("{} experts of {} would be active", active, experts));
  const bool areFew = experts <= most / std::max<int64_t>(1, layers);
  config.require(areFew,
                 fmt::format("{} experts in {} layers are more than {}", experts, layers, most));
  return areFew ? experts : 1;
}

} // namespace hybrid::rt::exchange
