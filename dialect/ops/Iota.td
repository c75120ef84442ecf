//===- Iota.td - equally spaced values ---------------------*- tablegen -*-===//
include "dialect/HybridBase.td"

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
