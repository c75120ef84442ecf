//===- RankOps.td - steps that all ranks of a job take together -*- tablegen -*-===//
#ifndef RANK_OPS_TD
#define RANK_OPS_TD
include "dialect/schedule/ScheduleBase.td"

def Schedule_AllReduceOp : Schedule_Step<"all_reduce"> {
  let summary = "begin to sum buffers over all ranks";
  let description = [{
    The elements of the buffers, in place and one buffer behind the other, become their sum over all ranks, or with `mean` Σ w x / Σ w over the ranks whose
    weight w is above 0; w is the one element of the last buffer, which is read when the reduction begins and stays as it is. Sums are in the order of ranks, so that all ranks have
    the same bits in every run. Elements are sent as `wire`. What the buffers hold is not known until a `schedule.await` of them, which lets what does not need
    them run meanwhile; so their memory is theirs until then. A process that is no rank among several leaves them alone. On the CPU only.

    - C1: element_type is f32 or f64, and wire is that or bf16
    - C2: there is a buffer to reduce, and with `mean` a weight of one element behind those
    - C3: there are operands, or buffers, but not both; operands lie densely and have elements of element_type

    ```mlir
    schedule.program @train arena 64 inputs [] outputs [] {
      schedule.all_reduce f32 as bf16 for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>] {mean}
      schedule.await for "data_parallel" buffers [#schedule.buffer<gradients, 0, 4096>, #schedule.buffer<arena, 0, 4>]
    }
    ```
  }];
  let arguments = (ins Variadic<Schedule_Memory>:$views, DefaultValuedAttr<Schedule_BufferArrayAttr, "{}">:$buffers, TypeAttr:$element_type,
                       TypeAttr:$wire, UnitAttr:$mean, StrAttr:$source);
  let assemblyFormat = [{ $element_type `as` $wire `for` $source (`buffers` $buffers^)? (` ` `(` $views^ `:` type($views) `)`)? attr-dict }];
  let hasVerifier = 1;
}

def Schedule_AwaitOp : Schedule_Step<"await"> {
  let summary = "wait for what was begun over all ranks";
  let description = [{
    All reductions that the program has begun are done behind it. The buffers are theirs: no step before it may touch them.

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
#endif
