//===- Random.td - values drawn by the counter-based generator *- tablegen -*-===//
include "dialect/HybridBase.td"

def Hybrid_Distribution : Hybrid_Enum<"Distribution", "distribution of drawn values", [
  I32EnumAttrCase<"Uniform", 0, "uniform">, I32EnumAttrCase<"Normal", 1, "normal">]>;
def Hybrid_DistributionAttr : EnumAttr<Hybrid_Dialect, Hybrid_Distribution, "distribution"> { let assemblyFormat = "$value"; }

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
