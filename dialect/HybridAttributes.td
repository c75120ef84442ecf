//===- HybridAttributes.td - enums and attributes ---------------*- tablegen -*-===//
#ifndef HYBRID_ATTRIBUTES_TD
#define HYBRID_ATTRIBUTES_TD
include "dialect/HybridDialect.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"

class Hybrid_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::hybrid";
  let genSpecializedAttr = 0;
}

def Hybrid_UnaryKind : Hybrid_Enum<"UnaryKind", "elementwise function of one value", [
  I32EnumAttrCase<"Neg", 0, "neg">, I32EnumAttrCase<"Exp", 1, "exp">, I32EnumAttrCase<"Log", 2, "log">,
  I32EnumAttrCase<"Sin", 3, "sin">, I32EnumAttrCase<"Cos", 4, "cos">, I32EnumAttrCase<"Tanh", 5, "tanh">,
  I32EnumAttrCase<"Sigmoid", 6, "sigmoid">, I32EnumAttrCase<"Silu", 7, "silu">,
  I32EnumAttrCase<"Gelu", 8, "gelu">, I32EnumAttrCase<"GeluTanh", 9, "gelu_tanh">,
  I32EnumAttrCase<"Relu", 10, "relu">, I32EnumAttrCase<"Softplus", 11, "softplus">,
  I32EnumAttrCase<"Sqrt", 12, "sqrt">, I32EnumAttrCase<"Rsqrt", 13, "rsqrt">,
  I32EnumAttrCase<"Abs", 14, "abs">, I32EnumAttrCase<"Square", 15, "square">,
  I32EnumAttrCase<"Sign", 16, "sign">, I32EnumAttrCase<"LogSigmoid", 17, "log_sigmoid">,
  I32EnumAttrCase<"Erf", 18, "erf">, I32EnumAttrCase<"Reciprocal", 19, "reciprocal">,
  I32EnumAttrCase<"Elu", 20, "elu">, I32EnumAttrCase<"Expm1", 21, "expm1">, I32EnumAttrCase<"Log1p", 22, "log1p">]>;
def Hybrid_UnaryKindAttr : EnumAttr<Hybrid_Dialect, Hybrid_UnaryKind, "unary"> { let assemblyFormat = "$value"; }

def Hybrid_BinaryKind : Hybrid_Enum<"BinaryKind", "elementwise function of two values", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">, I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Div", 3, "div">, I32EnumAttrCase<"Max", 4, "max">, I32EnumAttrCase<"Min", 5, "min">,
  I32EnumAttrCase<"Equal", 6, "equal">, I32EnumAttrCase<"Less", 7, "less">, I32EnumAttrCase<"Atan2", 8, "atan2">]>;
def Hybrid_BinaryKindAttr : EnumAttr<Hybrid_Dialect, Hybrid_BinaryKind, "binary"> { let assemblyFormat = "$value"; }

def Hybrid_Space : Hybrid_Enum<"Space", "where a buffer lives", [
  I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Parameters", 1, "parameters">,
  I32EnumAttrCase<"Gradients", 2, "gradients">, I32EnumAttrCase<"Moment1", 3, "moment1">,
  I32EnumAttrCase<"Moment2", 4, "moment2">, I32EnumAttrCase<"Constants", 5, "constants">,
  I32EnumAttrCase<"Tile", 6, "tile">]>;

/// A place in a space: byte offset and extent. `#hybrid.buffer<arena, 128, 4096>`.
def Hybrid_BufferAttr : AttrDef<Hybrid_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let parameters = (ins EnumParameter<Hybrid_Space>:$space, "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` $space `,` $offset `,` $bytes `>`";
  let genVerifyDecl = 1;
}

/// How many replicas the programs of a module are for (the module's attribute `hybrid.replicas`; absent: one), and bytes from one
/// to the next in the spaces: replica r has its part of a space at r times that. Constants are shared.
def Hybrid_ReplicasAttr : AttrDef<Hybrid_Dialect, "Replicas"> {
  let mnemonic = "replicas";
  let parameters = (ins "int64_t":$count, "int64_t":$arena, "int64_t":$parameters, "int64_t":$tile);
  let assemblyFormat = "`<` $count `,` `arena` $arena `,` `parameters` $parameters `,` `tile` $tile `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral attributeName = "hybrid.replicas";
    /// Of the module that `op` is in or is; null for one replica.
    static ReplicasAttr of(::mlir::Operation *op);
    int64_t strideOf(Space space) const;
  }];
}
#endif
