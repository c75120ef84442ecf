// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule-gather-parameters{bucket-bytes=64})' | FileCheck %s --enable-var-scope

// Each layer's parameters come while the layer before is computed, and go behind it; the last layer's stay for its gradient, the first one's are gathered again.
// CHECK: schedule.shares_parameters
// CHECK-LABEL: schedule.program @train
// CHECK-DAG: %[[A:.+]] = schedule.buffer parameters "a"
// CHECK-DAG: %[[B:.+]] = schedule.buffer parameters "b"
// CHECK-DAG: %[[C:.+]] = schedule.buffer parameters "c"
// CHECK-DAG: schedule.buffer gradients "a" at 0 {schedule.release, schedule.to_owners}
// CHECK: schedule.all_gather for "shard_optimizer" (%[[A]] :
// CHECK-NEXT: schedule.await for "shard_optimizer" (%[[A]] :
// CHECK-NEXT: schedule.all_gather for "shard_optimizer" (%[[B]] :
// CHECK-NEXT: schedule.launch "first"
// CHECK-NEXT: schedule.release for "shard_optimizer" (%[[A]] :
// CHECK-NEXT: schedule.await for "shard_optimizer" (%[[B]] :
// CHECK-NEXT: schedule.all_gather for "shard_optimizer" (%[[C]] :
// CHECK-NEXT: schedule.launch "second"
// CHECK-NEXT: schedule.await for "shard_optimizer" (%[[C]] :
// CHECK-NEXT: schedule.all_gather for "shard_optimizer" (%[[A]] :
// CHECK-NEXT: schedule.launch "third"
// CHECK-NEXT: schedule.launch "third_gradient"
// CHECK-NEXT: schedule.release for "shard_optimizer" (%[[C]] :
// CHECK-NEXT: schedule.launch "second_gradient"
// CHECK-NEXT: schedule.release for "shard_optimizer" (%[[B]] :
// CHECK-NEXT: schedule.await for "shard_optimizer" (%[[A]] :
// CHECK-NEXT: schedule.launch "first_gradient"
// CHECK-NEXT: schedule.release for "shard_optimizer" (%[[A]] :
module attributes {schedule.shared = [#schedule.buffer<parameters, 0, 768>]} {
schedule.program @train {
  %x = schedule.buffer arena "x" : memref<8x8xf32>
  %a = schedule.buffer parameters "a" at 0 : memref<8x8xf32>
  %b = schedule.buffer parameters "b" at 256 : memref<8x8xf32>
  %c = schedule.buffer parameters "c" at 512 : memref<8x8xf32>
  %g = schedule.buffer gradients "a" at 0 {schedule.to_owners} : memref<8x8xf32>
  schedule.launch "first" for "linear" grid 1 (%a, %x : memref<8x8xf32>, memref<8x8xf32>) {writes = array<i64: 1>}
  schedule.launch "second" for "linear" grid 1 (%b, %x : memref<8x8xf32>, memref<8x8xf32>) {writes = array<i64: 1>}
  schedule.launch "third" for "linear" grid 1 (%c, %x : memref<8x8xf32>, memref<8x8xf32>) {writes = array<i64: 1>}
  schedule.launch "third_gradient" for "linear" grid 1 (%c, %x : memref<8x8xf32>, memref<8x8xf32>) {writes = array<i64: 1>}
  schedule.launch "second_gradient" for "linear" grid 1 (%b, %x : memref<8x8xf32>, memref<8x8xf32>) {writes = array<i64: 1>}
  schedule.launch "first_gradient" for "linear" grid 1 (%a, %x, %g : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) {writes = array<i64: 1, 2>}
}

// What is drawn for others goes at once, and nobody gets all at the end of an update.
// CHECK-LABEL: schedule.program @init
// CHECK: schedule.launch "draw"
// CHECK-NEXT: schedule.release for "shard_optimizer"
schedule.program @init {
  %a = schedule.buffer parameters "a" at 0 : memref<8x8xf32>
  schedule.launch "draw" for "random" grid 1 (%a : memref<8x8xf32>) {writes = array<i64: 0>}
}

// CHECK-LABEL: schedule.program @update
// CHECK-NOT: all_gather
schedule.program @update {
  %p = schedule.buffer parameters at 0 : memref<192xf32>
  schedule.launch "adamw" for "adamw" grid 1 (%p : memref<192xf32>) {writes = array<i64: 0>, item_spans = array<i64: 0, 0, 768>}
  schedule.all_gather for "shard_optimizer" (%p : memref<192xf32>)
  schedule.await for "shard_optimizer" (%p : memref<192xf32>)
}
}

// -----

// Parameters are not gathered between what a rank takes from one neighbour and what it gives the other: they come before.
// CHECK-LABEL: schedule.program @train
// CHECK: schedule.all_gather
// CHECK-NEXT: schedule.all_gather
// CHECK-NEXT: schedule.exchange from_previous
// CHECK-NOT: all_gather
// CHECK: schedule.exchange to_next
module attributes {schedule.shared = [#schedule.buffer<parameters, 0, 512>]} {
schedule.program @train {
  %x = schedule.buffer arena "x" : memref<8x8xf32>
  %a = schedule.buffer parameters "a" at 0 : memref<8x8xf32>
  %b = schedule.buffer parameters "b" at 256 : memref<8x8xf32>
  schedule.exchange from_previous of 2 for "receive_state" (%x : memref<8x8xf32>)
  schedule.launch "first" for "scan" grid 1 (%a, %x : memref<8x8xf32>, memref<8x8xf32>) {writes = array<i64: 1>}
  schedule.launch "second" for "scan" grid 1 (%b, %x : memref<8x8xf32>, memref<8x8xf32>) {writes = array<i64: 1>}
  schedule.exchange to_next of 2 for "send_state" (%x : memref<8x8xf32>)
}
}
