//===- ParameterOps.td - where values come from -----------------*- tablegen -*-===//
#ifndef HYBRID_PARAMETER_OPS_TD
#define HYBRID_PARAMETER_OPS_TD
include "dialect/HybridBase.td"

def Hybrid_ParameterOp : Hybrid_Op<"parameter", [Pure]> {
  let summary = "a trained (or frozen) tensor of the model";
  let description = [{
    The value of the parameter called `name`. `initial` is the value it starts from; `hybrid-specialize` moves the
    initial values into the function `@init` and drops the operand elsewhere.

    - C1: the shape is static
    - C2: `initial` has the parameter's type

    ```mlir
    %0 = hybrid.random uniform(-0.1, 0.1) "w" : tensor<8x4xf32>
    %w = hybrid.parameter "w" initial(%0 : tensor<8x4xf32>) : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Optional<Hybrid_FloatTensor>:$initial, DefaultValuedAttr<BoolAttr, "true">:$trainable,
                       DefaultValuedAttr<BoolAttr, "true">:$decay, DefaultValuedAttr<F64Attr, "1.0">:$lr_scale);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$name (`initial` `(` $initial^ `:` type($initial) `)`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Hybrid_AssignOp : Hybrid_Op<"assign"> {
  let summary = "store the initial value of a parameter";
  let description = [{
    Writes `value` to the parameter called `name`. `hybrid-specialize` puts these into the function `@init`.

    ```mlir
    %0 = hybrid.random normal(0.0, 0.02) "embed" : tensor<8x4xf32>
    hybrid.assign "embed", %0 : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Hybrid_FloatTensor:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` type($value)";
}

def Hybrid_RandomOp : Hybrid_Op<"random", [Pure]> {
  let summary = "values drawn by the counter-based generator";
  let description = [{
    Element i depends only on (seed of the run, `stream`, i): uniform on [a, b), or normal with mean a and standard
    deviation b. Drawn in f32. `stream` is the name of the parameter that is drawn, so that adding a layer leaves the others'
    values alone. Two draws of one stream in one model are the same values.

    - C1: the shape is static

    ```mlir
    %0 = hybrid.random uniform(-0.1, 0.1) "w" : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_DistributionAttr:$distribution, F64Attr:$a, F64Attr:$b, StrAttr:$stream);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "`` $distribution `(` $a `,` $b `)` $stream attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Hybrid_ConstantOp : Hybrid_Op<"constant", [Pure, ConstantLike]> {
  let summary = "a scalar, or a tensor filled with one";
  let description = [{
    `result[...] = value`, rounded to the element type.

    - C1: the shape is static

    ```mlir
    %0 = hybrid.constant 0.5 : tensor<f32>
    %1 = hybrid.constant 1.0 : tensor<8xf32>
    ```
  }];
  let arguments = (ins F64Attr:$value);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Hybrid_IotaOp : Hybrid_PureOp<"iota"> {
  let summary = "start, start + step, ...: equally spaced values";
  let description = [{
    `result[i] = start + i * step` for i < length, computed in f64 and then rounded. `length` is one integer or one free dimension.

    - C1: length has one entry
    - C2: the element type is f32 or f64

    ```mlir
    %t = hybrid.iota [128] from 0.0 step 1.0 of f32 : tensor<128xf32>
    ```
  }];
  let arguments = (ins Hybrid_ShapeAttr:$length, F64Attr:$start, F64Attr:$step, TypeAttr:$element_type);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$length `from` $start `step` $step `of` $element_type attr-dict `:` type($result)";
}

def Hybrid_EmbeddingOp : Hybrid_PureOp<"embedding", [DeclareOpInterfaceMethods<DifferentiableOp>, DeclareOpInterfaceMethods<CostOp, ["getBytesMoved"]>]> {
  let summary = "rows of a table chosen by token ids";
  let description = [{
    `result[..., :] = table[ids[...], :]`. Ids outside the table make NaN rows.

    - C1: table is [classes, width]

    ```mlir
    %x = hybrid.embedding %table, %ids : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_FloatTensor:$table, Hybrid_IntTensor:$ids);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` type($table) `,` type($ids) `->` type($result)";
}

def Hybrid_EmbeddingGradOp : Hybrid_PureOp<"embedding_grad", [DeclareOpInterfaceMethods<CostOp>]> {
  let summary = "gradient of embedding with respect to its table";
  let description = [{
    `result[v, :] = Σ cotangent[..., :]` over the positions whose id is v, added in row order; `result: [classes, width]`.

    - C1: cotangent is [the dimensions of ids..., width]
    - C2: classes is at least 1

    ```mlir
    %dtable = hybrid.embedding_grad %ids, %dx classes 16 : tensor<2x8xi32>, tensor<2x8x4xf32> -> tensor<16x4xf32>
    ```
  }];
  let arguments = (ins Hybrid_IntTensor:$ids, Hybrid_FloatTensor:$cotangent, I64Attr:$classes);
  let results = (outs Hybrid_FloatTensor:$result);
  let assemblyFormat = "$ids `,` $cotangent `classes` $classes attr-dict `:` type($ids) `,` type($cotangent) `->` type($result)";
  let hasVerifier = 1;
}
#endif
