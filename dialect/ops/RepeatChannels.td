//===- RepeatChannels.td - channels again and again ------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_RepeatChannelsOp : Hybrid_PureOp<"repeat_channels", [Hybrid_ViewOfOperand]> {
  let summary = "the channels of a tensor several times over";
  let description = [{
    The concatenation of x with itself, `times` times, along its last dimension. Nothing is written: who reads channel c reads channel c modulo
    those of x. Made by `hybrid-share-repeats` for `hybrid.short_conv` and its gradient, which can.

    - C1: x has a dimension
    - C2: it is there once or more often

    ```mlir
    %r = hybrid.repeat_channels %x times 3 : tensor<2x8x4xf32> -> tensor<2x8x12xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, I64Attr:$times);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `times` $times attr-dict `:` type($x) `->` type($result)";
}
