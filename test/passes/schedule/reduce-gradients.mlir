// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule.program(schedule-reduce-gradients{wire=bf16 bucket-bytes=64}))' | FileCheck %s --enable-var-scope
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule.program(schedule-reduce-gradients,schedule-plan-arena))' | FileCheck %s --check-prefix=PLACED --enable-var-scope
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule.program(schedule-reduce-gradients{weighted=true}))' | FileCheck %s --check-prefix=WEIGHTED

// Gradients of sums over positions are weighted already; the loss is a mean.
// WEIGHTED-LABEL: schedule.program @train
// WEIGHTED-COUNT-2: schedule.all_reduce f32 as f32 for "data_parallel" ({{.*}}) {mean, weighted}
// WEIGHTED-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" (%{{.*}} : memref<f32>, memref<f32>) {mean}

// A gradient goes behind the last step that touches it, as soon as the weight is known, and those that are done early do not wait for those done late. The loss
// is sent as it is, never rounded, and the weight is summed behind all that are weighted by it. Other programs are left alone.
// CHECK-LABEL: schedule.program @train
// CHECK-DAG: %[[A:.+]] = schedule.buffer gradients "a"
// CHECK-DAG: %[[B:.+]] = schedule.buffer gradients "b"
// CHECK: schedule.launch "loss"
// CHECK: schedule.launch "second"
// CHECK-NEXT: schedule.launch "second_again"
// CHECK-NEXT: schedule.all_reduce f32 as bf16 for "data_parallel" (%[[B]], %[[W:.+]] : memref<4x8xf32>, memref<f32>) {mean}
// CHECK-NEXT: schedule.launch "first"
// CHECK-NEXT: schedule.all_reduce f32 as bf16 for "data_parallel" (%[[A]], %[[W]] : memref<4x8xf32>, memref<f32>) {mean}
// CHECK-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" (%[[LOSS:.+]], %[[W]] : memref<f32>, memref<f32>) {mean}
// CHECK-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" (%[[W]], %[[C:.+]] : memref<f32>, memref<f32>)
// CHECK-NEXT: schedule.await
// CHECK-NOT: gradients "never"

// Nobody's memory is given to others while it is on its way.
// PLACED-LABEL: schedule.program @train
// PLACED: schedule.all_reduce f32 as f32 for "data_parallel" buffers [#schedule.buffer<gradients, 128, 128>, #schedule.buffer<arena, [[W:[0-9]+]], 4>] {mean}
// PLACED: schedule.await for "data_parallel" buffers [
schedule.program @train {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %loss = schedule.buffer arena : memref<f32>
  %weight = schedule.buffer arena : memref<f32>
  %correct = schedule.buffer arena : memref<f32>
  %t = schedule.buffer arena : memref<4x8xf32>
  %a = schedule.buffer gradients "a" at 0 : memref<4x8xf32>
  %b = schedule.buffer gradients "b" at 128 : memref<4x8xf32>
  %c = schedule.buffer gradients "never" at 256 : memref<4x8xf32>
  schedule.launch "loss" for "loss" grid 1 (%x, %loss, %weight, %correct : memref<4x8xf32>, memref<f32>, memref<f32>, memref<f32>) {writes = array<i64: 1, 2, 3>}
  schedule.launch "second" for "second" grid 1 (%x, %b, %t : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1, 2>}
  schedule.launch "second_again" for "second" grid 1 (%x, %b : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.launch "first" for "first" grid 1 (%t, %a : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.output "loss" %loss : memref<f32>
  schedule.output "weight" %weight : memref<f32>
  schedule.output "correct" %correct : memref<f32>
}

// CHECK-LABEL: schedule.program @eval
// CHECK-NOT: all_reduce
schedule.program @eval {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "loss" for "loss" grid 1 (%x, %y : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.output "y" %y : memref<4x8xf32>
}

// -----

// A reduction does not begin between what a rank takes from one neighbour and what it gives the other: those would wait for each other.
// CHECK-LABEL: schedule.program @train
// CHECK: schedule.exchange from_next
// CHECK-NEXT: schedule.launch "backward"
// CHECK-NEXT: schedule.exchange to_previous
// CHECK-NEXT: schedule.all_reduce f32 as bf16
// PLACED-LABEL: schedule.program @train
// WEIGHTED-LABEL: schedule.program @train
schedule.program @train {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %loss = schedule.buffer arena : memref<f32>
  %weight = schedule.buffer arena : memref<f32>
  %correct = schedule.buffer arena : memref<f32>
  %state = schedule.buffer arena : memref<8xf32>
  %a = schedule.buffer gradients "a" at 0 : memref<4x8xf32>
  schedule.launch "loss" for "cross_entropy" grid 1 (%x, %loss, %weight, %correct : memref<4x8xf32>, memref<f32>, memref<f32>, memref<f32>) {writes = array<i64: 1, 2, 3>}
  schedule.exchange from_next of 2 for "receive_state" (%state : memref<8xf32>)
  schedule.launch "backward" for "scan" grid 1 (%x, %a : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.exchange to_previous of 2 for "send_state" (%state : memref<8xf32>)
  schedule.output "loss" %loss : memref<f32>
  schedule.output "weight" %weight : memref<f32>
  schedule.output "correct" %correct : memref<f32>
}
