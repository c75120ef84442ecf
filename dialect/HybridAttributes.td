//===- HybridAttributes.td - enums and attributes ---------------*- tablegen -*-===//
#ifndef HYBRID_ATTRIBUTES_TD
#define HYBRID_ATTRIBUTES_TD
include "dialect/HybridDialect.td"
include "dialect/ScalarFunctions.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"

class Hybrid_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::hybrid";
  let genSpecializedAttr = 0;
}

def Hybrid_UnaryKind : Hybrid_Enum<"UnaryKind", "elementwise function of one value", !instances<Hybrid_UnaryFunction>()>;
def Hybrid_UnaryKindAttr : EnumAttr<Hybrid_Dialect, Hybrid_UnaryKind, "unary"> { let assemblyFormat = "$value"; }

def Hybrid_BinaryKind : Hybrid_Enum<"BinaryKind", "elementwise function of two values", !instances<Hybrid_BinaryFunction>()>;
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
