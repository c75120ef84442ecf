// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// The same elements under another shape; free dimensions keep their names.
// CHECK-LABEL: func.func @reshape(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[F:[^:]+]]: tensor<?x?x16xf32>
// CHECK-SAME: -> (tensor<16x4xf32>, tensor<?x?x4x4xf32>)
// CHECK-NEXT: %[[RESHAPE:.+]] = hybrid.reshape %[[X]] to [16, 4] : tensor<2x8x4xf32> -> tensor<16x4xf32>
// CHECK-NEXT: %[[RESHAPE1:.+]] = hybrid.reshape %[[F]] to ["B", "L", 4, 4] : tensor<?x?x16xf32> -> tensor<?x?x4x4xf32>
// CHECK-NEXT: return %[[RESHAPE]], %[[RESHAPE1]] : tensor<16x4xf32>, tensor<?x?x4x4xf32>
func.func @reshape(%x: tensor<2x8x4xf32>, %f: tensor<?x?x16xf32>) -> (tensor<16x4xf32>, tensor<?x?x4x4xf32>) {
  %0 = hybrid.reshape %x to [16, 4] : tensor<2x8x4xf32> -> tensor<16x4xf32>
  %1 = hybrid.reshape %f to ["B", "L", 4, 4] : tensor<?x?x16xf32> -> tensor<?x?x4x4xf32>
  return %0, %1 : tensor<16x4xf32>, tensor<?x?x4x4xf32>
}

// Another order of dimensions, a free one among them; integers too.
// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8x4xi32>
// CHECK-SAME: -> tensor<4x?x8xi32>
// CHECK-NEXT: %[[TRANSPOSE:.+]] = hybrid.transpose %[[X]] by [2, 0, 1] : tensor<?x8x4xi32> -> tensor<4x?x8xi32>
// CHECK-NEXT: return %[[TRANSPOSE]] : tensor<4x?x8xi32>
func.func @transpose(%x: tensor<?x8x4xi32>) -> tensor<4x?x8xi32> {
  %0 = hybrid.transpose %x by [2, 0, 1] : tensor<?x8x4xi32> -> tensor<4x?x8xi32>
  return %0 : tensor<4x?x8xi32>
}

// Missing dimensions and those of size 1 are repeated.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x1xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<?x8x4xf32>)
// CHECK-NEXT: %[[BROADCAST:.+]] = hybrid.broadcast %[[X]] to [2, 8, 4] : tensor<8x1xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[BROADCAST1:.+]] = hybrid.broadcast %[[X]] to ["B", 8, 4] : tensor<8x1xf32> -> tensor<?x8x4xf32>
// CHECK-NEXT: return %[[BROADCAST]], %[[BROADCAST1]] : tensor<2x8x4xf32>, tensor<?x8x4xf32>
func.func @broadcast(%x: tensor<8x1xf32>) -> (tensor<2x8x4xf32>, tensor<?x8x4xf32>) {
  %0 = hybrid.broadcast %x to [2, 8, 4] : tensor<8x1xf32> -> tensor<2x8x4xf32>
  %1 = hybrid.broadcast %x to ["B", 8, 4] : tensor<8x1xf32> -> tensor<?x8x4xf32>
  return %0, %1 : tensor<2x8x4xf32>, tensor<?x8x4xf32>
}

// Parts of different sizes, and their concatenation.
// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[SPLIT:.+]]:3 = hybrid.split %[[X]] along 1 sizes [3, 1, 4] : tensor<2x8x4xf32> -> tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<2x4x4xf32>
// CHECK-NEXT: %[[CONCAT:.+]] = hybrid.concat %[[SPLIT]]#2, %[[SPLIT]]#1, %[[SPLIT]]#0 along 1 : tensor<2x4x4xf32>, tensor<2x1x4xf32>, tensor<2x3x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[CONCAT]] : tensor<2x8x4xf32>
func.func @split(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %0:3 = hybrid.split %x along 1 sizes [3, 1, 4] : tensor<2x8x4xf32> -> tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<2x4x4xf32>
  %1 = hybrid.concat %0#2, %0#1, %0#0 along 1 : tensor<2x4x4xf32>, tensor<2x1x4xf32>, tensor<2x3x4xf32> -> tensor<2x8x4xf32>
  return %1 : tensor<2x8x4xf32>
}

// The last dimension again and again; free dimensions stay.
// CHECK-LABEL: func.func @repeat(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8x4xf32>
// CHECK-NEXT: %[[REPEAT:.+]] = hybrid.repeat_channels %[[X]] times 3 : tensor<?x8x4xf32> -> tensor<?x8x12xf32>
// CHECK-NEXT: return %[[REPEAT]] : tensor<?x8x12xf32>
func.func @repeat(%x: tensor<?x8x4xf32>) -> tensor<?x8x12xf32> {
  %0 = hybrid.repeat_channels %x times 3 : tensor<?x8x4xf32> -> tensor<?x8x12xf32>
  return %0 : tensor<?x8x12xf32>
}

// A rectangular part, and its adjoint.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[F:[^:]+]]: tensor<?x8x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<?x1x4xf32>)
// CHECK-NEXT: %[[SLICE:.+]] = hybrid.slice %[[X]] from [0, 2, 1] size [2, 4, 3] : tensor<2x8x4xf32> -> tensor<2x4x3xf32>
// CHECK-NEXT: %[[PAD:.+]] = hybrid.pad %[[SLICE]] at [0, 2, 1] in [2, 8, 4] : tensor<2x4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[SLICE1:.+]] = hybrid.slice %[[F]] from [0, 7, 0] size ["B", 1, 4] : tensor<?x8x4xf32> -> tensor<?x1x4xf32>
// CHECK-NEXT: return %[[PAD]], %[[SLICE1]] : tensor<2x8x4xf32>, tensor<?x1x4xf32>
func.func @slice(%x: tensor<2x8x4xf32>, %f: tensor<?x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<?x1x4xf32>) {
  %0 = hybrid.slice %x from [0, 2, 1] size [2, 4, 3] : tensor<2x8x4xf32> -> tensor<2x4x3xf32>
  %1 = hybrid.pad %0 at [0, 2, 1] in [2, 8, 4] : tensor<2x4x3xf32> -> tensor<2x8x4xf32>
  %2 = hybrid.slice %f from [0, 7, 0] size ["B", 1, 4] : tensor<?x8x4xf32> -> tensor<?x1x4xf32>
  return %1, %2 : tensor<2x8x4xf32>, tensor<?x1x4xf32>
}

// CHECK-LABEL: func.func @reverse
// CHECK: hybrid.reverse %{{.+}} along 1 : tensor<2x?x4xf32>
func.func @reverse(%x: tensor<2x?x4xf32>) {
  %0 = hybrid.reverse %x along 1 : tensor<2x?x4xf32>
  return
}
