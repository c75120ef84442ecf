//===- Dropout.td - values left out while training ---------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_DropoutOp : Hybrid_PureOp<"dropout", [SequenceAxisOp, Hybrid_Differentiable, Hybrid_Cost]> {
  let summary = "values left out at random while training";
  let description = [{
    While training, `result = x · m / (1 - rate)` with m 0 at the probability `rate` and 1 otherwise, drawn for each index of the dimensions `axes` and the
    same along the others; x itself everywhere else. The numbers depend on the seed of the run, the step, `stream` and the index alone.
    `hybrid-differentiate` makes what is computed while training of it, in `@train`, and leaves x elsewhere.

    - C1: rate is at least 0 and below 1
    - C2: axes are ascending, distinct and within the rank

    ```mlir
    %y = hybrid.dropout %x rate 0.1 along [0, 1, 2] "blocks.0.dropout" : tensor<2x8x4xf32>
    ```

    Srivastava et al. 2014; along the batch alone it is stochastic depth (Huang et al. 2016).
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, F64Attr:$rate, DenseI64ArrayAttr:$axes, StrAttr:$stream);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `rate` $rate `along` $axes $stream attr-dict `:` type($x)";
}
