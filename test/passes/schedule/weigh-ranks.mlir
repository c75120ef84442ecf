// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule.program(schedule-weigh-ranks))' | FileCheck %s --enable-var-scope
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule.program(schedule-weigh-ranks{weighted=true}))' | FileCheck %s --check-prefix=WEIGHTED --enable-var-scope
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(schedule.program(schedule-weigh-ranks{weighted=true},schedule-reduce-gradients{weighted=true}))' | FileCheck %s --check-prefix=REDUCED --enable-var-scope

// The weight is summed as soon as it is known, and its share of the sum is computed in front of the first gradient. Other programs are left alone.
// CHECK-LABEL: schedule.program @train
// CHECK: %[[FACTOR:.+]] = schedule.buffer arena {schedule.rank_factor = "mean"} : memref<f32>
// CHECK: %[[TOTAL:.+]] = schedule.buffer arena : memref<f32>
// CHECK: %[[WEIGHT:.+]] = schedule.buffer arena "w" : memref<f32>
// CHECK: schedule.launch "loss"
// CHECK-NEXT: schedule.copy for "data_parallel" %[[WEIGHT]] to %[[TOTAL]]
// CHECK-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" (%[[TOTAL]] : memref<f32>)
// CHECK-NEXT: schedule.launch "state"
// CHECK-NEXT: schedule.await for "data_parallel" (%[[TOTAL]] : memref<f32>)
// CHECK-NEXT: schedule.compute for "data_parallel" (%[[WEIGHT]], %[[TOTAL]]) -> (%[[FACTOR]])
// CHECK-NEXT: ^bb0(%[[W:.+]]: tensor<f32>, %[[ALL:.+]]: tensor<f32>):
// CHECK-NEXT: %[[LEAST:.+]] = hybrid.constant 1.000000e-30
// CHECK-NEXT: %[[SUM:.+]] = hybrid.binary max %[[ALL]], %[[LEAST]]
// CHECK-NEXT: %[[SHARE:.+]] = hybrid.binary div %[[W]], %[[SUM]]
// CHECK-NEXT: schedule.yield %[[SHARE]]
// CHECK: schedule.launch "gradient"
// CHECK-LABEL: schedule.program @eval
// CHECK-NOT: all_reduce

// What is weighted already is divided by the sum alone; the loss is a mean.
// WEIGHTED-LABEL: schedule.program @train
// WEIGHTED: %[[INVERSE:.+]] = schedule.buffer arena {schedule.rank_factor = "weighted"} : memref<f32>
// WEIGHTED: %[[FACTOR:.+]] = schedule.buffer arena {schedule.rank_factor = "mean"} : memref<f32>
// WEIGHTED: schedule.compute for "data_parallel" ({{.*}}) -> (%[[FACTOR]], %[[INVERSE]])
// WEIGHTED: %[[SUM:.+]] = hybrid.binary max
// WEIGHTED: %[[ONE:.+]] = hybrid.constant 1.0
// WEIGHTED: hybrid.binary div %[[ONE]], %[[SUM]]

// Reductions are sums of what is scaled.
// REDUCED-LABEL: schedule.program @train
// REDUCED: %[[INVERSE:.+]] = schedule.buffer arena {schedule.rank_factor = "weighted"}
// REDUCED: %[[FACTOR:.+]] = schedule.buffer arena {schedule.rank_factor = "mean"}
// REDUCED: schedule.all_reduce f32 as f32 for "data_parallel" (%{{.+}}, %[[FACTOR]] : memref<f32>, memref<f32>) {scaled}
// REDUCED-NEXT: schedule.launch "gradient"
// REDUCED-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" (%{{.+}}, %[[INVERSE]] : memref<4x8xf32>, memref<f32>) {scaled}
// REDUCED-NEXT: schedule.all_reduce f32 as f32 for "data_parallel" (%{{.+}}, %{{.+}} : memref<f32>, memref<f32>)
// REDUCED-NEXT: schedule.await
schedule.program @train {
  %weight = schedule.buffer arena "w" : memref<f32>
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %loss = schedule.buffer arena "l" : memref<f32>
  %correct = schedule.buffer arena "c" : memref<f32>
  %t = schedule.buffer arena : memref<4x8xf32>
  %a = schedule.buffer gradients "a" at 0 : memref<4x8xf32>
  schedule.launch "loss" for "loss" grid 1 (%x, %loss, %weight, %correct : memref<4x8xf32>, memref<f32>, memref<f32>, memref<f32>) {writes = array<i64: 1, 2, 3>}
  schedule.launch "state" for "scan" grid 1 (%x, %t : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.launch "gradient" for "linear" grid 1 (%t, %a : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.output "loss" %loss : memref<f32>
  schedule.output "weight" %weight : memref<f32>
  schedule.output "correct" %correct : memref<f32>
}
schedule.program @eval {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  schedule.launch "loss" for "loss" grid 1 (%x, %y : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.output "y" %y : memref<4x8xf32>
}

// -----

// All ranks meet only where none waits for a neighbour's state.
// CHECK-LABEL: schedule.program @train
// CHECK: schedule.exchange from_next
// CHECK-NEXT: schedule.launch "loss"
// CHECK-NEXT: schedule.exchange to_previous
// CHECK-NEXT: schedule.copy
// CHECK-NEXT: schedule.all_reduce
// CHECK-NEXT: schedule.await
// CHECK-NEXT: schedule.compute
// WEIGHTED-LABEL: schedule.program @train
// REDUCED-LABEL: schedule.program @train
schedule.program @train {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %loss = schedule.buffer arena "l" : memref<f32>
  %weight = schedule.buffer arena "w" : memref<f32>
  %correct = schedule.buffer arena "c" : memref<f32>
  %state = schedule.buffer arena : memref<8xf32>
  %a = schedule.buffer gradients "a" at 0 : memref<4x8xf32>
  schedule.exchange from_next of 2 for "receive_state" (%state : memref<8xf32>)
  schedule.launch "loss" for "cross_entropy" grid 1 (%x, %loss, %weight, %correct, %a : memref<4x8xf32>, memref<f32>, memref<f32>, memref<f32>, memref<4x8xf32>) {writes = array<i64: 1, 2, 3, 4>}
  schedule.exchange to_previous of 2 for "send_state" (%state : memref<8xf32>)
  schedule.output "loss" %loss : memref<f32>
  schedule.output "weight" %weight : memref<f32>
  schedule.output "correct" %correct : memref<f32>
}
