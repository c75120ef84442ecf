//===- Split.td - parts along a dimension, and joined again *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_SplitOp : Hybrid_PureOp<"split", [Hybrid_ViewOfOperand, Hybrid_Differentiable, Hybrid_SequenceAxis, Hybrid_Positions]> {
  let summary = "consecutive parts along a dimension";
  let description = [{
    Part i has `sizes[i]` elements along `axis`.

    - C1: the sizes add up to the size of x along `axis`
    - C2: axis is a dimension of x

    ```mlir
    %a, %b = hybrid.split %x along 2 sizes [3, 1] : tensor<2x8x4xf32> -> tensor<2x8x3xf32>, tensor<2x8x1xf32>
    ```
  }];
  let language = (operator $x, "parts":$sizes, $axis);
  let arguments = (ins Hybrid_MovedTensor:$x, Hybrid_AxisAttr:$axis, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<Hybrid_MovedTensor>:$parts);
  let assemblyFormat = "$x `along` $axis `sizes` $sizes attr-dict `:` type($x) `->` type($parts)";
}

def Hybrid_ConcatOp : Hybrid_PureOp<"concat", [Hybrid_Differentiable, Hybrid_SequenceAxis, Hybrid_Positions]> {
  let summary = "tensors one after the other along a dimension";
  let description = [{
    The inverse of `hybrid.split`.

    - C1: all element types, and all sizes but the one along `axis`, are equal
    - C2: there is a part, and axis is one of its dimensions

    ```mlir
    %y = hybrid.concat %a, %b along 1 : tensor<2x3x4xf32>, tensor<2x5x4xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let language = (operator $parts, $axis);
  let arguments = (ins Variadic<Hybrid_MovedTensor>:$parts, Hybrid_AxisAttr:$axis);
  let results = (outs Hybrid_MovedTensor:$result);
  let assemblyFormat = "$parts `along` $axis attr-dict `:` type($parts) `->` type($result)";
  let hasFolder = 1;
}
