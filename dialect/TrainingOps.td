//===- TrainingOps.td - losses and the optimizer ----------------*- tablegen -*-===//
#ifndef HYBRID_TRAINING_OPS_TD
#define HYBRID_TRAINING_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_CrossEntropyOp : Hybrid_PureOp<"cross_entropy", [DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "mean cross entropy over the scored positions";
  let description = [{
    `loss = Σ w_t (lse_t - logit_t[target_t]) / Σ w_t` over positions whose target is not `ignore_index`; w = `weights` or 1
    (operators.md 12.1). `label_smoothing` e: the target is (1-e) onehot + e/classes. Also returns the total weight and the weight of the
    positions whose largest logit is the target. Without a scored position the loss is 0.

    - C1: targets have logits' shape without its last dimension
    - C2: weights have targets' shape
  }];
  let arguments = (ins Hybrid_FloatTensor:$logits, Hybrid_IntTensor:$targets, Optional<Hybrid_FloatTensor>:$weights,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index, DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Hybrid_FloatTensor:$loss, Hybrid_FloatTensor:$total_weight, Hybrid_FloatTensor:$correct);
  let assemblyFormat = [{ $logits `,` $targets (`weights` `(` $weights^ `:` type($weights) `)`)? attr-dict `:` type($logits) `,` type($targets)
    `->` type($loss) `,` type($total_weight) `,` type($correct) }];
  let hasVerifier = 1;
}

def Hybrid_CrossEntropyGradOp : Hybrid_PureOp<"cross_entropy_grad", [DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "gradient of cross_entropy with respect to the logits";
  let arguments = (ins Hybrid_FloatTensor:$logits, Hybrid_IntTensor:$targets, Optional<Hybrid_FloatTensor>:$weights,
                       Hybrid_FloatTensor:$total_weight, Hybrid_FloatTensor:$cotangent, I64Attr:$ignore_index, F64Attr:$label_smoothing);
  let results = (outs Hybrid_FloatTensor:$dlogits);
  let assemblyFormat = [{ $logits `,` $targets `,` $total_weight `,` $cotangent (`weights` `(` $weights^ `:` type($weights) `)`)? attr-dict
    `:` type($logits) `,` type($targets) `,` type($total_weight) `,` type($cotangent) `->` type($dlogits) }];
}

def Hybrid_AdamWOp : Hybrid_Op<"adamw"> {
  let summary = "one AdamW step over all trainable parameters";
  let description = [{
    Clips the gradients of all trainable parameters to a global norm and updates parameters and moments in place (operators.md 12.2).
    `hyper` holds 8 values: learning rate, weight decay, beta1, beta2, epsilon, clip (<= 0: none), 1 - beta1^t, 1 - beta2^t.
    Returns the norm before clipping.
  }];
  let arguments = (ins RankedTensorOf<[F64]>:$hyper, StrArrayAttr:$parameters);
  let results = (outs Hybrid_FloatTensor:$gradient_norm);
  let assemblyFormat = "$hyper `parameters` $parameters attr-dict `:` type($hyper) `->` type($gradient_norm)";
}
#endif
