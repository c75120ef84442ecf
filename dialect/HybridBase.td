//===- HybridBase.td - types and op classes shared by all groups *- tablegen -*-===//
#ifndef HYBRID_BASE_TD
#define HYBRID_BASE_TD
include "dialect/HybridDialect.td"
include "dialect/HybridAttributes.td"
include "dialect/HybridInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hybrid_Float : AnyTypeOf<[F32, F64]>;
def Hybrid_FloatTensor : RankedTensorOf<[F32, F64]>;
/// Operands of a matrix product: bf16 where `hybrid-round-products` rounded them.
def Hybrid_ProductOperand : RankedTensorOf<[BF16, F32, F64]>;
def Hybrid_IntTensor : RankedTensorOf<[I32]>;
def Hybrid_Tensor : RankedTensorOf<[F32, F64, I32]>;
/// Sizes of a shape: an integer, or the name of a free dimension ("B", "L") until `hybrid-specialize` binds it.
def Hybrid_ShapeAttr : TypedArrayAttrBase<AnyAttrOf<[I64Attr, StrAttr]>, "shape of integers and free dimension names">;

def Hybrid_FusableElementwise : NativeOpTrait<"FusableElementwise"> { let cppNamespace = "::hybrid"; }

/// Each result only gives another name to (a part of) what the first operand holds.
def Hybrid_ViewOfOperand : NativeOpTrait<"ViewOfOperand"> { let cppNamespace = "::hybrid"; }

/// All floating point operands and results have one element type.
def Hybrid_OneFloatType : NativeOpTrait<"OneFloatType"> { let cppNamespace = "::hybrid"; }

/// A matrix product: its two operands have one element type; bf16 operands give an f32 result.
def Hybrid_ProductFloatTypes : NativeOpTrait<"ProductFloatTypes"> { let cppNamespace = "::hybrid"; }

// What most ops implement themselves.
defvar Hybrid_Differentiable = DeclareOpInterfaceMethods<DifferentiableOp>;
defvar Hybrid_Cost = DeclareOpInterfaceMethods<CostOp>;
defvar Hybrid_Stateful = DeclareOpInterfaceMethods<StatefulOp>;
defvar Hybrid_SequenceAxis = DeclareOpInterfaceMethods<SequenceAxisOp, ["getSequenceAxis"]>;

// The empty literal before an enum in an assemblyFormat ("`` $kind") drops one of two spaces: the op's printer and the
// attribute's each emit one.
class Hybrid_Op<string mnemonic, list<Trait> traits = []> : Op<Hybrid_Dialect, mnemonic, traits>;
/// An op without side effects whose result types follow from its operands and attributes.
class Hybrid_PureOp<string mnemonic, list<Trait> traits = []>
    : Hybrid_Op<mnemonic, !listconcat([Pure, Hybrid_OneFloatType, InferTypeOpAdaptor], traits)>;
class Hybrid_ProductOp<string mnemonic, list<Trait> traits = []>
    : Hybrid_Op<mnemonic, !listconcat([Pure, Hybrid_ProductFloatTypes, InferTypeOpAdaptor], traits)>;
#endif
