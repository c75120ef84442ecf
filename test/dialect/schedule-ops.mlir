// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// Before its arena is planned a program declares buffers and views of them, and steps take them as operands.
// CHECK-LABEL: schedule.program @forward {
// CHECK-NEXT: %[[X:.+]] = schedule.buffer arena "x" : memref<4x8xf32>
// CHECK-NEXT: %[[W:.+]] = schedule.buffer parameters "w" at 128 : memref<8xf32>
// CHECK-NEXT: %[[ROW:.+]] = schedule.view %[[W]] : memref<8xf32> as memref<4x8xf32, strided<[0, 1]>>
// CHECK-NEXT: %[[Y:.+]] = schedule.buffer arena : memref<4x8xf32>
// CHECK-NEXT: %[[NONE:.+]] = schedule.absent : memref<0xf32>
// CHECK-NEXT: schedule.launch "rmsnorm" for "rmsnorm" grid 4 (%[[X]], %[[NONE]], %[[Y]] : memref<4x8xf32>, memref<0xf32>, memref<4x8xf32>) {writes = array<i64: 2>}
// CHECK-NEXT: schedule.compute for "fused(mul)" (%[[Y]], %[[ROW]]) -> (%[[Y]]) : (memref<4x8xf32>, memref<4x8xf32, strided<[0, 1]>>) -> memref<4x8xf32> {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: hybrid.binary mul
// CHECK-NEXT: schedule.yield
// CHECK-NEXT: }
// CHECK-NEXT: schedule.output "y" %[[Y]] : memref<4x8xf32>
schedule.program @forward {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %w = schedule.buffer parameters "w" at 128 : memref<8xf32>
  %row = schedule.view %w : memref<8xf32> as memref<4x8xf32, strided<[0, 1]>>
  %y = schedule.buffer arena : memref<4x8xf32>
  %none = schedule.absent : memref<0xf32>
  schedule.launch "rmsnorm" for "rmsnorm" grid 4 (%x, %none, %y : memref<4x8xf32>, memref<0xf32>, memref<4x8xf32>) {writes = array<i64: 2>}
  schedule.compute for "fused(mul)" (%y, %row) -> (%y) : (memref<4x8xf32>, memref<4x8xf32, strided<[0, 1]>>) -> memref<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<8xf32>):
    %p = hybrid.binary mul %a, %b : tensor<4x8xf32>, tensor<8xf32>
    schedule.yield %p : tensor<4x8xf32>
  }
  schedule.output "y" %y : memref<4x8xf32>
}
