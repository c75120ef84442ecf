//===- TrainingOps.td - losses and the optimizer ----------------*- tablegen -*-===//
#ifndef HYBRID_TRAINING_OPS_TD
#define HYBRID_TRAINING_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_CrossEntropyOp : Hybrid_PureOp<"cross_entropy", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand", "isRowResult"]>, DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "mean cross entropy over the scored positions";
  let description = [{
    `loss = Σ w_t (lse_t - logit_t[target_t]) / Σ w_t` over positions whose target is not `ignore_index`; w = `weights` or 1.
    `label_smoothing` e: the target is (1-e) onehot + e/classes. Also returns the total weight and the weight of the
    positions whose largest logit is the target. Without a scored position the loss is 0.

    - C1: targets have logits' shape without its last dimension
    - C2: weights have targets' shape
    - C3: label_smoothing is in [0, 1)

    ```mlir
    %loss, %weight, %correct = hybrid.cross_entropy %logits, %targets {ignore_index = 0 : i64} : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$logits, Hybrid_IntTensor:$targets, Optional<Hybrid_FloatTensor>:$weights,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index, DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Hybrid_FloatTensor:$loss, Hybrid_FloatTensor:$total_weight, Hybrid_FloatTensor:$correct);
  let assemblyFormat = [{ $logits `,` $targets (`weights` `(` $weights^ `:` type($weights) `)`)? attr-dict `:` type($logits) `,` type($targets)
    `->` type($loss) `,` type($total_weight) `,` type($correct) }];
  let hasVerifier = 1;
}

def Hybrid_TargetWeightOp : Hybrid_Op<"target_weight", [Pure, Hybrid_OneFloatType, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "total weight of the scored positions";
  let description = [{
    `Σ w_t` over positions whose target is not `ignore_index`; w = `weights` or 1: what `hybrid.cross_entropy` returns as its total weight,
    from the targets alone. The gradient of the loss divides by it, and so need not wait for the loss of the last position.

    - C1: weights have targets' shape
    - C2: the result is a scalar

    ```mlir
    %weight = hybrid.target_weight %targets {ignore_index = -100 : i64} : tensor<2x8xi32> -> tensor<f32>
    ```
  }];
  let arguments = (ins Hybrid_IntTensor:$targets, Optional<Hybrid_FloatTensor>:$weights, I64Attr:$ignore_index);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$targets (`weights` `(` $weights^ `:` type($weights) `)`)? attr-dict `:` type($targets) `->` type($result)";
  let hasVerifier = 1;
}

def Hybrid_CrossEntropyGradOp : Hybrid_PureOp<"cross_entropy_grad", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand"]>, DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "gradient of cross_entropy with respect to the logits";
  let description = [{
    `dlogits = cotangent w_t/Σw (softmax(logits) - q)` with q the (smoothed) target distribution; 0 at ignored positions.

    - C1: targets have logits' shape without its last dimension
    - C2: weights have targets' shape
    - C3: label_smoothing is in [0, 1)
    - C4: total_weight and cotangent are scalars

    ```mlir
    %dlogits = hybrid.cross_entropy_grad %logits, %targets, %weight, %dloss {ignore_index = -100 : i64, label_smoothing = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32>, tensor<f32>, tensor<f32> -> tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$logits, Hybrid_IntTensor:$targets, Optional<Hybrid_FloatTensor>:$weights,
                       Hybrid_FloatTensor:$total_weight, Hybrid_FloatTensor:$cotangent, I64Attr:$ignore_index, F64Attr:$label_smoothing);
  let results = (outs Hybrid_FloatTensor:$dlogits);
  let assemblyFormat = [{ $logits `,` $targets `,` $total_weight `,` $cotangent (`weights` `(` $weights^ `:` type($weights) `)`)? attr-dict
    `:` type($logits) `,` type($targets) `,` type($total_weight) `,` type($cotangent) `->` type($dlogits) }];
  let hasVerifier = 1;
}

def Hybrid_AdamWOp : Hybrid_Op<"adamw"> {
  let summary = "one AdamW step over all trainable parameters";
  let description = [{
    Clips the gradients of all trainable parameters to a global norm and updates parameters and moments in place.
    `hyper` holds 8 values: learning rate, weight decay, beta1, beta2, epsilon, clip (<= 0: none), 1 - beta1^t, 1 - beta2^t.
    Returns the norm before clipping. With g clipped, t the step: `p -= lr wd p`, `m = beta1 m + (1-beta1) g`, `v = beta2 v + (1-beta2) g²`,
    `p -= lr (m/(1-beta1^t)) / (sqrt(v/(1-beta2^t)) + epsilon)`.

    - C1: hyper has 8 elements
    - C2: gradient_norm is a scalar

    ```mlir
    %norm = hybrid.adamw %hyper parameters ["embed", "head.w"] : tensor<8xf64> -> tensor<f32>
    ```

    Loshchilov and Hutter 2019, algorithm 2.
  }];
  let arguments = (ins RankedTensorOf<[F64]>:$hyper, StrArrayAttr:$parameters);
  let results = (outs Hybrid_FloatTensor:$gradient_norm);
  let assemblyFormat = "$hyper `parameters` $parameters attr-dict `:` type($hyper) `->` type($gradient_norm)";
  let hasVerifier = 1;
}
#endif
