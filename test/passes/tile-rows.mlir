// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-tile-rows{min-rows=16 max-tile=8}))' | FileCheck %s
// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-tile-rows))' | FileCheck %s --check-prefix=FEW

// Fewer rows than a tile pays for stay as they are.
// FEW-NOT: hybrid.row_tiles

// A projection swallows the residual sum behind it, the norm behind that and the next projection. Rows are those of the whole batch;
// the norm's output is a result of the region only if someone else needs it.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x16x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4x4xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<8x4xf32>
// CHECK-NEXT: %[[R:.+]]:2 = hybrid.row_tiles(%[[X]], %[[W]], %[[V]]) rows 32 tile 8 : {{.*}} -> (tensor<2x16x4xf32>, tensor<2x16x8xf32>) {
// CHECK: hybrid.linear
// CHECK-NEXT: hybrid.fused
// CHECK: hybrid.rmsnorm
// CHECK-NEXT: hybrid.linear
// CHECK-NEXT: hybrid.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func @chain(%x: tensor<2x16x4xf32>, %w: tensor<4x4xf32>, %v: tensor<8x4xf32>) -> (tensor<2x16x4xf32>, tensor<2x16x8xf32>) {
  %0 = hybrid.linear %x, %w : tensor<2x16x4xf32>, tensor<4x4xf32> -> tensor<2x16x4xf32>
  %1 = hybrid.fused(%x, %0) : (tensor<2x16x4xf32>, tensor<2x16x4xf32>) -> tensor<2x16x4xf32> {
  ^bb0(%a: tensor<2x16x4xf32>, %b: tensor<2x16x4xf32>):
    %s = hybrid.binary add %a, %b : tensor<2x16x4xf32>, tensor<2x16x4xf32>
    hybrid.yield %s : tensor<2x16x4xf32>
  }
  %2 = hybrid.rmsnorm %1 : tensor<2x16x4xf32> -> tensor<2x16x4xf32>
  %3 = hybrid.linear %2, %v : tensor<2x16x4xf32>, tensor<8x4xf32> -> tensor<2x16x8xf32>
  return %1, %3 : tensor<2x16x4xf32>, tensor<2x16x8xf32>
}

// What mixes positions ends a region, and starts none.
// CHECK-LABEL: func.func @mixer(
// CHECK: hybrid.row_tiles
// CHECK: hybrid.rmsnorm
// CHECK: hybrid.linear
// CHECK: }
// CHECK-NEXT: hybrid.short_conv
// CHECK-NEXT: hybrid.row_tiles
// CHECK: hybrid.linear
// CHECK: hybrid.rmsnorm
func.func @mixer(%x: tensor<2x16x4xf32>, %w: tensor<4x4xf32>, %t: tensor<4x3xf32>) -> tensor<2x16x4xf32> {
  %0 = hybrid.rmsnorm %x : tensor<2x16x4xf32> -> tensor<2x16x4xf32>
  %1 = hybrid.linear %0, %w : tensor<2x16x4xf32>, tensor<4x4xf32> -> tensor<2x16x4xf32>
  %2 = hybrid.short_conv %1, %t : tensor<2x16x4xf32>, tensor<4x3xf32> -> tensor<2x16x4xf32>
  %3 = hybrid.linear %2, %w : tensor<2x16x4xf32>, tensor<4x4xf32> -> tensor<2x16x4xf32>
  %4 = hybrid.rmsnorm %3 : tensor<2x16x4xf32> -> tensor<2x16x4xf32>
  return %4 : tensor<2x16x4xf32>
}

// Projections of the same rows are neighbours though neither reads the other.
// CHECK-LABEL: func.func @siblings(
// CHECK: hybrid.row_tiles
// CHECK: hybrid.linear
// CHECK-NEXT: hybrid.linear
// CHECK-NEXT: hybrid.yield
func.func @siblings(%x: tensor<2x16x4xf32>, %w: tensor<4x4xf32>, %v: tensor<8x4xf32>) -> (tensor<2x16x4xf32>, tensor<2x16x8xf32>) {
  %0 = hybrid.linear %x, %w : tensor<2x16x4xf32>, tensor<4x4xf32> -> tensor<2x16x4xf32>
  %1 = hybrid.linear %x, %v : tensor<2x16x4xf32>, tensor<8x4xf32> -> tensor<2x16x8xf32>
  return %0, %1 : tensor<2x16x4xf32>, tensor<2x16x8xf32>
}

// The loss and its gradient: the weight of the targets is known before, so that logits and their gradient exist for one tile at a time, and
// the gradient of the projection grows tile by tile. Such tiles follow one another.
// CHECK-LABEL: func.func @loss(
// CHECK: %[[WEIGHT:.+]] = hybrid.target_weight
// CHECK: hybrid.row_tiles({{.*}}%[[WEIGHT]]{{.*}}) rows 32 tile 32 sequential : {{.*}} -> (tensor<f32>, tensor<2x16x4xf32>, tensor<9x4xf32>) {
// CHECK: %[[LOGITS:.+]] = hybrid.linear
// CHECK-NEXT: hybrid.cross_entropy %[[LOGITS]]
// CHECK-NEXT: %[[D:.+]] = hybrid.cross_entropy_grad %[[LOGITS]]
// CHECK-NEXT: hybrid.matmul %[[D]]
// CHECK-NEXT: hybrid.matmul %[[D]], {{.*}} {transpose_a}
// CHECK-NEXT: hybrid.yield
func.func @loss(%x: tensor<2x16x4xf32>, %w: tensor<9x4xf32>, %targets: tensor<2x16xi32>, %one: tensor<f32>) -> (tensor<f32>, tensor<2x16x4xf32>, tensor<9x4xf32>) {
  %total = hybrid.target_weight %targets {ignore_index = -100 : i64} : tensor<2x16xi32> -> tensor<f32>
  %0 = hybrid.linear %x, %w : tensor<2x16x4xf32>, tensor<9x4xf32> -> tensor<2x16x9xf32>
  %loss, %weight, %correct = hybrid.cross_entropy %0, %targets : tensor<2x16x9xf32>, tensor<2x16xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  %1 = hybrid.cross_entropy_grad %0, %targets, %total, %one {ignore_index = -100 : i64, label_smoothing = 0.0 : f64} : tensor<2x16x9xf32>, tensor<2x16xi32>, tensor<f32>, tensor<f32> -> tensor<2x16x9xf32>
  %2 = hybrid.matmul %1, %w : tensor<2x16x9xf32>, tensor<9x4xf32> -> tensor<2x16x4xf32>
  %3 = hybrid.matmul %1, %x {transpose_a} : tensor<2x16x9xf32>, tensor<2x16x4xf32> -> tensor<9x4xf32>
  return %loss, %2, %3 : tensor<f32>, tensor<2x16x4xf32>, tensor<9x4xf32>
}

// A sum over rows is complete only behind the region: what uses it stays outside.
// CHECK-LABEL: func.func @sum_is_used(
// CHECK: hybrid.row_tiles
// CHECK: hybrid.linear
// CHECK: hybrid.reduce
// CHECK: hybrid.yield
// CHECK: }
// CHECK-NEXT: hybrid.unary neg
func.func @sum_is_used(%x: tensor<2x16x4xf32>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = hybrid.linear %x, %w : tensor<2x16x4xf32>, tensor<4x4xf32> -> tensor<2x16x4xf32>
  %1 = hybrid.reduce sum %0 over [0, 1] : tensor<2x16x4xf32> -> tensor<4xf32>
  %2 = hybrid.unary neg %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A table with a row a position of a sequence is no row of the batch: the region goes around its op.
// CHECK-LABEL: func.func @positions(
// CHECK: hybrid.linear
// CHECK-NEXT: hybrid.fused
// CHECK-NOT: hybrid.row_tiles
func.func @positions(%x: tensor<2x16x4xf32>, %w: tensor<4x4xf32>, %p: tensor<16x4xf32>) -> tensor<2x16x4xf32> {
  %0 = hybrid.linear %x, %w : tensor<2x16x4xf32>, tensor<4x4xf32> -> tensor<2x16x4xf32>
  %1 = hybrid.fused(%0, %p) : (tensor<2x16x4xf32>, tensor<16x4xf32>) -> tensor<2x16x4xf32> {
  ^bb0(%a: tensor<2x16x4xf32>, %b: tensor<16x4xf32>):
    %s = hybrid.binary add %a, %b : tensor<2x16x4xf32>, tensor<16x4xf32>
    hybrid.yield %s : tensor<2x16x4xf32>
  }
  return %1 : tensor<2x16x4xf32>
}
