//===- Mixers.cpp - tensors of recurrent layers that several families have -----===//
#include "training/exchange/Mixers.h"
#include <cmath>

namespace hybrid::rt::exchange {

void addMamba(TensorRules &rules, const std::string &ours, const std::string &theirs,
              const MambaShape &shape) {
  const auto [width, inner, state, taps, rank, bias, convBias] = shape;
  rules.same(ours + "in.weight", {2 * inner, width}, theirs + "in_proj.weight");
  if (bias)
    rules.same(ours + "in.bias", {2 * inner}, theirs + "in_proj.bias");
  rules.reshaped(ours + "short.weight", {inner, taps},
                 {theirs + "conv1d.weight", {inner, 1, taps}});
  if (convBias)
    rules.same(ours + "short.bias", {inner}, theirs + "conv1d.bias");
  rules.same(ours + "x_proj.weight", {rank + 2 * state, inner}, theirs + "x_proj.weight");
  rules.same(ours + "dt_proj.weight", {inner, rank}, theirs + "dt_proj.weight");
  rules.same(ours + "dt_proj.bias", {inner}, theirs + "dt_proj.bias");
  rules.same(ours + "a_log", {inner, state}, theirs + "A_log");
  rules.same(ours + "skip", {inner}, theirs + "D");
  rules.same(ours + "out.weight", {width, inner}, theirs + "out_proj.weight");
  if (bias)
    rules.same(ours + "out.bias", {width}, theirs + "out_proj.bias");
}

void readStepLimits(Config &config, Mamba2Shape &shape) {
  const auto limits = config.list("time_step_limit");
  if (limits.size() == 2) {
    shape.leastStep = config.numberOrInfinity(limits[0], "time_step_limit");
    shape.mostStep = config.numberOrInfinity(limits[1], "time_step_limit");
  }
  config.require((limits.empty() || limits.size() == 2) && shape.leastStep >= 0 &&
                     shape.mostStep > shape.leastStep,
                 "'time_step_limit' is a list of two numbers from 0 on, the second the larger");
}

Call mamba2Call(const Mamba2Shape &shape, const std::string &norm) {
  Call call("mamba2", norm);
  call.with("heads", shape.heads).with("head_size", shape.headSize).with("state", shape.state);
  call.with("groups", shape.groups).with("taps", shape.taps);
  call.unless(true, "conv_bias", shape.convBias).unless(false, "bias", shape.bias);
  call.unless(shape.bias, "out_bias", shape.outBias.value_or(shape.bias));
  if (shape.norm != "gated")
    call.with("norm", "\"" + shape.norm + "\"");
  call.with("eps", shape.eps).unless(0.0, "least_step", shape.leastStep);
  if (std::isfinite(shape.mostStep))
    call.with("most_step", shape.mostStep);
  return call.unless(std::string("silu"), "activation", shape.activation);
}

void addMamba2(TensorRules &rules, const std::string &ours, const std::string &theirs,
               const Mamba2Shape &shape) {
  const int64_t inner = shape.heads * shape.headSize,
                streams = inner + 2 * shape.groups * shape.state,
                rows = inner + streams + shape.heads;
  rules.same(ours + "in.weight", {rows, shape.width}, theirs + "in_proj.weight");
  if (shape.bias)
    rules.same(ours + "in.bias", {rows}, theirs + "in_proj.bias");
  rules.reshaped(ours + "short.weight", {streams, shape.taps},
                 {theirs + "conv1d.weight", {streams, 1, shape.taps}});
  if (shape.convBias)
    rules.same(ours + "short.bias", {streams}, theirs + "conv1d.bias");
  rules.same(ours + "dt_bias", {shape.heads}, theirs + "dt_bias");
  rules.same(ours + "a_log", {shape.heads}, theirs + "A_log");
  rules.same(ours + "skip", {shape.heads}, theirs + "D");
  if (shape.norm != "none")
    rules.same(ours + "norm", {inner}, theirs + "norm.weight");
  rules.same(ours + "out.weight", {shape.width, inner}, theirs + "out_proj.weight");
  if (shape.outBias.value_or(shape.bias))
    rules.same(ours + "out.bias", {shape.width}, theirs + "out_proj.bias");
}

Call deltaCall(const DeltaShape &shape, const std::string &norm) {
  Call call("gated_deltanet", norm);
  call.with("heads", shape.keyHeads).unless(shape.keyHeads, "value_heads", shape.valueHeads);
  call.with("key_size", shape.keySize).with("value_size", shape.valueSize);
  call.with("taps", shape.taps).with("eps", shape.eps).unless(false, "negative", shape.negative);
  return call.unless(std::string("silu"), "activation", shape.activation);
}

namespace {

/// Rows of ours: all q, all k, all v, all z, all b, all a. Of theirs: for each key head its q and
/// k, and v and z of its value heads; in the other tensor b and a of these.
TensorRule groupedRows(const DeltaShape &shape, const std::string &ours,
                       const std::string &theirs) {
  const int64_t each = shape.valueHeads / shape.keyHeads, values = each * shape.valueSize;
  const int64_t group = 2 * shape.keySize + 2 * values;
  TensorRule rule{
      ours + "in.weight",
      {2 * shape.keys() + 2 * shape.values() + 2 * shape.valueHeads, shape.width},
      {{theirs + "in_proj_qkvz.weight", {2 * shape.keys() + 2 * shape.values(), shape.width}},
       {theirs + "in_proj_ba.weight", {2 * shape.valueHeads, shape.width}}},
      {},
      false};
  auto take = [&](size_t source, int64_t group, int64_t offset, int64_t rows) {
    for (int64_t head = 0; head < shape.keyHeads; ++head)
      rule.pieces.push_back({source, head * group + offset, rows});
  };
  take(0, group, 0, shape.keySize);
  take(0, group, shape.keySize, shape.keySize);
  take(0, group, 2 * shape.keySize, values);
  take(0, group, 2 * shape.keySize + values, values);
  take(1, 2 * each, 0, each);
  take(1, 2 * each, each, each);
  return rule;
}

} // namespace

void addDelta(TensorRules &rules, const std::string &ours, const std::string &theirs,
              const DeltaShape &shape, bool grouped) {
  const int64_t streams = 2 * shape.keys() + shape.values(), heads = shape.valueHeads;
  if (grouped)
    rules.add(groupedRows(shape, ours, theirs));
  else
    rules.stacked(ours + "in.weight", {streams + shape.values() + 2 * heads, shape.width},
                  {{theirs + "in_proj_qkv.weight", {streams, shape.width}},
                   {theirs + "in_proj_z.weight", {shape.values(), shape.width}},
                   {theirs + "in_proj_b.weight", {heads, shape.width}},
                   {theirs + "in_proj_a.weight", {heads, shape.width}}});
  rules.reshaped(ours + "short.weight", {streams, shape.taps},
                 {theirs + "conv1d.weight", {streams, 1, shape.taps}});
  rules.same(ours + "decay.rate", {heads}, theirs + "A_log");
  rules.same(ours + "decay.bias", {heads}, theirs + "dt_bias");
  rules.same(ours + "norm", {shape.valueSize}, theirs + "norm.weight");
  rules.same(ours + "out.weight", {shape.width, shape.values()}, theirs + "out_proj.weight");
}

} // namespace hybrid::rt::exchange
