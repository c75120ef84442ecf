//===- ProgramOps.td - the scheduled form -----------------------*- tablegen -*-===//
#ifndef HYBRID_PROGRAM_OPS_TD
#define HYBRID_PROGRAM_OPS_TD
include "dialect/HybridBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Hybrid_BufferArrayAttr : TypedArrayAttrBase<Hybrid_BufferAttr, "buffers">;

def Hybrid_ProgramOp : Hybrid_Op<"program", [Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a flat list of launches over one arena";
  let description = "What becomes a program of the executable: see codegen/Executable.fbs.";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arena_bytes, ArrayAttr:$inputs, ArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `arena` $arena_bytes `inputs` $inputs `outputs` $outputs attr-dict-with-keyword $body";
}

def Hybrid_LaunchOp : Hybrid_Op<"launch"> {
  let summary = "run a kernel over a grid of independent work items";
  let description = [{
    `kernel` names a generated function of this module (`generated`) or a kernel of the library, specialised by `constants`, the words of its parameter struct
    (codegen/cpu/kernels/Kernels.h). An empty buffer (0 bytes) is an absent optional one.
  }];
  let arguments = (ins StrAttr:$kernel, I64Attr:$grid, ArrayAttr:$buffers, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$constants,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_bytes, UnitAttr:$generated, StrAttr:$source);
  let assemblyFormat = "$kernel `for` $source `grid` $grid `buffers` $buffers attr-dict";
}

def Hybrid_LibraryMatmulOp : Hybrid_Op<"library_matmul"> {
  let summary = "matrix product of the runtime's matrix library";
  let description = "`buffers`: a, b, c and optionally bias. Leading dimensions in elements.";
  let arguments = (ins ArrayAttr:$buffers, I64Attr:$m, I64Attr:$n, I64Attr:$k, I64Attr:$lda, I64Attr:$ldb, I64Attr:$ldc,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$accumulate, TypeAttr:$element_type, StrAttr:$source);
  let assemblyFormat = "$m `x` $n `x` $k `of` $element_type `for` $source `buffers` $buffers attr-dict";
}
#endif
