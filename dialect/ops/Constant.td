//===- Constant.td - a tensor filled with one value --------*- tablegen -*-===//
include "dialect/HybridBase.td"

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
