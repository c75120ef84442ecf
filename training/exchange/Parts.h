//===- Parts.h - what families of models have alike ----------------------------===//
#pragma once
#include "training/exchange/Family.h"
#include "training/exchange/Rotary.h"

namespace hybrid::rt::exchange {

/// Settings of every type that change no number of a forward pass, and those of which one value is
/// supported. Every family calls it once.
void readCommon(Config &config);

/// The layer of our language for a name of transformers' activations.
std::string activation(Config &config, Keys keys, const std::string &usual);

/// A number of blocks; so many have room in a program.
int64_t readLayers(Config &config, Keys keys, int64_t usual);

/// The kind of each layer in `layer_types`, as long as there are layers; empty if it is not there.
std::vector<std::string> readLayerTypes(Config &config, int64_t layers,
                                        std::initializer_list<std::string_view> known);

/// Letters for `topology`, equal neighbours counted: "3LF3LF".
std::string topology(const std::string &letters);

/// The embedding of `tokens` in front of the blocks, and the scores behind a last norm of x.
struct Ends {
  int64_t vocabulary = 0, width = 0;
  bool tied = false;
  std::string embedding, head; // their names
};
void addEmbedding(Architecture &model, const Ends &ends);
/// Logits lie between -cap and cap if that is not 0; `factor` is written behind them.
void addHead(Architecture &model, const Ends &ends, const std::string &norm, double cap = 0,
             const std::string &factor = "");

/// Softmax attention as std.mixers has it, from four projections.
struct AttentionShape {
  int64_t width = 0, heads = 1, keyHeads = 1, size = 1;
  bool bias = false, outBias = false;
  int64_t window = 0; // keys that a query sees, with itself; 0: all
};
AttentionShape readAttention(Config &config, int64_t width, int64_t usualHeads,
                             std::optional<int64_t> usualKeyHeads,
                             std::optional<int64_t> usualSize = std::nullopt);
Call attentionCall(const AttentionShape &shape, const std::string &norm);
/// `ours` and `theirs` end with a dot; `out` is what the last projection is called.
void addAttention(TensorRules &rules, const std::string &ours, const std::string &theirs,
                  const AttentionShape &shape, const std::string &out = "o_proj");

/// A gated unit as std.channel's swiglu: the three projections are called `names`: gate, up, down.
struct GatedNames {
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";
};
void addGated(TensorRules &rules, const std::string &ours, const std::string &theirs, int64_t width,
              int64_t inner, bool bias = false, const GatedNames &names = {});

/// A mixture of gated units as std.experts' moe; experts are called theirs + "J.".
struct Mixture {
  int64_t width = 0, inner = 0, experts = 1;
  std::string router, each; // names: of the router's weight, of experts up to their number
};
void addMixture(TensorRules &rules, const std::string &ours, const Mixture &mixture,
                const GatedNames &names = {});
/// Groups of experts of which a token takes some (std.experts' sigmoid_router).
struct ExpertGroups {
  int64_t groups = 1, kept = 1;
};
/// `keys` spell the number of groups, `topk_group` those that are kept.
ExpertGroups readExpertGroups(Config &config, Keys keys, int64_t experts, int64_t active);
void passExpertGroups(Call &call, const ExpertGroups &groups);

/// How many experts a layer has, of which so many are active; one, after a complaint, where they
/// are too many to name.
int64_t checkedExperts(Config &config, int64_t layers, int64_t experts, int64_t active);

} // namespace hybrid::rt::exchange
