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

def Hybrid_ReduceKind : Hybrid_Enum<"ReduceKind", "how a reduction combines values", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">, I32EnumAttrCase<"Max", 2, "max">]>;
def Hybrid_ReduceKindAttr : EnumAttr<Hybrid_Dialect, Hybrid_ReduceKind, "reduction"> { let assemblyFormat = "$value"; }

def Hybrid_Neighbour : Hybrid_Enum<"Neighbour", "the rank that has a neighbouring part of a sequence", [
  I32EnumAttrCase<"Previous", 0, "previous">, I32EnumAttrCase<"Next", 1, "next">]>;
def Hybrid_NeighbourAttr : EnumAttr<Hybrid_Dialect, Hybrid_Neighbour, "neighbour"> { let assemblyFormat = "$value"; }

/// What integers may be that name a place: from 0 to below `below`, or `also`. `#hybrid.ids<below 16 or -100>`.
def Hybrid_IdsAttr : AttrDef<Hybrid_Dialect, "Ids"> {
  let mnemonic = "ids";
  let parameters = (ins "int64_t":$below, DefaultValuedParameter<"int64_t", "0">:$also);
  let assemblyFormat = "`<` `below` $below (`or` $also^)? `>`";
  let genVerifyDecl = 1;
}
#endif
