// RUN: hybrid-opt %s --schedule-fuse-rows | FileCheck %s --enable-var-scope

// The norm's gradient is computed where the product stores its rows, which have no memory then. What it takes besides stands in front of its store's buffers, the numbers
// of which are those of the new places.
// CHECK-LABEL: schedule.program @gradient
// CHECK-DAG: %[[A:.+]] = schedule.buffer arena "a" : memref<64x16xbf16>
// CHECK-DAG: %[[W:.+]] = schedule.buffer arena "w" : memref<16x32xbf16>
// CHECK-DAG: %[[X:.+]] = schedule.buffer arena "x" : memref<64x32xf32>
// CHECK-DAG: %[[S:.+]] = schedule.buffer arena "scale" : memref<32xf32>
// CHECK-DAG: %[[H:.+]] = schedule.buffer arena "h" : memref<64x32xf32>
// CHECK-DAG: %[[P:.+]] = schedule.buffer arena "sums" : memref<4x1x32xf32>
// CHECK-DAG: %[[DX:.+]] = schedule.buffer arena : memref<64x32xf32>
// CHECK-NOT: schedule.buffer
// CHECK: schedule.launch "roundedLinear" for "matmul + rmsnorm_grad + fused(add)" grid 2 (%[[A]], %[[W]], %[[X]], %[[S]], %[[P]], %[[H]], %[[DX]] : {{.*}})
// CHECK-SAME: {roundable = array<i64: 2>, row_function = "rmsnormBackward", row_function_buffers = 3 : i64, store_buffers = 2 : i64, writes = array<i64: 4, 6>} storing {
// CHECK-NEXT: ^bb0(%[[V:.+]]: tensor<64x32xf32>, %[[B:.+]]: tensor<64x32xf32>):
// CHECK-NEXT: %[[SUM:.+]] = hybrid.binary add %[[B]], %[[V]]
// CHECK-NEXT: schedule.yield %[[SUM]]
// CHECK-NOT: schedule.launch
// CHECK: schedule.output
schedule.program @gradient {
  %a = schedule.buffer arena "a" : memref<64x16xbf16>
  %w = schedule.buffer arena "w" : memref<16x32xbf16>
  %dy = schedule.buffer arena : memref<64x32xf32>
  %x = schedule.buffer arena "x" : memref<64x32xf32>
  %scale = schedule.buffer arena "scale" : memref<32xf32>
  %h = schedule.buffer arena "h" : memref<64x32xf32>
  %sums = schedule.buffer arena "sums" : memref<4x1x32xf32>
  %dx = schedule.buffer arena : memref<64x32xf32>
  schedule.launch "roundedLinear" for "matmul" grid 2 (%a, %w, %dy : memref<64x16xbf16>, memref<16x32xbf16>, memref<64x32xf32>) {activations = array<i64: 2>, store = "RowStore<float, 32>", store_buffers = 1 : i64, stores_rows, writes = array<i64: 2>}
  schedule.launch "rmsnormBackward" for "rmsnorm_grad + fused(add)" grid 4 (%x, %scale, %dy, %sums, %h, %dx : memref<64x32xf32>, memref<32xf32>, memref<64x32xf32>, memref<4x1x32xf32>, memref<64x32xf32>, memref<64x32xf32>) {roundable = array<i64: 0, 2>, row_operand = 2 : i64, store_buffers = 2 : i64, writes = array<i64: 3, 5>} storing {
  ^bb0(%v: tensor<64x32xf32>, %b: tensor<64x32xf32>):
    %sum = hybrid.binary add %b, %v : tensor<64x32xf32>, tensor<64x32xf32>
    schedule.yield %sum : tensor<64x32xf32>
  }
  schedule.output "sums" %sums : memref<4x1x32xf32>
  schedule.output "dx" %dx : memref<64x32xf32>
}

// Not where others read the rows,
// CHECK-LABEL: schedule.program @read_by_others
// CHECK: schedule.launch "roundedLinear" for "matmul" grid 2
// CHECK: schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4
schedule.program @read_by_others {
  %a = schedule.buffer arena "a" : memref<64x16xbf16>
  %w = schedule.buffer arena "w" : memref<16x32xbf16>
  %dy = schedule.buffer arena : memref<64x32xf32>
  %x = schedule.buffer arena "x" : memref<64x32xf32>
  %scale = schedule.buffer arena "scale" : memref<32xf32>
  %sums = schedule.buffer arena : memref<4x1x32xf32>
  %dx = schedule.buffer arena : memref<64x32xf32>
  schedule.launch "roundedLinear" for "matmul" grid 2 (%a, %w, %dy : memref<64x16xbf16>, memref<16x32xbf16>, memref<64x32xf32>) {store = "RowStore<float, 32>", store_buffers = 1 : i64, stores_rows, writes = array<i64: 2>}
  schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4 (%x, %scale, %dy, %sums, %dx : memref<64x32xf32>, memref<32xf32>, memref<64x32xf32>, memref<4x1x32xf32>, memref<64x32xf32>) {row_operand = 2 : i64, store = "RowStore<float, 32>", store_buffers = 1 : i64, writes = array<i64: 3, 4>}
  schedule.output "dy" %dy : memref<64x32xf32>
  schedule.output "dx" %dx : memref<64x32xf32>
}

// nor where the norm itself reads them twice,
// CHECK-LABEL: schedule.program @read_twice
// CHECK: schedule.launch "roundedLinear" for "matmul" grid 2
// CHECK: schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4
schedule.program @read_twice {
  %a = schedule.buffer arena "a" : memref<64x16xbf16>
  %w = schedule.buffer arena "w" : memref<16x32xbf16>
  %dy = schedule.buffer arena : memref<64x32xf32>
  %scale = schedule.buffer arena "scale" : memref<32xf32>
  %sums = schedule.buffer arena : memref<4x1x32xf32>
  %dx = schedule.buffer arena : memref<64x32xf32>
  schedule.launch "roundedLinear" for "matmul" grid 2 (%a, %w, %dy : memref<64x16xbf16>, memref<16x32xbf16>, memref<64x32xf32>) {store = "RowStore<float, 32>", store_buffers = 1 : i64, stores_rows, writes = array<i64: 2>}
  schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4 (%dy, %scale, %dy, %sums, %dx : memref<64x32xf32>, memref<32xf32>, memref<64x32xf32>, memref<4x1x32xf32>, memref<64x32xf32>) {row_operand = 2 : i64, store = "RowStore<float, 32>", store_buffers = 1 : i64, writes = array<i64: 3, 4>}
  schedule.output "dx" %dx : memref<64x32xf32>
}

// nor where something that it reads is written between,
// CHECK-LABEL: schedule.program @written_between
// CHECK: schedule.launch "roundedLinear" for "matmul" grid 2
// CHECK: schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4
schedule.program @written_between {
  %a = schedule.buffer arena "a" : memref<64x16xbf16>
  %w = schedule.buffer arena "w" : memref<16x32xbf16>
  %dy = schedule.buffer arena : memref<64x32xf32>
  %x = schedule.buffer arena "x" : memref<64x32xf32>
  %z = schedule.buffer arena : memref<64x32xf32>
  %scale = schedule.buffer arena "scale" : memref<32xf32>
  %sums = schedule.buffer arena : memref<4x1x32xf32>
  %dx = schedule.buffer arena : memref<64x32xf32>
  schedule.launch "roundedLinear" for "matmul" grid 2 (%a, %w, %dy : memref<64x16xbf16>, memref<16x32xbf16>, memref<64x32xf32>) {store = "RowStore<float, 32>", store_buffers = 1 : i64, stores_rows, writes = array<i64: 2>}
  schedule.compute for "silu" (%x) -> (%z) : (memref<64x32xf32>) -> memref<64x32xf32> {
  ^bb0(%v: tensor<64x32xf32>):
    %s = hybrid.unary silu %v : tensor<64x32xf32>
    schedule.yield %s : tensor<64x32xf32>
  }
  schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4 (%z, %scale, %dy, %sums, %dx : memref<64x32xf32>, memref<32xf32>, memref<64x32xf32>, memref<4x1x32xf32>, memref<64x32xf32>) {row_operand = 2 : i64, store = "RowStore<float, 32>", store_buffers = 1 : i64, writes = array<i64: 3, 4>}
  schedule.output "dx" %dx : memref<64x32xf32>
}

// nor where its sums do not divide into those of the product's tiles,
// CHECK-LABEL: schedule.program @uneven
// CHECK: schedule.launch "roundedLinear" for "matmul" grid 2
// CHECK: schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 3
schedule.program @uneven {
  %a = schedule.buffer arena "a" : memref<64x16xbf16>
  %w = schedule.buffer arena "w" : memref<16x32xbf16>
  %dy = schedule.buffer arena : memref<64x32xf32>
  %x = schedule.buffer arena "x" : memref<64x32xf32>
  %scale = schedule.buffer arena "scale" : memref<32xf32>
  %sums = schedule.buffer arena : memref<3x1x32xf32>
  %dx = schedule.buffer arena : memref<64x32xf32>
  schedule.launch "roundedLinear" for "matmul" grid 2 (%a, %w, %dy : memref<64x16xbf16>, memref<16x32xbf16>, memref<64x32xf32>) {store = "RowStore<float, 32>", store_buffers = 1 : i64, stores_rows, writes = array<i64: 2>}
  schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 3 (%x, %scale, %dy, %sums, %dx : memref<64x32xf32>, memref<32xf32>, memref<64x32xf32>, memref<3x1x32xf32>, memref<64x32xf32>) {row_operand = 2 : i64, store = "RowStore<float, 32>", store_buffers = 1 : i64, writes = array<i64: 3, 4>}
  schedule.output "dx" %dx : memref<64x32xf32>
}

// nor behind a kernel whose rows lie in several tiles.
// CHECK-LABEL: schedule.program @parts_of_rows
// CHECK: schedule.launch "roundedLinear" for "matmul" grid 2
// CHECK: schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4
schedule.program @parts_of_rows {
  %a = schedule.buffer arena "a" : memref<64x16xbf16>
  %w = schedule.buffer arena "w" : memref<16x32xbf16>
  %dy = schedule.buffer arena : memref<64x32xf32>
  %x = schedule.buffer arena "x" : memref<64x32xf32>
  %scale = schedule.buffer arena "scale" : memref<32xf32>
  %sums = schedule.buffer arena : memref<4x1x32xf32>
  %dx = schedule.buffer arena : memref<64x32xf32>
  schedule.launch "roundedLinear" for "matmul" grid 2 (%a, %w, %dy : memref<64x16xbf16>, memref<16x32xbf16>, memref<64x32xf32>) {store = "RowStore<float, 32>", store_buffers = 1 : i64, writes = array<i64: 2>}
  schedule.launch "rmsnormBackward" for "rmsnorm_grad" grid 4 (%x, %scale, %dy, %sums, %dx : memref<64x32xf32>, memref<32xf32>, memref<64x32xf32>, memref<4x1x32xf32>, memref<64x32xf32>) {row_operand = 2 : i64, store = "RowStore<float, 32>", store_buffers = 1 : i64, writes = array<i64: 3, 4>}
  schedule.output "dx" %dx : memref<64x32xf32>
}
