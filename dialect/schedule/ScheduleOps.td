//===- ScheduleOps.td - programs, their buffers and their steps -*- tablegen -*-===//
#ifndef SCHEDULE_OPS_TD
#define SCHEDULE_OPS_TD
include "dialect/schedule/ScheduleBase.td"

//===-- programs and buffers ----------------------------------------------------===//

def Schedule_ProgramOp : Schedule_Op<"program", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "launches, library calls and loops over tiles, in order";
  let description = [{
    What becomes a program of the executable: see executable/Executable.fbs. Until its arena is planned, its body declares buffers, inputs and outputs as
    ops; then the program has its arena's size and the places of inputs and outputs, and its body holds steps alone.

    - C1: arena_bytes is not negative
    - C2: with arena_bytes the body holds launches, library calls and loops over tiles only, and every arena buffer in it ends inside the arena
    - C3: without, it holds steps, buffers, views and outputs only

    ```mlir
    schedule.program @forward {
      %x = schedule.buffer arena "x" : memref<4x8xf32>
      %y = schedule.buffer arena : memref<4x8xf32>
      schedule.launch "rmsnorm" for "rmsnorm" grid 4 (%x, %y : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
      schedule.output "y" %y : memref<4x8xf32>
    }
    schedule.program @eval arena 256 inputs [] outputs [] {
      schedule.launch "fused0" for "model.hyb:7" grid 2 buffers [#schedule.buffer<parameters, 0, 128>, #schedule.buffer<arena, 128, 128>] {generated}
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<I64Attr>:$arena_bytes, DefaultValuedAttr<ArrayAttr, "{}">:$inputs,
                       DefaultValuedAttr<ArrayAttr, "{}">:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>]; // of an unplaced one
  let assemblyFormat = "$sym_name (`arena` $arena_bytes^ `inputs` $inputs `outputs` $outputs)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Schedule_BufferOp : Schedule_Op<"buffer"> {
  let summary = "memory of a program";
  let description = [{
    Elements in a space, from byte `at` on once that is known. In the arena a named buffer is an input of the program: it holds its value before the
    program runs; `ids` say what its integers may be (`hybrid-bound-ids`). A buffer in the space `tile` has the shape of all rows, of which one tile exists at a time.

    - C1: the elements lie densely
    - C2: only an input of i32 has ids

    ```mlir
    schedule.program @forward {
      %x = schedule.buffer arena "x" : memref<4x8xf32>
      %w = schedule.buffer parameters "blocks.0.w" at 128 : memref<8x8xf32>
      %y = schedule.buffer arena : memref<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Schedule_SpaceAttr:$space, OptionalAttr<StrAttr>:$name, OptionalAttr<I64Attr>:$at, OptionalAttr<Hybrid_IdsAttr>:$ids);
  let results = (outs Schedule_Memory:$result);
  let assemblyFormat = "`` $space ($name^)? (`at` $at^)? (`ids` `` $ids^)? attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    /// Whether it holds its value before the program runs.
    bool isInput() { return getSpace() == Space::Arena && getName(); }
    int64_t getBytes();
  }];
  let hasVerifier = 1;
}

def Schedule_BufferViewOp : Schedule_Op<"view", [Pure]> {
  let summary = "elements of a buffer, seen with a shape, strides and an offset";
  let description = [{
    The strides and the offset of the result's type count from the start of the buffer. A stride of 0 repeats what lies there.

    - C1: the view ends inside the buffer, and has its type of elements

    ```mlir
    schedule.program @forward {
      %p = schedule.buffer arena : memref<6x24xf32>
      %second = schedule.view %p : memref<6x24xf32> as memref<6x8xf32, strided<[24, 1], offset: 8>>
    }
    ```
  }];
  let arguments = (ins Schedule_Memory:$buffer);
  let results = (outs Schedule_Memory:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `as` type($result)";
  let hasVerifier = 1;
}

def Schedule_AbsentOp : Schedule_Op<"absent", [Pure]> {
  let summary = "stands where a launch has no optional buffer";
  let description = [{
    ```mlir
    schedule.program @forward {
      %none = schedule.absent : memref<0xf32>
    }
    ```
  }];
  let results = (outs Schedule_Memory:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Schedule_OutputOp : Schedule_Op<"output"> {
  let summary = "a result of a program, read after it ran";
  let description = [{
    ```mlir
    schedule.program @forward {
      %y = schedule.buffer arena : memref<4x8xf32>
      schedule.output "y" %y : memref<4x8xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Schedule_Memory:$value);
  let assemblyFormat = "$name $value attr-dict `:` type($value)";
}

//===-- steps that kernels are generated for ------------------------------------===//

def Schedule_ComputeOp : Schedule_Step<"compute", [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock]> {
  let summary = "an elementwise region over views";
  let description = [{
    Every element of the outputs from the elements of the inputs at the same index. The body's arguments stand for the inputs; it holds
    elementwise ops of the graph and constants, and `schedule.yield` names the outputs.

    - C1: all views have one shape
    - C2: the body has an argument an input and yields a value an output

    ```mlir
    schedule.program @forward {
      %a = schedule.buffer arena : memref<4x8xf32>
      %b = schedule.buffer arena : memref<4x8xf32>
      schedule.compute for "fused(silu)" (%a) -> (%b) : (memref<4x8xf32>) -> memref<4x8xf32> {
      ^bb0(%x: tensor<4x8xf32>):
        %y = hybrid.unary silu %x : tensor<4x8xf32>
        schedule.yield %y : tensor<4x8xf32>
      }
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$inputs, Variadic<Schedule_Memory>:$outputs, StrAttr:$source);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`for` $source ` ` `(` $inputs `)` `->` `(` $outputs `)` attr-dict `:` functional-type($inputs, $outputs) $body";
  let hasVerifier = 1;
}

def Schedule_CopyOp : Schedule_Step<"copy"> {
  let summary = "the elements of one view into another";
  let description = [{
    - C1: both have one shape and one type of elements

    ```mlir
    schedule.program @forward {
      %a = schedule.buffer arena : memref<4x8xf32>
      %b = schedule.buffer arena : memref<8x4xf32>
      %t = schedule.view %a : memref<4x8xf32> as memref<8x4xf32, strided<[1, 8]>>
      schedule.copy for "transpose" %t to %b : memref<8x4xf32, strided<[1, 8]>>, memref<8x4xf32>
    }
    ```
  }];
  let arguments = (ins Schedule_Memory:$from, Schedule_Memory:$to, StrAttr:$source);
  let assemblyFormat = "`for` $source $from `to` $to attr-dict `:` type($from) `,` type($to)";
  let hasVerifier = 1;
}

def Schedule_FillOp : Schedule_Step<"fill"> {
  let summary = "one value into all elements of a view";
  let description = [{
    ```mlir
    schedule.program @forward {
      %a = schedule.buffer arena : memref<4x8xf32>
      schedule.fill for "pad" %a with 0.0 : memref<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Schedule_Memory:$to, F64Attr:$value, StrAttr:$source);
  let assemblyFormat = "`for` $source $to `with` $value attr-dict `:` type($to)";
}

def Schedule_ReductionOp : Schedule_Step<"reduce", [IsolatedFromAbove, SingleBlock]> {
  let summary = "sum, mean or maximum over dimensions of a view";
  let description = [{
    What is reduced are the elements of the one input, or what the region `load` makes of those of several (as in `schedule.compute`).

    - C1: all inputs have one shape, and axes are among its dimensions
    - C2: without `load` there is one input; with, it has an argument an input and yields one value

    ```mlir
    schedule.program @forward {
      %a = schedule.buffer arena : memref<4x8xf32>
      %b = schedule.buffer arena : memref<8xf32>
      schedule.reduce sum for "reduce" (%a) over [0] to %b : (memref<4x8xf32>) -> memref<8xf32>
    }
    ```
  }];
  let arguments = (ins Hybrid_ReduceKindAttr:$kind, Variadic<Schedule_Memory>:$inputs, Schedule_Memory:$to, DenseI64ArrayAttr:$axes, StrAttr:$source);
  let regions = (region AnyRegion:$load);
  let assemblyFormat = [{ `` $kind `for` $source ` ` `(` $inputs `)` `over` $axes `to` $to attr-dict `:` functional-type($inputs, $to)
    (`load` $load^)? }];
  let hasVerifier = 1;
}

def Schedule_RowSumsOp : Schedule_Step<"row_sums", [IsolatedFromAbove, SingleBlock]> {
  let summary = "sums of groups of rows of a matrix";
  let description = [{
    Row i of the result is `scale` times the sum of the `rows_per_item` rows of the input from i * `rows_per_item` on, or of what `load` makes of
    several inputs.

    - C1: all inputs are matrices of one shape, and the result has a row for each group of their rows
    - C2: without `load` there is one input; with, it has an argument an input and yields one value

    ```mlir
    schedule.program @forward {
      %a = schedule.buffer arena : memref<64x8xf32>
      %b = schedule.buffer arena : memref<4x8xf32>
      schedule.row_sums for "reduce" (%a) by 16 scale 1.0 to %b : (memref<64x8xf32>) -> memref<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$inputs, Schedule_Memory:$to, I64Attr:$rows_per_item, F64Attr:$scale, StrAttr:$source);
  let regions = (region AnyRegion:$load);
  let assemblyFormat = [{ `for` $source ` ` `(` $inputs `)` `by` $rows_per_item `scale` $scale `to` $to attr-dict
    `:` functional-type($inputs, $to) (`load` $load^)? }];
  let hasVerifier = 1;
}

def Schedule_RecurrenceStepOp : Schedule_Step<"recurrence", [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "a step of the model's own, position by position, or its gradient";
  let description = [{
    What `hybrid.recurrence` says, and with the region `gradient` what `hybrid.recurrence_grad` does, for `batch_rows` sequences a work item. `rows` are written
    at each position, `sums` by each item: [items, ...]. `final_state` is the state behind the last position, of the gradient that before the first. `frame` is
    room for the values of a step, of each item; `trajectory` for the states before each of `kept` positions and those between such stretches.

    - C1: batch_rows divides the batch, and kept is at least 1
    - C2: the regions end in schedule.yield

    ```mlir
    schedule.program @forward {
      %x = schedule.buffer arena "x" : memref<2x8x4xf32>
      %y = schedule.buffer arena : memref<2x8x4xf32>
      %room = schedule.buffer arena : memref<1x32xf32>
      schedule.recurrence for "recurrence" inputs(%x : memref<2x8x4xf32>) rows(%y : memref<2x8x4xf32>) frame(%room : memref<1x32xf32>) batch 2 length 8 by 2 kept 8 step {
      ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>):
        %n = hybrid.binary add %h, %xt : tensor<4xf32>, tensor<4xf32>
        schedule.yield %n, %n : tensor<4xf32>, tensor<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$inputs, Variadic<Schedule_Memory>:$invariants, Optional<Schedule_Memory>:$segments,
                       Optional<Schedule_Memory>:$initial_state, Optional<Schedule_Memory>:$cotangent, Optional<Schedule_Memory>:$state_cotangent,
                       Variadic<Schedule_Memory>:$rows, Variadic<Schedule_Memory>:$sums, Optional<Schedule_Memory>:$final_state,
                       Schedule_Memory:$frame, Optional<Schedule_Memory>:$trajectory, I64Attr:$batch, I64Attr:$length, I64Attr:$batch_rows,
                       I64Attr:$kept, StrAttr:$source);
  let regions = (region SizedRegion<1>:$step, AnyRegion:$gradient);
  let assemblyFormat = [{ `for` $source `inputs` `(` $inputs `:` type($inputs) `)` oilist(
    `invariants` `(` $invariants `:` type($invariants) `)` | `segments` `(` $segments `:` type($segments) `)` |
    `initial_state` `(` $initial_state `:` type($initial_state) `)` | `cotangent` `(` $cotangent `:` type($cotangent) `)` |
    `state_cotangent` `(` $state_cotangent `:` type($state_cotangent) `)` | `rows` `(` $rows `:` type($rows) `)` |
    `sums` `(` $sums `:` type($sums) `)` | `final_state` `(` $final_state `:` type($final_state) `)` |
    `trajectory` `(` $trajectory `:` type($trajectory) `)`) `frame` `(` $frame `:` type($frame) `)`
    `batch` $batch `length` $length `by` $batch_rows `kept` $kept attr-dict `step` $step (`gradient` $gradient^)? }];
  let hasVerifier = 1;
}

def Schedule_YieldElementsOp : Schedule_Op<"yield", [Pure, Terminator]> {
  let summary = "results of a region for each element";
  let description = "Ends the region of `schedule.compute`, a `load` or a `store`.";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===-- steps of the executable -------------------------------------------------===//
//
// Before the arena is planned they have operands, afterwards `buffers`, one for each of them.

def Schedule_LaunchOp : Schedule_Step<"launch", [IsolatedFromAbove, SingleBlock]> {
  let summary = "run a kernel over a grid of independent work items";
  let description = [{
    `kernel` names a generated function of this module (`generated`) or a kernel of the library: on the CPU specialised by `constants`, the words of its
    parameter struct (codegen/kernels/Kernel.h), on CUDA a template with its arguments, whose work items are blocks of `threads` threads with
    `scratch_bytes` of shared memory. `writes` numbers the operands or buffers that it writes, of a kernel of the library as its contract says; it reads the others.

    `store` is the type of what a kernel for CUDA calls with each element of its result, which takes the last `store_buffers` buffers: it stores the element, or
    computes with it what a neighbour did. Then, until kernels are emitted, it stands as the region `storing`: its arguments are the element
    and those of the operands that it reads; what it yields goes into the operands behind them.

    `functions` names what the kernel calls of this module (`schedule.function`): on CUDA they are arguments of the template behind its
    constants, on the CPU their addresses take the place of the last words of its constants, the first function's that of the last word.

    A kernel that `stores_rows` has a whole row of its result in neighbouring lanes when it stores that, where a function of rows can be computed. `row_operand` numbers the
    operand whose rows, one by one, those of a kernel's result are such a function of (-1: none): another kernel's store can compute that (`schedule-fuse-rows`). There
    `row_function` is the kernel in whose place it does so, and the `row_function_buffers` buffers in front of the store's are what that takes beside the rows.

    An empty buffer (0 bytes) is an absent optional one. In a `tile_loop`, `items_per_tile` work items belong to a tile, and `row_bytes` has an entry
    a buffer: the distance of rows in a tile buffer, 0 for the others.

    `item_spans` says where in the spaces laid out like parameters the items work: three numbers a span, its first item, the byte where that begins and the bytes of
    each. Of several ranks one runs the items that work on what it owns (executable/OptimizerShards.h); without spans all run all.

    An item of a `brief` kernel takes hardly longer than to read its buffers, by its contract; one of a generated kernel does so, too.

    `activations` numbers operands that a kernel takes as bf16 as well as f32, by its contract (`schedule-round-buffers`), `roundable` those that it
    takes so where they are an activation of another step, `rounded` those that are.

    - C1: grid, scratch_bytes, threads and items_per_tile are not negative
    - C2: row_bytes is empty or has an entry a buffer
    - C3: store_buffers are among the buffers
    - C4: there are operands, or buffers, but not both; writes are among the operands or buffers
    - C5: a region `storing` has the element and some of the store's operands as arguments, and yields the others
    - C6: item_spans are threes of numbers; the first span begins with item 0 and the others behind it, in order, below the grid; places are not negative and bytes positive
    - C7: activations, roundable and rounded are among the operands or buffers
    - C8: row_operand is one of the operands or buffers, or -1; those of a row_function and of the store are among them, and there are none without a row_function

    ```mlir
    schedule.program @forward arena 256 inputs [] outputs [] {
      schedule.launch "rmsnorm" for "model.hyb:7" grid 2 buffers [#schedule.buffer<arena, 0, 128>, #schedule.buffer<arena, 128, 128>] {constants = array<i64: 8, 4>}
    }
    ```
  }];
  let arguments = (ins StrAttr:$kernel, I64Attr:$grid, Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$writes, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$constants,
                       DefaultValuedAttr<I64Attr, "0">:$scratch_bytes, UnitAttr:$generated, UnitAttr:$brief, StrAttr:$source,
                       DefaultValuedAttr<I64Attr, "0">:$items_per_tile, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$row_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$threads, DefaultValuedAttr<StrAttr, "\"\"">:$store,
                       DefaultValuedAttr<I64Attr, "0">:$store_buffers, DefaultValuedAttr<StrArrayAttr, "{}">:$functions,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$item_spans, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$activations,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$roundable, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rounded,
                       UnitAttr:$stores_rows, DefaultValuedAttr<I64Attr, "-1">:$row_operand, DefaultValuedAttr<StrAttr, "\"\"">:$row_function,
                       DefaultValuedAttr<I64Attr, "0">:$row_function_buffers);
  let regions = (region AnyRegion:$storing);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$kernel, "int64_t":$grid, "::mlir::ValueRange":$views, "::llvm::StringRef":$source,
                                 "::llvm::ArrayRef<int64_t>":$constants, "::hybrid::LaunchConfiguration":$configuration, "::llvm::ArrayRef<int64_t>":$writes)>];
  let assemblyFormat = [{ $kernel `for` $source `grid` $grid (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict
    (`storing` $storing^)? }];
  let hasVerifier = 1;
}

def Schedule_LibraryMatmulOp : Schedule_Step<"library_matmul"> {
  let summary = "matrix product of the runtime's matrix library";
  let description = [{
    `C = A B (+ bias)`, or `C += A B (+ bias)` with `accumulate`; `m`, `n`, `k` after transposition. `buffers`: a, b, c and optionally bias. Leading
    dimensions in elements. With `ld_addend` there is one more buffer, the last: what is added, m x n with that leading dimension, apart from C. With `groups` E > 0 it is E products whose sizes are known when it runs: the last buffer holds the E + 1 row numbers `offsets`
    (i32), and product e takes the rows offsets[e] up to offsets[e+1] of m (of k with `transpose_a`), matrix e of b (of c), `group_stride` elements apart.
    Rows of c from offsets[E] on become 0. In a `tile_loop`, `tile_rows` cuts m and `tile_sum` cuts k. With `batch` above 1 it is that many products of one
    size; matrices of a, b and c are `batch_strides` elements apart, 0 where all products read one.

    - C1: there are three or four buffers and with `ld_addend` one more; with groups four, without bias
    - C2: m, n, k, groups and ld_addend are not negative
    - C3: with `ld_addend` there are no groups and nothing accumulates
    - C4: there are operands, or buffers, but not both
    - C5: with a batch there are three strides, none negative, and no groups, bias, addend or tiles
    - C6: `rounds_result`, with which C and a bias are bf16 as A and B are, needs these to be, and neither addend, groups, tile_sum nor accumulate

    ```mlir
    schedule.program @forward arena 768 inputs [] outputs [] {
      schedule.library_matmul 16 x 8 x 4 of f32 for "model.hyb:7" buffers [#schedule.buffer<arena, 0, 256>, #schedule.buffer<parameters, 0, 128>, #schedule.buffer<arena, 256, 512>] {lda = 4 : i64, ldb = 4 : i64, ldc = 8 : i64, transpose_b}
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, I64Attr:$m, I64Attr:$n, I64Attr:$k,
                       I64Attr:$lda, I64Attr:$ldb, I64Attr:$ldc,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$accumulate, TypeAttr:$element_type, StrAttr:$source,
                       DefaultValuedAttr<I64Attr, "0">:$groups, DefaultValuedAttr<I64Attr, "0">:$group_stride,
                       UnitAttr:$tile_rows, UnitAttr:$tile_sum, DefaultValuedAttr<I64Attr, "0">:$ld_addend,
                       DefaultValuedAttr<I64Attr, "1">:$batch, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$batch_strides,
                       UnitAttr:$rounds_result);
  let assemblyFormat = [{ $m `x` $n `x` $k `of` $element_type `for` $source (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
}

def Schedule_LibraryAttentionOp : Schedule_Step<"library_attention"> {
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
    - C5: there are operands, or buffers, but not both

    ```mlir
    schedule.program @forward arena 8192 inputs [] outputs [] {
      schedule.library_attention heads 2 kv_heads 1 of 64 batch 1 queries 8 keys 8 for "attention" buffers [#schedule.buffer<arena, 0, 2048>, #schedule.buffer<arena, 2048, 1024>, #schedule.buffer<arena, 3072, 1024>, #schedule.buffer<arena, 4096, 2048>, #schedule.buffer<arena, 6144, 64>] {causal, scale = 1.25e-01 : f64, strides = array<i64: 1024, 128, 64, 512, 64, 64, 512, 64, 64, 1024, 128, 64>}
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, I64Attr:$batch, I64Attr:$length,
                       I64Attr:$key_length, I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$head_size, UnitAttr:$causal, UnitAttr:$backward, F64Attr:$scale,
                       DenseI64ArrayAttr:$strides, StrAttr:$source);
  let assemblyFormat = [{ `heads` $heads `kv_heads` $kv_heads `of` $head_size `batch` $batch `queries` $length `keys` $key_length `for` $source
    (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
}

def Schedule_TileLoopOp : Schedule_Op<"tile_loop", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "steps that run tile of rows by tile of rows";
  let description = [{
    For every tile of `tile` rows (the last may be smaller) the whole body runs on its rows: a launch on its share of the grid
    (`items_per_tile`), a matrix product on its rows (`tile_rows`) or adding up its part of a sum over rows (`tile_sum`). Tiles are spread
    over threads, or follow one another (`sequential`). Buffers in the space `tile` hold one tile at a time, `tile_bytes` in all; a thread has its own.

    - C1: tile is at least 1 and at most `rows`, and tile_bytes is not negative
    - C2: launches have items_per_tile and products one of tile_rows and tile_sum, there are no loops, no attention and no transforms, and every tile buffer ends inside tile_bytes
    - C3: only sequential tiles have tile_sum

    ```mlir
    schedule.program @forward arena 2097152 inputs [] outputs [] {
      schedule.tile_loop 4096 by 128 for "row_tiles(rmsnorm, linear)" attributes {tile_bytes = 65536 : i64} {
        schedule.launch "rmsnorm" for "rmsnorm" grid 4096 buffers [#schedule.buffer<arena, 0, 2097152>, #schedule.buffer<tile, 0, 65536>] {items_per_tile = 128 : i64, row_bytes = array<i64: 0, 512>}
      }
    }
    ```
  }];
  let arguments = (ins I64Attr:$rows, I64Attr:$tile, DefaultValuedAttr<I64Attr, "0">:$tile_bytes, UnitAttr:$sequential, StrAttr:$source);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$rows `by` $tile `for` $source attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// Rows one work item of a sum over rows covers. Tiles in parallel are items themselves; where they follow one another, each feeds
    /// many threads.
    int64_t rowsPerItem();
    /// Work items of a tile, of a kernel that has `grid` of them: one a row, or one for rowsPerItem().
    int64_t itemsPerTile(int64_t grid);
  }];
  let hasVerifier = 1;
}

def Schedule_FunctionOp : Schedule_Op<"function", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "a function of numbers that kernels of the library call";
  let description = [{
    The body's arguments are its numbers, tensors of rank 0; it holds elementwise ops of the graph and constants, and `schedule.yield` names the
    results. It becomes code of the device when kernels are emitted: void(const T *x, T *y), of numbers on CUDA and of vectors on the CPU.

    ```mlir
    schedule.function @cap {
    ^bb0(%x: tensor<f32>):
      %y = hybrid.unary tanh %x : tensor<f32>
      schedule.yield %y : tensor<f32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Schedule_KernelSourceOp : Schedule_Op<"kernel_source", [Symbol]> {
  let summary = "the text of a generated kernel, in the language of the target";
  let description = [{
    A function of the name `sym_name` that launches with `generated` call; CUDA C++ over codegen/kernels/cuda/Prelude.cuh. `uses` names the
    kernels of the library and the other texts that it calls.

    ```mlir
    schedule.kernel_source @fill_0 "HYBRID_DEVICE void fill_0(int64_t item, float *y) { y[item] = 0; }"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$text, DefaultValuedAttr<StrArrayAttr, "{}">:$uses);
  let assemblyFormat = "$sym_name $text attr-dict";
}
#endif
