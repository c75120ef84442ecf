//===- CrossEntropy.td - mean cross entropy over the scored positions *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_CrossEntropyOp : Hybrid_PureOp<"cross_entropy", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand", "isRowResult"]>, Hybrid_Differentiable, Hybrid_Indexing, Hybrid_Cost]> {
  let summary = "mean cross entropy over the scored positions";
  let description = [{
    `loss = Σ w_t (lse_t - logit_t[target_t]) / Σ w_t` over positions whose target is not `ignore_index`; w = `weights` or 1.
    `label_smoothing` e: the target is (1-e) onehot + e/classes. Also returns the total weight and the weight of the
    positions whose largest logit is the target. Without a scored position the loss is 0.

    - C1: targets have logits' shape without its last dimension
    - C2: weights have targets' shape
    - C3: label_smoothing is in [0, 1)
    - C4: ignore_index has 32 bits

    ```mlir
    %loss, %weight, %correct = hybrid.cross_entropy %logits, %targets {ignore_index = 0 : i64} : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
  let language = (operator $logits, $targets, $weights, $ignore_index, $label_smoothing);
  let languageResults = (given $loss);
  let arguments = (ins Hybrid_FloatTensor:$logits, Hybrid_IntTensor:$targets, Optional<Hybrid_FloatTensor>:$weights,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index, DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Hybrid_FloatTensor:$loss, Hybrid_FloatTensor:$total_weight, Hybrid_FloatTensor:$correct);
  let assemblyFormat = [{ $logits `,` $targets (`weights` `(` $weights^ `:` type($weights) `)`)? attr-dict `:` type($logits) `,` type($targets)
    `->` type($loss) `,` type($total_weight) `,` type($correct) }];
  let hasVerifier = 1;
}

def Hybrid_CrossEntropyGradOp : Hybrid_PureOp<"cross_entropy_grad", [DeclareOpInterfaceMethods<RowwiseOp, ["isRowOperand"]>, Hybrid_Cost]> {
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
