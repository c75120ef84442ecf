//===- HybridBase.td - types and op classes shared by all groups *- tablegen -*-===//
#ifndef HYBRID_BASE_TD
#define HYBRID_BASE_TD
include "dialect/HybridDialect.td"
include "dialect/HybridAttributes.td"
include "dialect/HybridInterfaces.td"
include "dialect/SequenceInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hybrid_Float : AnyTypeOf<[F32, F64]>;
def Hybrid_FloatTensor : RankedTensorOf<[F32, F64]>;
/// Operands of a matrix product: bf16 where `hybrid-round-products` rounded them.
def Hybrid_ProductOperand : RankedTensorOf<[BF16, F32, F64]>;
def Hybrid_IntTensor : RankedTensorOf<[I32]>;
def Hybrid_Tensor : RankedTensorOf<[F32, F64, I32]>;
/// Of what is only moved: operands of products, too.
def Hybrid_MovedTensor : RankedTensorOf<[BF16, F32, F64, I32]>;
/// Sizes of a shape: an integer, or the name of a free dimension ("B", "L", "L - 1") until `hybrid-specialize` binds it.
def Hybrid_ShapeAttr : TypedArrayAttrBase<AnyAttrOf<[I64Attr, StrAttr]>, "shape of integers and free dimension names">;

/// Such a size alone.
def Hybrid_SizeAttr : TypedArrayAttrBase<AnyAttrOf<[I64Attr, StrAttr]>, "size: an integer or a free dimension name">;
/// A dimension of the first tensor. The language counts it from the end as well, and means the last when it is left out.
def Hybrid_AxisAttr : TypedSignlessIntegerAttrBase<I64, "uint64_t", "dimension of a tensor">;
def Hybrid_AxesAttr : DenseArrayAttrBase<"DenseI64ArrayAttr", "int64_t", "i64">;

def Hybrid_FusableElementwise : NativeOpTrait<"FusableElementwise"> { let cppNamespace = "::hybrid"; }

/// Each result only gives another name to (a part of) what the first operand holds.
def Hybrid_ViewOfOperand : NativeOpTrait<"ViewOfOperand"> { let cppNamespace = "::hybrid"; }

/// All floating point operands and results have one element type.
def Hybrid_OneFloatType : NativeOpTrait<"OneFloatType"> { let cppNamespace = "::hybrid"; }

/// A matrix product: its two operands have one element type; bf16 operands give an f32 result.
def Hybrid_ProductFloatTypes : NativeOpTrait<"ProductFloatTypes"> { let cppNamespace = "::hybrid"; }

def operator;
def given;
// What most ops implement themselves.
defvar Hybrid_Differentiable = DeclareOpInterfaceMethods<DifferentiableOp>;
defvar Hybrid_Cost = DeclareOpInterfaceMethods<CostOp>;
defvar Hybrid_Stateful = DeclareOpInterfaceMethods<StatefulOp>;
defvar Hybrid_Indexing = DeclareOpInterfaceMethods<IndexingOp>;
defvar Hybrid_Positions = DeclareOpInterfaceMethods<PositionsOp>;
defvar Hybrid_SequenceAxis = DeclareOpInterfaceMethods<SequenceAxisOp, ["getSequenceAxis"]>;

// The empty literal before an enum in an assemblyFormat ("`` $kind") drops one of two spaces: the op's printer and the
// attribute's each emit one.
class Hybrid_Op<string mnemonic, list<Trait> traits = []> : Op<Hybrid_Dialect, mnemonic, traits> {
  /// The parameters of `op.NAME`, in the order in which the language takes them: operands and attributes, `(operator $x, $weight)`. `"eps":$epsilon`
  /// has another name there, `"kv_heads = heads":$kv_heads` is another parameter's value when it is left out, `1:$weighted` is always set and none
  /// of them. An op without it is not one of the language's.
  dag language = ?;
  /// The results that the language gives, `(given $result)`; all when there are none.
  dag languageResults = (given);
}
/// An op without side effects whose result types follow from its operands and attributes.
class Hybrid_PureOp<string mnemonic, list<Trait> traits = []>
    : Hybrid_Op<mnemonic, !listconcat([Pure, Hybrid_OneFloatType, InferTypeOpAdaptor], traits)>;
class Hybrid_ProductOp<string mnemonic, list<Trait> traits = []>
    : Hybrid_Op<mnemonic, !listconcat([Pure, Hybrid_ProductFloatTypes, InferTypeOpAdaptor], traits)>;
#endif
