//===- RankOps.td - steps that all ranks of a job take together -*- tablegen -*-===//
#ifndef RANK_OPS_TD
#define RANK_OPS_TD
include "dialect/schedule/ScheduleBase.td"

def Schedule_AllReduceOp : Schedule_Step<"all_reduce"> {
  let summary = "begin to sum buffers over all ranks";
  let description = [{
    The elements of the buffers, in place and one buffer behind the other, become their sum over all ranks, or with `mean` Σ w x / Σ w over the ranks whose
    weight w is above 0, with `weighted` too Σ x / Σ w, of what was weighted before; w is the one element of the last buffer, which is read when the reduction begins and stays as it is. With `scaled`
    their sum is Σ w x. Sums are in the same order in every run, so that all ranks have the same bits. Elements are sent as `wire`. What the buffers hold is not known until a `schedule.await` of them, which lets what
    does not need them run meanwhile; so their memory is theirs until then. A process that is no rank among several leaves them alone. Means are the CPU's, and scaled sums a GPU's.

    With `to_owners`, a reduce-scatter: a rank gets what it owns of the buffers (executable/OptimizerShards.h), which are gradients, and nothing is known of the rest; with `release`
    it need not keep memory for that.

    - C1: element_type is f32 or f64, and wire is that or bf16
    - C2: there is a buffer to reduce, and with `mean` or `scaled` a weight of one element behind those
    - C3: there are operands, or buffers, but not both; operands lie densely and have elements of element_type
    - C4: what is weighted has a mean, and what is scaled has none
    - C5: what goes to owners are gradients, and only what does is released

    ```mlir
    schedule.program @train arena 64 inputs [] outputs [] {
      schedule.all_reduce f32 as bf16 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>] {mean}
      schedule.await for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>]
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, TypeAttr:$element_type,
                       TypeAttr:$wire, UnitAttr:$mean, UnitAttr:$weighted, UnitAttr:$scaled, UnitAttr:$to_owners, UnitAttr:$release, StrAttr:$source);
  let assemblyFormat = [{ $element_type `as` $wire `for` $source (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
  let extraClassDeclaration = "bool hasWeight() { return getMean() || getScaled(); }";
}

def Schedule_AwaitOp : Schedule_Step<"await"> {
  let summary = "wait for what was begun over all ranks";
  let description = [{
    All reductions and gathers that the program has begun are done behind it. The buffers are theirs: no step before it may touch them.

    - C1: there are operands, or buffers, but not both

    ```mlir
    schedule.program @train {
      %g = schedule.buffer gradients "w" at 0 : memref<8x8xf32>
      schedule.all_reduce f32 as f32 for "data_parallel" (%g : memref<8x8xf32>)
      schedule.await for "data_parallel" (%g : memref<8x8xf32>)
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, StrAttr:$source);
  let assemblyFormat = [{ `for` $source (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
}

def Schedule_AllGatherOp : Schedule_Step<"all_gather"> {
  let summary = "begin to give parameters from those who own them to all ranks";
  let description = [{
    Each rank gives the others what it owns of the buffers (executable/OptimizerShards.h). They are whole behind a `schedule.await` of them; until then their memory is the gather's.
    A process that is no rank among several leaves them alone. On the CPU only.

    - C1: there are operands, or buffers, but not both, and at least one; they lie densely
    - C2: they are parameters

    ```mlir
    schedule.program @update {
      %p = schedule.buffer parameters "w" at 0 : memref<8x8xf32>
      schedule.all_gather for "shard_optimizer" (%p : memref<8x8xf32>)
      schedule.await for "shard_optimizer" (%p : memref<8x8xf32>)
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, StrAttr:$source);
  let assemblyFormat = [{ `for` $source (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
}

def Schedule_ReleaseOp : Schedule_Step<"release"> {
  let summary = "give up the memory of parameters that other ranks own";
  let description = [{
    What this rank does not own of the buffers (executable/OptimizerShards.h) is not known behind it, and takes no memory until something is written there. A process that is no rank
    among several leaves them alone. On the CPU only.

    - C1: there are operands, or buffers, but not both, and at least one; they lie densely
    - C2: they are parameters

    ```mlir
    schedule.program @forward {
      %p = schedule.buffer parameters "w" at 0 : memref<8x8xf32>
      schedule.release for "shard_optimizer" (%p : memref<8x8xf32>)
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, StrAttr:$source);
  let assemblyFormat = [{ `for` $source (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
}

def Schedule_ExchangeOp : Schedule_Step<"exchange"> {
  let summary = "give the other ranks of a sequence bytes, and take theirs";
  let description = [{
    The `ranks` that have the parts of one sequence, neighbours in the order of all ranks, give each other bytes as the pattern says; the step is done when this rank has given and taken.
    `all`: the first buffer has a part for each of them, one behind the other, and the second gets the part that each has for this one. `to_next` and
    `to_previous`: the buffer is for that rank, if there is one; `from_next` and `from_previous`: it gets what that rank gives, zeros if there is none. `place`: it gets the
    number of this rank among them, an i32. Between two ranks what is given and taken is paired in the order of the program. A process that is no rank among several cannot run it.

    - C1: there are at least 2 ranks
    - C2: there are operands, or buffers, but not both: two for `all`, else one; operands lie densely
    - C3: the buffers of `all` have one size, of as many equal parts as there are ranks; that of `place` has 4 bytes

    ```mlir
    schedule.program @train {
      %x = schedule.buffer arena : memref<4x8xf32>
      %y = schedule.buffer arena : memref<4x8xf32>
      schedule.exchange all of 4 for "all_to_all" (%x, %y : memref<4x8xf32>, memref<4x8xf32>)
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, Schedule_RankPatternAttr:$pattern,
                       I64Attr:$ranks, StrAttr:$source);
  let assemblyFormat = [{ `` $pattern `of` $ranks `for` $source (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool givesToAll() { return getPattern() == RankPattern::All; }
    bool gives() { return givesToAll() || getPattern() == RankPattern::ToNext || getPattern() == RankPattern::ToPrevious; }
  }];
}
#endif
