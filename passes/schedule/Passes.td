//===- Passes.td - passes on the schedule, in pipeline order ----*- tablegen -*-===//
#ifndef HYBRID_SCHEDULE_PASSES_TD
#define HYBRID_SCHEDULE_PASSES_TD
include "mlir/Pass/PassBase.td"

def FuseStores : Pass<"schedule-fuse-stores", "::hybrid::ProgramOp"> {
  let summary = "compute what follows a kernel element by element where the kernel stores its result";
  let description = [{
    A rounding, a residual or a gate behind a kernel that calls a store: one pass over memory less. Where the result itself is needed later, both are
    stored; what is saved then is reading it. The region must be the first that reads the result, with all else it reads there by then, and its
    elements must lie by rows of the result. Then comes the next that reads it, as the two gates' gradients of a gated layer; what both read is read once.

    ```mlir
    schedule.launch "rmsnormForward<...>" for "rmsnorm" grid 96 (%x, %n : ...) {store = "RowStore<float, 32>", store_buffers = 1, ...}  // before
    schedule.compute for "fused(add)" (%x, %n) -> (%y) : ... {
    ^bb0(%a: tensor<2x48x32xf32>, %b: tensor<2x48x32xf32>):
      %s = hybrid.binary add %a, %b : tensor<2x48x32xf32>, tensor<2x48x32xf32>
      schedule.yield %s : tensor<2x48x32xf32>
    }

    schedule.launch "rmsnormForward<...>" for "rmsnorm + fused(add)" grid 96 (%x, %x, %y : ...) {store_buffers = 2, ...} storing {  // after
    ^bb0(%b: tensor<2x48x32xf32>, %a: tensor<2x48x32xf32>):
      %s = hybrid.binary add %a, %b : tensor<2x48x32xf32>, tensor<2x48x32xf32>
      schedule.yield %s : tensor<2x48x32xf32>
    }
    ```
  }];
  let statistics = [Statistic<"numFused", "fused", "regions computed in a store">];
}

def SumProducts : Pass<"schedule-sum-products", "::hybrid::ProgramOp"> {
  let summary = "let matrix products add";
  let description = [{
    A sum whose terms are matrix products, and at most one more that is there before them, needs no pass of its own: the first product
    adds that term, all others what is there already. A residual so saves one of two reads and one of two writes of its size, a sum of
    k products one read and one write of 2 k + 1.

    ```mlir
    schedule.library_matmul 6 x 8 x 8 of f32 for "linear" (%a, %w, %p : ...) {...}    // before
    schedule.compute for "fused(add)" (%x, %p) -> (%y) : ... {...}

    schedule.library_matmul 6 x 8 x 8 of f32 for "linear + fused(add)" (%a, %w, %y, %x : ...) {ld_addend = 8 : i64, ...}    // after
    ```
  }];
  let statistics = [Statistic<"numFused", "fused", "sums computed by their products">];
}

def JoinGradients : Pass<"schedule-join-gradients", "::hybrid::ProgramOp"> {
  let summary = "compute gradients of weights that lie side by side as one product";
  let description = [{
    Gradients of projections of one value are products with it. Where the other operands are columns of one buffer, as `hybrid-join-products` leaves them, and the gradients lie in the
    same order, as weights of a layer do, one product makes them all. It stands where the last of them stood.

    ```mlir
    %v = schedule.buffer gradients "v" at 128 : memref<4x8xf32>                            // before
    %w = schedule.buffer gradients "w" at 0 : memref<4x8xf32>
    schedule.library_matmul 4 x 8 x 64 of bf16 for "matmul" (%b, %x, %v : ...) {lda = 8 : i64, ..., transpose_a}
    schedule.library_matmul 4 x 8 x 64 of bf16 for "matmul" (%a, %x, %w : ...) {lda = 8 : i64, ..., transpose_a}

    %all = schedule.buffer gradients at 0 : memref<8x8xf32>                                // after
    schedule.library_matmul 8 x 8 x 64 of bf16 for "matmul, matmul" (%ab, %x, %all : ...) {lda = 8 : i64, ..., transpose_a}
    ```
  }];
  let statistics = [Statistic<"numJoined", "joined", "products that another one makes, too">];
}

def FuseReductions : Pass<"schedule-fuse-reductions", "::hybrid::ProgramOp"> {
  let summary = "compute a region where the reduction reads that alone uses it";
  let description = [{
    The region's value then has no place in memory.

    ```mlir
    schedule.compute for "fused(mul)" (%x, %g) -> (%p) : ... {...}                    // before
    schedule.reduce sum for "reduce" (%p) over [0] to %y : ...

    schedule.reduce sum for "reduce" (%x, %g) over [0] to %y : ... load {...}         // after
    ```
  }];
  let statistics = [Statistic<"numFused", "fused", "regions computed where a reduction reads">];
}

def FuseRows : Pass<"schedule-fuse-rows", "::hybrid::ProgramOp"> {
  let summary = "compute a function of rows where a kernel stores them";
  let description = [{
    The gradient of a norm behind a product: one pass over memory less, and one launch. A kernel that stores whole rows (`stores_rows`) stores what a kernel that is a function of them
    (`row_operand`) would, and nobody else reads the rows. All else that this reads is there by then.

    ```mlir
    schedule.launch "productChain<...>" for "product_chain(...)" grid 128 (%x, ..., %dy : ...) {store_buffers = 1, stores_rows, ...}    // before
    schedule.launch "rmsnormBackward<...>" for "rmsnorm_grad" grid 512 (%h, %w, %dy, %sums, %dh : ...) {row_operand = 2, store_buffers = 1, ...}

    schedule.launch "productChain<...>" for "product_chain(...) + rmsnorm_grad" grid 128 (%x, ..., %h, %w, %sums, %dh : ...)            // after
      {row_function = "rmsnormBackward<...>", row_function_buffers = 3, store_buffers = 1, ...}
    ```
  }];
  let statistics = [Statistic<"numFused", "fused", "functions of rows computed in a store">];
}

def RoundBuffers : Pass<"schedule-round-buffers", "::hybrid::ProgramOp"> {
  let summary = "keep activations in bf16 between kernels";
  let description = [{
    Mixed precision, in memory: a buffer of f32 becomes one of bf16 where all steps that touch it can take it so, and one at least computes
    activations. Regions widen what they read of it and round what they yield; a matrix product of bf16 rounds its complete sums, and a bias that is a parameter before; kernels of the
    library read and write it as their contracts say (`activations`; `roundable` what is so for another's sake). All compute in f32. What a kernel takes in f32 alone, a sum over
    products, an output and what is added up in place stay f32, and with them the residual stream, statistics of norms, softmax, filters, states of scans, losses and gradients
    of parameters. What all readers round is rounded where it is computed. In a loop over tiles it is the same, but what stays in a tile is rounded only so.

    A region that only rounded for a product then copies: readers of the copy read what it was of, or it is computed where the copy is. One that gave an activation and, for a product, the same
    rounded gives that once. What stands beside its own rounding, and of which nothing but sums are made, is rounded too.

    ```mlir
    schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%a, %w, %p : ..., memref<6x8xf32>) {...}           // before
    schedule.compute for "fused(silu)" (%p) -> (%y) : (memref<6x8xf32>) -> memref<6x8xf32> {
    ^bb0(%x: tensor<6x8xf32>):
      %s = hybrid.unary silu %x : tensor<6x8xf32>
      ...

    schedule.library_matmul 6 x 8 x 8 of bf16 for "linear" (%a, %w, %p : ..., memref<6x8xbf16>) {rounds_result, ...}    // after
    schedule.compute for "fused(silu)" (%p) -> (%y) : (memref<6x8xbf16>) -> memref<6x8xf32> {
    ^bb0(%x: tensor<6x8xbf16>):
      %f = hybrid.widen %x : tensor<6x8xbf16> -> tensor<6x8xf32>
      %s = hybrid.unary silu %f : tensor<6x8xf32>
      ...
    ```
  }];
  let statistics = [Statistic<"numRounded", "rounded", "buffers of bf16 in place of f32">,
                    Statistic<"numForwarded", "forwarded", "copies that nobody reads any more">];
}

def PlanTiles : Pass<"schedule-plan-tiles", "::hybrid::ProgramOp"> {
  let summary = "place the buffers of loops over tiles";
  let description = [{
    Values that live inside of a `schedule.tile_loop` share memory where they live at different times; the loop says how much a tile needs.

    ```mlir
    schedule.tile_loop 4096 by 128 for "row_tiles(rmsnorm, linear)" {                                                     // before
      %n = schedule.buffer tile : memref<4096x32xf32>

    schedule.tile_loop 4096 by 128 for "row_tiles(rmsnorm, linear)" attributes {tile_bytes = 16384 : i64} {               // after
      %n = schedule.buffer tile at 0 : memref<4096x32xf32>
    ```
  }];
}

def ShardOptimizer : Pass<"schedule-shard-optimizer", "::mlir::ModuleOp"> {
  let summary = "share the optimizer's work and state among all ranks";
  let description = [{
    Every rank updates what it owns of the parameters (executable/OptimizerShards.h), and only its part of the moments is ever used. In the program `update`, launches that say where
    their items work (`item_spans`) are run by the owners, what such ones write to the arena is summed over ranks, and all ranks get the new parameters at the end. A
    region that computes stretches of parameters and moments from these and their gradients, element by element, is of that kind (`schedule.items_at`). What other steps update, as a product of
    whole matrices, stays the work of all. Gradients of what is shared are marked with `schedule.to_owners` for schedule-reduce-gradients.

    ```mlir
    schedule.launch "squared_norm" ... (%chunks, %g, %partial : ...) {item_spans = array<i64: 0, 0, 32768>, ...}           // before
    schedule.launch "gradient_norm" ... (%partial, %norm : ...)
    schedule.launch "adamw" ... (%chunks, %hyper, %norm, %p, %g, %m, %v : ...) {item_spans = array<i64: 0, 0, 32768>, ...}

    schedule.fill for "shard_optimizer" %partial with 0.0 : memref<4xf64>                                                  // after
    schedule.launch "squared_norm" ... (%chunks, %g, %partial : ...) {item_spans = array<i64: 0, 0, 32768>, ...}
    schedule.all_reduce f64 as f64 for "shard_optimizer" (%partial : memref<4xf64>)
    schedule.await for "shard_optimizer" (%partial : memref<4xf64>)
    schedule.launch "gradient_norm" ... (%partial, %norm : ...)
    schedule.launch "adamw" ... (%chunks, %hyper, %norm, %p, %g, %m, %v : ...) {item_spans = array<i64: 0, 0, 32768>, ...}
    schedule.all_gather for "shard_optimizer" (%w : memref<32768xf32>)
    schedule.await for "shard_optimizer" (%w : memref<32768xf32>)
    ```
  }];
  let statistics = [Statistic<"numShared", "shared", "stretches of parameters that ranks share">];
}

def GatherParameters : Pass<"schedule-gather-parameters", "::mlir::ModuleOp"> {
  let summary = "let each rank hold its share of the parameters, and gather them where they are used";
  let description = [{
    Of what schedule-shard-optimizer shares (`schedule.shared` of the module). Parameters go in buckets, in the order in which a program first uses them; a bucket is gathered
    while the one before is used, and given up behind its last use, or behind the forward part where at least two others are used before the backward part. `update` keeps to
    the shares, `init` gives up what it draws for others, and gradients of others are given up when they are reduced (`schedule.release`).

    ```mlir
    schedule.library_matmul ... (%x, %w, %y : ...)                               // before
    schedule.library_matmul ... (%y, %v, %z : ...)

    schedule.all_gather for "shard_optimizer" (%w : memref<64x64xf32>)            // after
    schedule.await for "shard_optimizer" (%w : memref<64x64xf32>)
    schedule.all_gather for "shard_optimizer" (%v : memref<64x64xf32>)
    schedule.library_matmul ... (%x, %w, %y : ...)
    schedule.release for "shard_optimizer" (%w : memref<64x64xf32>)
    schedule.await for "shard_optimizer" (%v : memref<64x64xf32>)
    schedule.library_matmul ... (%y, %v, %z : ...)
    schedule.release for "shard_optimizer" (%v : memref<64x64xf32>)
    ```
  }];
  let options = [Option<"bucketBytes", "bucket-bytes", "int64_t", "4194304", "parameters that are gathered together, but no more than a fourth of all">];
  let statistics = [Statistic<"numGathered", "gathered", "times that parameters are gathered">];
}

def WeighRanks : Pass<"schedule-weigh-ranks", "::hybrid::ProgramOp"> {
  let summary = "compute what makes a sum over ranks a mean";
  let description = [{
    Of the program `train` alone, for devices whose library sums over ranks but knows of no means. A mean over ranks with weights w is the sum of w x / Σ w: the weight is summed as soon as it is known, and
    in front of the first gradient the factor w / Σ w is computed, with `weighted` also 1 / Σ w for values that were weighted before. schedule-reduce-gradients finds
    them (`schedule.rank_factor`).

    ```mlir
    schedule.launch "loss" ... (%x, %loss, %weight : ...)                                    // before
    schedule.library_matmul ... (%x, %dy, %g : ...)

    schedule.launch "loss" ... (%x, %loss, %weight : ...)                                    // after
    schedule.copy for "data_parallel" %weight to %total : memref<f32>, memref<f32>
    schedule.all_reduce f32 as f32 for "data_parallel" (%total : memref<f32>)
    schedule.await for "data_parallel" (%total : memref<f32>)
    schedule.compute for "data_parallel" (%weight, %total) -> (%factor) : ... { ... }
    schedule.library_matmul ... (%x, %dy, %g : ...)
    ```
  }];
  let options = [Option<"weighted", "weighted", "bool", "false", "gradients are weighted already: of sums over positions">];
}

def ReduceGradients : Pass<"schedule-reduce-gradients", "::hybrid::ProgramOp"> {
  let summary = "reduce the gradients of a training step over all ranks";
  let description = [{
    Of the program `train` alone. Each rank has a batch of its own; the loss is a mean over its scored positions, so the gradient of all is the mean of
    theirs, weighted by `weight`. Gradients go in buckets, in the order in which they are done, each behind the last step that touches one of its own, so
    that it is on its way while the others are computed; the program ends in waiting for them. Those marked by schedule-shard-optimizer are reduced to their owners. The loss is reduced in the same way, and weight and correct are
    summed: what the program gives is that of one batch of all ranks. Where schedule-weigh-ranks has computed factors, means are sums of what is scaled by them.

    ```mlir
    schedule.library_matmul ... (%x, %dy, %g : ...)                                     // before
    schedule.launch "scan" ... (%p, %q : ...)

    schedule.library_matmul ... (%x, %dy, %g : ...)                                     // after
    schedule.all_reduce f32 as f32 for "data_parallel" (%g, %weight : ...) {mean}
    schedule.launch "scan" ... (%p, %q : ...)
    schedule.await for "data_parallel" (%g, %weight : ...)
    ```
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "4194304", "gradients that are sent together, but no more than a fourth of all">,
    Option<"wire", "wire", "std::string", "\"f32\"", "f32: gradients are sent as they are; bf16: rounded">,
    Option<"weighted", "weighted", "bool", "false", "gradients are weighted already: of sums over positions">
  ];
  let statistics = [Statistic<"numReductions", "reductions", "reductions over ranks">];
}

def AssignBranches : Pass<"schedule-assign-branches", "::hybrid::ProgramOp"> {
  let summary = "let steps that need nothing of each other run at the same time";
  let description = [{
    For GPUs. Steps that have time to spare, by the longest way through the program that leads over them, go to a branch of their own (`schedule.branch`): filters,
    gradients of weights, small sums. A step says which earlier ones on other branches it waits for (`schedule.after`, by their numbers in the program), each only where that does not follow from what it waits for
    anyway. Steps of one branch run in order, and their order in the program stays: it is always right, too.

    Buffers that live on different branches at one time cannot share memory. Where the arena would grow by more than `growth` percent, the main branch waits for the steps of
    others that hold most: behind 4 steps, once they hold as much as the arena of one branch has, or a half, down to a sixteenth of it; where even that is not enough, nothing changes.
    schedule-plan-arena places buffers by the order that remains.

    ```mlir
    schedule.library_matmul ... (%x, %dy, %g : ...)                     // before: a gradient of weights, and the main chain
    schedule.library_matmul ... (%dy, %w, %dx : ...)
    schedule.launch "rmsnormBackward" ... (%dx, %dz : ...)

    schedule.library_matmul ... (%x, %dy, %g : ...) {schedule.after = array<i64: 6>, schedule.branch = 1 : i64}      // after
    schedule.library_matmul ... (%dy, %w, %dx : ...)
    schedule.launch "rmsnormBackward" ... (%dx, %dz : ...)
    ```
  }];
  let options = [Option<"growth", "growth", "int64_t", "20", "percent by which the arena may grow">];
  let statistics = [Statistic<"numParted", "parted", "steps on other branches">, Statistic<"numWaits", "waits", "waits between branches">];
}

def PlanArena : Pass<"schedule-plan-arena", "::hybrid::ProgramOp"> {
  let summary = "place all buffers of the arena, and name places instead of values";
  let description = [{
    Buffers that live at different times share memory: largest first, each at the lowest place that fits. Times are those of the order that
    schedule-assign-branches has left. The last pass: afterwards order alone says what depends on what. The program gets `schedule.largest`: op, location and bytes of the largest buffers where its arena is fullest.

    ```mlir
    schedule.program @forward {                                                                                           // before
      %x = schedule.buffer arena "x" : memref<32x32xf32>
      %w = schedule.buffer parameters "w" at 0 : memref<32x32xf32>
      %y = schedule.buffer arena : memref<32x32xf32>
      schedule.library_matmul 32 x 32 x 32 of f32 for "linear" (%x, %w, %y : ...) {...}
      schedule.output "y" %y : memref<32x32xf32>
    }
    schedule.program @forward arena 8192 inputs [...] outputs [...] {         // after
      schedule.library_matmul 32 x 32 x 32 of f32 for "linear" buffers [#schedule.buffer<arena, 0, 4096>, #schedule.buffer<parameters, 0, 4096>, ...] {...}
    }
    ```
  }];
}
#endif
