//===- Parameter.td - the trained tensors of a model -------*- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_ParameterOp : Hybrid_Op<"parameter", [Pure]> {
  let summary = "a trained (or frozen) tensor of the model";
  let description = [{
    The value of the parameter called `name`. `initial` is the value it starts from; `hybrid-specialize` moves the
    initial values into the function `@init` and drops the operand elsewhere. What a program keeps of parameters (`hybrid-prepare-decoding`) may be bf16.

    - C1: the shape is static
    - C2: `initial` has the parameter's type

    ```mlir
    %0 = hybrid.random uniform(-0.1, 0.1) "w" : tensor<8x4xf32>
    %w = hybrid.parameter "w" initial(%0 : tensor<8x4xf32>) : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Optional<Hybrid_FloatTensor>:$initial, DefaultValuedAttr<BoolAttr, "true">:$trainable,
                       DefaultValuedAttr<BoolAttr, "true">:$decay, DefaultValuedAttr<F64Attr, "1.0">:$lr_scale);
  let results = (outs Hybrid_ProductOperand:$result);
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
  let arguments = (ins StrAttr:$name, Hybrid_ProductOperand:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` type($value)";
}
