//===- ProgramOps.td - the scheduled form -----------------------*- tablegen -*-===//
#ifndef HYBRID_PROGRAM_OPS_TD
#define HYBRID_PROGRAM_OPS_TD
include "dialect/HybridBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Hybrid_BufferArrayAttr : TypedArrayAttrBase<Hybrid_BufferAttr, "buffers">;

def Hybrid_ProgramOp : Hybrid_Op<"program", [Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "launches, library calls and loops over tiles, over one arena";
  let description = [{
    What becomes a program of the executable: see executable/Executable.fbs.

    - C1: arena_bytes is not negative
    - C2: the body holds launches, library calls and loops over tiles only, and every arena buffer in it ends inside the arena

    ```mlir
    hybrid.program @forward arena 256 inputs [] outputs [] {
      hybrid.launch "fused0" for "model.hyb:7" grid 2 buffers [#hybrid.buffer<parameters, 0, 128>, #hybrid.buffer<arena, 128, 128>] {generated}
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arena_bytes, ArrayAttr:$inputs, ArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `arena` $arena_bytes `inputs` $inputs `outputs` $outputs attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Hybrid_TileLoopOp : Hybrid_Op<"tile_loop", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "launches and products that run tile of rows by tile of rows";
  let description = [{
    For every tile of `tile` rows (the last may be smaller) the whole body runs on its rows: a launch on its share of the grid
    (`items_per_tile`), a matrix product on its rows (`tile_rows`) or adding up its part of a sum over rows (`tile_sum`). Tiles are spread
    over threads, or follow one another (`sequential`). Buffers in the space `tile` hold one tile at a time, `tile_bytes` in all; a thread has its own.

    - C1: tile is at least 1 and at most `rows`, and tile_bytes is not negative
    - C2: the body holds launches with items_per_tile and products with one of tile_rows and tile_sum, and every tile buffer ends inside tile_bytes
    - C3: only sequential tiles have tile_sum

    ```mlir
    hybrid.tile_loop 4096 by 128 for "row_tiles(rmsnorm, linear)" attributes {tile_bytes = 65536 : i64} {
      hybrid.launch "rmsnorm" for "rmsnorm" grid 4096 buffers [#hybrid.buffer<arena, 0, 2097152>, #hybrid.buffer<tile, 0, 65536>] {items_per_tile = 128 : i64, row_bytes = array<i64: 0, 512>}
    }
    ```
  }];
  let arguments = (ins I64Attr:$rows, I64Attr:$tile, DefaultValuedAttr<I64Attr, "0">:$tile_bytes, UnitAttr:$sequential, StrAttr:$source);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$rows `by` $tile `for` $source attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Hybrid_LaunchOp : Hybrid_Op<"launch"> {
  let summary = "run a kernel over a grid of independent work items";
  let description = [{
    `kernel` names a generated function of this module (`generated`) or a kernel of the library: on the CPU specialised by `constants`, the words of its
    parameter struct (codegen/kernels/Kernel.h), on CUDA a template with its arguments, whose work items are blocks of `threads` threads with
    `scratch_bytes` of shared memory. `store` is then the type of what the kernel calls with each element of its result, which takes the last
    `store_buffers` buffers: it stores the element, or computes with it what a neighbour did (a fused store). An empty buffer (0 bytes) is an absent
    optional one.

    In a `tile_loop`, `items_per_tile` work items belong to a tile, and `row_bytes` has an entry a buffer: the distance of rows in a tile
    buffer, 0 for the others.

    - C1: grid, scratch_bytes, threads and items_per_tile are not negative
    - C2: row_bytes is empty or has an entry a buffer
    - C3: store_buffers are among the buffers

    ```mlir
    hybrid.launch "rmsnorm" for "model.hyb:7" grid 2 buffers [#hybrid.buffer<arena, 0, 128>, #hybrid.buffer<arena, 128, 128>] {constants = array<i64: 8, 4>}
    ```
  }];
  let arguments = (ins StrAttr:$kernel, I64Attr:$grid, Hybrid_BufferArrayAttr:$buffers, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$constants,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_bytes, UnitAttr:$generated, StrAttr:$source,
                       DefaultValuedAttr<I64Attr, "0">:$items_per_tile, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$row_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$threads, DefaultValuedAttr<StrAttr, "\"\"">:$store,
                       DefaultValuedAttr<I64Attr, "0">:$store_buffers);
  let assemblyFormat = "$kernel `for` $source `grid` $grid `buffers` $buffers attr-dict";
  let hasVerifier = 1;
}

def Hybrid_KernelSourceOp : Hybrid_Op<"kernel_source", [Symbol]> {
  let summary = "the text of a generated kernel, in the language of the target";
  let description = [{
    A function of the name `sym_name` that launches with `generated` call; CUDA C++ over codegen/kernels/cuda/Prelude.cuh. `uses` names the
    kernels of the library and the other texts that it calls.

    ```mlir
    hybrid.kernel_source @fill_0 "HYBRID_DEVICE void fill_0(int64_t item, float *y) { y[item] = 0; }"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$text, DefaultValuedAttr<StrArrayAttr, "{}">:$uses);
  let assemblyFormat = "$sym_name $text attr-dict";
}

def Hybrid_LibraryMatmulOp : Hybrid_Op<"library_matmul"> {
  let summary = "matrix product of the runtime's matrix library";
  let description = [{
    `C = A B (+ bias)`, or `C += A B (+ bias)` with `accumulate`; `m`, `n`, `k` after transposition. `buffers`: a, b, c and optionally bias. Leading
    dimensions in elements. With `ld_addend` there is one more buffer, the last: what is added, m x n with that leading dimension, apart from C. With `groups` E > 0 it is E products whose sizes are known when it runs: the last buffer holds the E + 1 row numbers `offsets`
    (i32), and product e takes the rows offsets[e] up to offsets[e+1] of m (of k with `transpose_a`), matrix e of b (of c), `group_stride` elements apart.
    Rows of c from offsets[E] on become 0. In a `tile_loop`, `tile_rows` cuts m and `tile_sum` cuts k.

    - C1: there are three or four buffers and with `ld_addend` one more; with groups four, without bias
    - C2: m, n, k, groups and ld_addend are not negative
    - C3: with `ld_addend` there are no groups and nothing accumulates

    ```mlir
    hybrid.library_matmul 16 x 8 x 4 of f32 for "model.hyb:7" buffers [#hybrid.buffer<arena, 0, 256>, #hybrid.buffer<parameters, 0, 128>, #hybrid.buffer<arena, 256, 512>] {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
    ```
  }];
  let arguments = (ins Hybrid_BufferArrayAttr:$buffers, I64Attr:$m, I64Attr:$n, I64Attr:$k, I64Attr:$lda, I64Attr:$ldb, I64Attr:$ldc,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$accumulate, TypeAttr:$element_type, StrAttr:$source,
                       DefaultValuedAttr<I64Attr, "0">:$groups, DefaultValuedAttr<I64Attr, "0">:$group_stride,
                       UnitAttr:$tile_rows, UnitAttr:$tile_sum, DefaultValuedAttr<I64Attr, "0">:$ld_addend);
  let assemblyFormat = "$m `x` $n `x` $k `of` $element_type `for` $source `buffers` $buffers attr-dict";
  let hasVerifier = 1;
}
def Hybrid_LibraryAttentionOp : Hybrid_Op<"library_attention"> {
  let summary = "softmax attention of the runtime's attention library, or its gradient";
  let description = [{
    Of bf16 tensors, with statistics in f32. `buffers`: q [batch, length, heads, head_size], k and v [batch, key_length, kv_heads, head_size],
    o as q, lse [batch, heads, length]; with `backward`, o and lse are read and behind them are the gradients of o (read), q, k and v, and room
    for the library of the size of lse. `strides`: of each bf16 tensor in this order the distances of batch rows, rows and heads in elements.
    `causal`: queries see the keys up to their own number. Sums are in the same order in every run.

    - C1: there are 5 buffers, with `backward` 10
    - C2: sizes are positive and kv_heads divides heads
    - C3: there are 3 strides for each of the 4 (with `backward` 8) bf16 tensors, none negative
    - C4: length and key_length are equal where `causal`

    ```mlir
    hybrid.library_attention heads 2 kv_heads 1 of 64 batch 1 queries 8 keys 8 for "attention" buffers [#hybrid.buffer<arena, 0, 2048>, #hybrid.buffer<arena, 2048, 1024>, #hybrid.buffer<arena, 3072, 1024>, #hybrid.buffer<arena, 4096, 2048>, #hybrid.buffer<arena, 6144, 64>] {causal, scale = 1.25e-01 : f64, strides = array<i64: 1024, 128, 64, 512, 64, 64, 512, 64, 64, 1024, 128, 64>}
    ```
  }];
  let arguments = (ins Hybrid_BufferArrayAttr:$buffers, I64Attr:$batch, I64Attr:$length, I64Attr:$key_length, I64Attr:$heads, I64Attr:$kv_heads,
                       I64Attr:$head_size, UnitAttr:$causal, UnitAttr:$backward, F64Attr:$scale, DenseI64ArrayAttr:$strides, StrAttr:$source);
  let assemblyFormat = [{ `heads` $heads `kv_heads` $kv_heads `of` $head_size `batch` $batch `queries` $length `keys` $key_length `for` $source
    `buffers` $buffers attr-dict }];
  let hasVerifier = 1;
}
#endif
