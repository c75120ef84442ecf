//===- CudnnAttention.h - attention by cuDNN --------------------------------===//
#pragma once
#include "runtime/cuda/CudnnGraph.h"
#include <memory>

namespace hybrid::rt::cuda {

/// Distances of batch rows, rows and heads in elements; channels of a head are neighbours.
struct AttentionStrides {
  int64_t batch = 0, row = 0, head = 0;
  bool operator==(const AttentionStrides &) const = default;
};

/// Softmax attention or its gradient, as fb::Attention.
struct AttentionShape {
  int64_t batch = 1, length = 1, keyLength = 1, heads = 1, kvHeads = 1, headSize = 1;
  bool causal = false, backward = false;
  float scale = 1;
  AttentionStrides q, k, v, o, dO, dq, dk, dv;
  bool operator==(const AttentionShape &) const = default;
};

/// Addresses of its tensors. lse and room are f32 [batch, heads, length], dense, all others bf16.
/// Backward reads o, lse and dO and writes dq, dk, dv and room.
struct AttentionOperands {
  uint64_t q = 0, k = 0, v = 0, o = 0, lse = 0, dO = 0, dq = 0, dk = 0, dv = 0, room = 0;
};

/// What a plan is made for: the device of a handle, or a described one, for which nothing runs.
struct DnnTarget {
  DnnHandle handle = nullptr;
  DnnDescriptor properties = nullptr;
};

/// An engine of the library for one shape. Its sums are in the same order in every run.
class AttentionPlan {
public:
  /// The error says what the library has against it.
  static Result<std::unique_ptr<AttentionPlan>> create(const CudnnApi &api, const DnnTarget &target,
                                                       const AttentionShape &shape);
  AttentionPlan(const AttentionPlan &) = delete;
  AttentionPlan &operator=(const AttentionPlan &) = delete;

  const AttentionShape &of() const { return shape; }
  uint64_t workspaceBytes() const { return bytes; }
  /// What run() takes: these tensors and this workspace.
  Result<DnnObject> bind(const AttentionOperands &operands, uint64_t workspace) const;
  /// Appends it to the handle's stream.
  Result<void> run(DnnHandle handle, const DnnObject &bound) const;

private:
  AttentionPlan(const CudnnApi &api, const AttentionShape &shape);
  void buildForward();
  void buildBackward();
  DnnTensor scores(const DnnTensor &q, const DnnTensor &k, const DnnTensor &scale,
                   const DnnTensor *lse);
  Result<void> choose(const DnnTarget &target, DnnDescriptor built);

  const CudnnApi &api;
  AttentionShape shape;
  float masked, one = 1; // the library reads values where they lie
  DnnGraph graph;
  std::optional<DnnObject> config, plan;
  uint64_t bytes = 0;
};

} // namespace hybrid::rt::cuda
