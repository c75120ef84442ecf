//===- AdamW.td - one AdamW step over all parameters -------*- tablegen -*-===//
include "dialect/HybridBase.td"

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
