//===- DeltaRule.cpp - generalized delta rule in chunks -------------------===//
#include "codegen/kernels/DeltaRule.h"
#include "ScanChunksGradient.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// Which head of which sequence an item is about.
struct Item {
  int64_t batch, head;
  const DeltaRuleParams &params;

  Item(int64_t index, const DeltaRuleParams &params)
      : batch(index / params.heads), head(index % params.heads), params(params) {}

  /// Of nothing where the buffer is absent.
  template <typename Pointer>
  Steps<Pointer> part(Pointer buffer, int64_t stride, int64_t size) const {
    if (!buffer)
      return {};
    return {buffer + (batch * params.length * stride + head * size), stride, params.heads * size};
  }
  template <typename T> Steps<Activation<T>> ofKeys(Activation<T> buffer, int64_t stride) const {
    return part(buffer, stride, params.keySize);
  }
  template <typename T> Steps<Activation<T>> ofValues(Activation<T> buffer, int64_t stride) const {
    return part(buffer, stride, params.valueSize);
  }
  template <typename T> Steps<T *> ofDecay(T *buffer, int64_t stride) const {
    return part(buffer, stride, params.decay == DeltaRuleDecay::HeadAndTime ? 1 : params.keySize);
  }
  /// The head's part of a state, or null.
  template <typename T> T *state(void *buffer, bool is) const {
    return is ? static_cast<T *>(buffer) +
                    (batch * params.heads + head) * params.keySize * params.valueSize
              : nullptr;
  }
};

template <typename T>
HYBRID_INLINE ScanOperands<T> operandsOf(const Item &item, const DeltaRuleParams &p,
                                         Buffers buffers) {
  ScanOperands<T> of{};
  of.sizes = deltaRuleSizes(p), of.steps = p.steps;
  of.factors = p.decay == DeltaRuleDecay::KeyAndTime                     ? Factors::Key
               : p.decay == DeltaRuleDecay::HeadAndTime || p.hasSegments ? Factors::Head
                                                                         : Factors::None;
  of.erases = true, of.hasB = p.hasB, of.scale = static_cast<T>(p.scale);
  of.q = item.ofKeys(activationAt<T>(buffers, 0), p.qStride);
  of.k = item.ofKeys(activationAt<T>(buffers, 1), p.kStride);
  of.v = item.ofValues(activationAt<T>(buffers, 2), p.vStride);
  of.a = item.ofKeys(activationAt<T>(buffers, 3), p.aStride);
  of.b = item.ofKeys(activationAt<T>(buffers, 4), p.bStride);
  if (p.decay != DeltaRuleDecay::None)
    of.decay = item.ofDecay(buffers.at<const T>(5), p.decayStride);
  if (p.hasSegments)
    of.segments = static_cast<const int32_t *>(buffers[6]) + item.batch * p.length;
  return of;
}

template <typename T>
HYBRID_INLINE void delta_rule_forward(int64_t index, Buffers buffers, const DeltaRuleParams &p) {
  const Item item(index, p);
  Memory<T> memory{buffers.scratch<T>()};
  ScanChunk<T> chunk(operandsOf<T>(item, p, buffers), memory);
  scanForward(chunk, item.state<const T>(buffers[7], p.hasState),
              item.state<T>(buffers[8], p.hasFinalState),
              item.ofValues(activationAt<T>(buffers, 10), p.oStride));
}

template <typename T>
HYBRID_INLINE void delta_rule_backward(int64_t index, Buffers buffers, const DeltaRuleParams &p) {
  const Item item(index, p);
  Memory<T> memory{buffers.scratch<T>()};
  ScanChunk<T> chunk(operandsOf<T>(item, p, buffers), memory);
  const ScanGradients<T> to{item.ofValues(activationAt<T>(buffers, 8), p.oStride),
                            item.ofKeys(activationAt<T>(buffers, 11), p.dqStride),
                            item.ofKeys(activationAt<T>(buffers, 12), p.dkStride),
                            item.ofValues(activationAt<T>(buffers, 13), p.dvStride),
                            item.ofKeys(activationAt<T>(buffers, 14), p.daStride),
                            item.ofKeys(activationAt<T>(buffers, 15), p.dbStride),
                            p.decayGradient != 0};
  ScanGradient<T> gradient(chunk, to, memory);
  const Steps<T *> dDecay = item.ofDecay(buffers.at<T>(16), p.dDecayStride);
  scanBackward(chunk, gradient, item.state<const T>(buffers[7], p.hasState),
               item.state<const T>(buffers[9], p.hasFinalState),
               item.state<T>(buffers[10], p.stateGradient), memory,
               [&](int64_t row, int64_t block, Vector<T> sum) HYBRID_INLINE_LAMBDA {
                 if (chunk.stepOf(row) > 0)
                   return;
                 T *at = dDecay.at(chunk.tokenOf(row), 0);
                 if (p.decay == DeltaRuleDecay::HeadAndTime)
                   *at = sumOfLanes(sum);
                 else
                   storePart(at + block * lanes<T>, sum, chunk.keysAt(block));
               });
}

} // namespace

HYBRID_KERNEL(delta_rule_forward, DeltaRuleParams)
HYBRID_KERNEL(delta_rule_backward, DeltaRuleParams)
