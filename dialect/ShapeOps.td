//===- ShapeOps.td - ops that rearrange without arithmetic ------*- tablegen -*-===//
#ifndef HYBRID_SHAPE_OPS_TD
#define HYBRID_SHAPE_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_ReshapeOp : Hybrid_PureOp<"reshape", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    `result` and x, flattened in row-major order, are the same list.

    - C1: the number of elements is the same

    ```mlir
    %y = hybrid.reshape %x to [2, 32] : tensor<2x8x4xf32> -> tensor<2x32xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_TransposeOp : Hybrid_PureOp<"transpose", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "dimensions in another order";
  let description = [{
    Dimension i of `result` is dimension `permutation[i]` of x.

    - C1: permutation is one of x's dimensions

    ```mlir
    %y = hybrid.transpose %x by [2, 0, 1] : tensor<2x8x4xf32> -> tensor<4x2x8xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `by` $permutation attr-dict `:` type($x) `->` type($result)";
  let hasFolder = 1;
}

def Hybrid_BroadcastOp : Hybrid_PureOp<"broadcast", [Hybrid_FusableElementwise, DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "a tensor repeated to a larger shape";
  let description = [{
    Shapes are aligned at the last dimension, as in `hybrid.binary`; missing dimensions and those of size 1 are repeated.

    - C1: x broadcasts to the shape

    ```mlir
    %y = hybrid.broadcast %x to [2, 8, 4] : tensor<8x1xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_SplitOp : Hybrid_PureOp<"split", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "consecutive parts along a dimension";
  let description = [{
    Part i has `sizes[i]` elements along `axis`.

    - C1: the sizes add up to the size of x along `axis`
    - C2: axis is a dimension of x

    ```mlir
    %a, %b = hybrid.split %x along 2 sizes [3, 1] : tensor<2x8x4xf32> -> tensor<2x8x3xf32>, tensor<2x8x1xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, I64Attr:$axis, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<Hybrid_Tensor>:$parts);
  let assemblyFormat = "$x `along` $axis `sizes` $sizes attr-dict `:` type($x) `->` type($parts)";
}

def Hybrid_ConcatOp : Hybrid_PureOp<"concat", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "tensors one after the other along a dimension";
  let description = [{
    The inverse of `hybrid.split`.

    - C1: all element types, and all sizes but the one along `axis`, are equal
    - C2: there is a part, and axis is one of its dimensions

    ```mlir
    %y = hybrid.concat %a, %b along 1 : tensor<2x3x4xf32>, tensor<2x5x4xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Hybrid_Tensor>:$parts, I64Attr:$axis);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$parts `along` $axis attr-dict `:` type($parts) `->` type($result)";
  let hasFolder = 1;
}

def Hybrid_SliceOp : Hybrid_PureOp<"slice", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "a rectangular part";
  let description = [{
    Elements `starts[i] <= index_i < starts[i] + sizes[i]` of x.

    - C1: the part lies inside x

    ```mlir
    %y = hybrid.slice %x from [0, 2, 0] size [2, 4, 4] : tensor<2x8x4xf32> -> tensor<2x4x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, DenseI64ArrayAttr:$starts, Hybrid_ShapeAttr:$sizes);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `from` $starts `size` $sizes attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Hybrid_ReverseOp : Hybrid_PureOp<"reverse", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "a dimension from its end to its start";
  let description = [{
    Element i along `axis` of the result is element n - 1 - i of x.

    - C1: axis is a dimension of x

    ```mlir
    %y = hybrid.reverse %x along 1 : tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_Tensor:$x, I64Attr:$axis);
  let results = (outs Hybrid_Tensor:$result);
  let assemblyFormat = "$x `along` $axis attr-dict `:` type($x)";
}

def Hybrid_PadOp : Hybrid_PureOp<"pad", [DeclareOpInterfaceMethods<DifferentiableOp>]> {
  let summary = "zeros around a tensor";
  let description = [{
    `result` has `shape`; x stands at `starts`, zeros elsewhere.

    - C1: x fits

    ```mlir
    %y = hybrid.pad %x at [0, 2, 0] in [2, 8, 4] : tensor<2x4x4xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$x, DenseI64ArrayAttr:$starts, Hybrid_ShapeAttr:$shape);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$x `at` $starts `in` $shape attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}
#endif
