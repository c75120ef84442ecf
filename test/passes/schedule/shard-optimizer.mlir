// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule-shard-optimizer)' | FileCheck %s --enable-var-scope
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule-shard-optimizer)' 2>&1 >/dev/null | FileCheck %s --check-prefix=WARNED
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule-shard-optimizer,schedule.program(schedule-reduce-gradients))' | FileCheck %s --check-prefix=REDUCED --enable-var-scope

// Launches that say where they work are run by owners; what such a one writes to the arena is summed over ranks, of which each has zeros for the others. A region
// over a stretch of parameters and moments is of that kind. All ranks get the new parameters behind the last step.
// CHECK: module attributes {schedule.shared = [#schedule.buffer<parameters, 0, 65664>]}
// CHECK-LABEL: schedule.program @update
// CHECK-NEXT: %[[ALL:.+]] = schedule.buffer parameters at 0 : memref<16416xf32>
// CHECK: schedule.fill for "shard_optimizer" %[[PARTIAL:.+]] with 0.000000e+00 : memref<2xf64>
// CHECK-NEXT: schedule.launch "squared_norm"
// CHECK-NEXT: schedule.all_reduce f64 as f64 for "shard_optimizer" (%[[PARTIAL]] : memref<2xf64>)
// CHECK-NEXT: schedule.await for "shard_optimizer" (%[[PARTIAL]] : memref<2xf64>)
// CHECK-NEXT: schedule.launch "gradient_norm"
// CHECK-NEXT: schedule.launch "adamw"
// CHECK-NEXT: schedule.compute
// CHECK-SAME: schedule.items_at = 65536 : i64
// CHECK: schedule.launch "matrices"
// CHECK-NEXT: schedule.all_gather for "shard_optimizer" (%[[ALL]] : memref<16416xf32>)
// CHECK-NEXT: schedule.await for "shard_optimizer" (%[[ALL]] : memref<16416xf32>)
schedule.program @update {
  %p = schedule.buffer parameters at 0 : memref<16384xf32>
  %g = schedule.buffer gradients at 0 : memref<16384xf32>
  %m = schedule.buffer moment1 at 0 : memref<16384xf32>
  %partial = schedule.buffer arena : memref<2xf64>
  %norm = schedule.buffer arena : memref<f32>
  %q = schedule.buffer parameters at 65536 : memref<32xf32>
  %h = schedule.buffer gradients at 65536 : memref<32xf32>
  %w = schedule.buffer parameters at 65792 : memref<8x8xf32>
  schedule.launch "squared_norm" for "adamw" grid 2 (%g, %partial : memref<16384xf32>, memref<2xf64>) {writes = array<i64: 1>, item_spans = array<i64: 0, 0, 32768>}
  schedule.launch "gradient_norm" for "adamw" grid 1 (%partial, %norm : memref<2xf64>, memref<f32>) {writes = array<i64: 1>}
  schedule.launch "adamw" for "adamw" grid 2 (%norm, %p, %g, %m : memref<f32>, memref<16384xf32>, memref<16384xf32>, memref<16384xf32>) {writes = array<i64: 1, 3>, item_spans = array<i64: 0, 0, 32768>}
  schedule.compute for "fused(sub)" (%q, %h) -> (%q) : (memref<32xf32>, memref<32xf32>) -> memref<32xf32> {
  ^bb0(%a: tensor<32xf32>, %b: tensor<32xf32>):
    %c = hybrid.binary sub %a, %b : tensor<32xf32>, tensor<32xf32>
    schedule.yield %c : tensor<32xf32>
  }
  schedule.launch "matrices" for "linear" grid 1 (%w : memref<8x8xf32>) {writes = array<i64: 0>}
}

// Gradients of what is shared go to their owners, in buckets of their own; those of the others to all.
// CHECK-LABEL: schedule.program @train
// CHECK: schedule.buffer gradients "a" at 0 {schedule.to_owners} : memref<16384xf32>
// CHECK: schedule.buffer gradients "w" at 65792 : memref<8x8xf32>
// REDUCED-LABEL: schedule.program @train
// REDUCED: %[[A:.+]] = schedule.buffer gradients "a"
// REDUCED: %[[W:.+]] = schedule.buffer gradients "w"
// REDUCED: schedule.launch "backward"
// REDUCED-DAG: schedule.all_reduce f32 as f32 for "data_parallel" (%[[A]], {{.*}}) {mean, to_owners}
// REDUCED-DAG: schedule.all_reduce f32 as f32 for "data_parallel" (%[[W]], {{.*}}) {mean}
schedule.program @train {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %loss = schedule.buffer arena : memref<f32>
  %weight = schedule.buffer arena : memref<f32>
  %correct = schedule.buffer arena : memref<f32>
  %a = schedule.buffer gradients "a" at 0 : memref<16384xf32>
  %w = schedule.buffer gradients "w" at 65792 : memref<8x8xf32>
  schedule.launch "loss" for "loss" grid 1 (%x, %loss, %weight, %correct : memref<4x8xf32>, memref<f32>, memref<f32>, memref<f32>) {writes = array<i64: 1, 2, 3>}
  schedule.launch "backward" for "loss" grid 1 (%x, %a, %w : memref<4x8xf32>, memref<16384xf32>, memref<8x8xf32>) {writes = array<i64: 1, 2>}
  schedule.output "loss" %loss : memref<f32>
  schedule.output "weight" %weight : memref<f32>
  schedule.output "correct" %correct : memref<f32>
}

// -----

// A region that needs more than the stretch itself is everybody's: nothing is shared, which is said.
// WARNED: warning: nothing is shared: no parameter is updated element by element
// CHECK: module attributes {schedule.shared = []}
// CHECK-LABEL: schedule.program @update
// CHECK-NOT: items_at
// CHECK-NOT: all_gather
schedule.program @update {
  %p = schedule.buffer parameters at 0 : memref<8x8xf32>
  %u = schedule.buffer arena : memref<8x8xf32>
  schedule.compute for "fused(sub)" (%p, %u) -> (%p) : (memref<8x8xf32>, memref<8x8xf32>) -> memref<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %c = hybrid.binary sub %a, %b : tensor<8x8xf32>, tensor<8x8xf32>
    schedule.yield %c : tensor<8x8xf32>
  }
}
