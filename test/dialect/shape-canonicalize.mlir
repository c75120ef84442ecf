// RUN: hybrid-opt %s --canonicalize | FileCheck %s

// Only the last of several reshapes counts.
// CHECK-LABEL: func.func @reshape_reshape(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: -> tensor<4x16xf32>
// CHECK-NEXT: %[[RESHAPE:.+]] = hybrid.reshape %[[X]] to [4, 16] : tensor<2x8x4xf32> -> tensor<4x16xf32>
// CHECK-NEXT: return %[[RESHAPE]] : tensor<4x16xf32>
func.func @reshape_reshape(%x: tensor<2x8x4xf32>) -> tensor<4x16xf32> {
  %0 = hybrid.reshape %x to [64] : tensor<2x8x4xf32> -> tensor<64xf32>
  %1 = hybrid.reshape %0 to [4, 16] : tensor<64xf32> -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// There and back is nothing.
// CHECK-LABEL: func.func @reshape_back(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8xf32>
// CHECK-SAME: -> tensor<2x8xf32>
// CHECK-NEXT: return %[[X]] : tensor<2x8xf32>
func.func @reshape_back(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = hybrid.reshape %x to [16] : tensor<2x8xf32> -> tensor<16xf32>
  %1 = hybrid.reshape %0 to [2, 8] : tensor<16xf32> -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// Kept: with free dimensions an equal type does not mean an equal shape.
// CHECK-LABEL: func.func @reshape_free(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?xf32>
// CHECK-SAME: -> tensor<?x?xf32>
// CHECK-NEXT: %[[RESHAPE:.+]] = hybrid.reshape %[[X]] to ["L", "B"] : tensor<?x?xf32> -> tensor<?x?xf32>
// CHECK-NEXT: return %[[RESHAPE]] : tensor<?x?xf32>
func.func @reshape_free(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = hybrid.reshape %x to ["L", "B"] : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// The identity permutation moves nothing.
// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8xf32>
// CHECK-SAME: -> tensor<2x8xf32>
// CHECK-NEXT: return %[[X]] : tensor<2x8xf32>
func.func @transpose(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = hybrid.transpose %x by [0, 1] : tensor<2x8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// Kept: the type is the same, the order is not.
// CHECK-LABEL: func.func @transpose_square(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x8xf32>
// CHECK-SAME: -> tensor<8x8xf32>
// CHECK-NEXT: %[[TRANSPOSE:.+]] = hybrid.transpose %[[X]] by [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: return %[[TRANSPOSE]] : tensor<8x8xf32>
func.func @transpose_square(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = hybrid.transpose %x by [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Broadcast to its own shape, and the slice that is everything.
// CHECK-LABEL: func.func @identity(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8xf32>
// CHECK-SAME: -> tensor<2x8xf32>
// CHECK-NEXT: return %[[X]] : tensor<2x8xf32>
func.func @identity(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = hybrid.broadcast %x to [2, 8] : tensor<2x8xf32> -> tensor<2x8xf32>
  %1 = hybrid.slice %0 from [0, 0] size [2, 8] : tensor<2x8xf32> -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// Kept: a free dimension may still be repeated or cut.
// CHECK-LABEL: func.func @identity_free(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xf32>
// CHECK-SAME: -> tensor<?x8xf32>
// CHECK-NEXT: %[[BROADCAST:.+]] = hybrid.broadcast %[[X]] to ["B", 8] : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT: %[[SLICE:.+]] = hybrid.slice %[[BROADCAST]] from [0, 0] size ["B", 8] : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT: return %[[SLICE]] : tensor<?x8xf32>
func.func @identity_free(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = hybrid.broadcast %x to ["B", 8] : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = hybrid.slice %0 from [0, 0] size ["B", 8] : tensor<?x8xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// Parts put together again in order.
// CHECK-LABEL: func.func @concat_split(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8xf32>
// CHECK-SAME: -> tensor<2x8xf32>
// CHECK-NEXT: return %[[X]] : tensor<2x8xf32>
func.func @concat_split(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0:2 = hybrid.split %x along 1 sizes [3, 5] : tensor<2x8xf32> -> tensor<2x3xf32>, tensor<2x5xf32>
  %1 = hybrid.concat %0#0, %0#1 along 1 : tensor<2x3xf32>, tensor<2x5xf32> -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// Kept: another order, and a part left out.
// CHECK-LABEL: func.func @concat_other(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8xf32>
// CHECK-SAME: -> (tensor<2x8xf32>, tensor<2x7xf32>)
// CHECK-NEXT: %[[SPLIT:.+]]:3 = hybrid.split %[[X]] along 1 sizes [3, 4, 1] : tensor<2x8xf32> -> tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x1xf32>
// CHECK-NEXT: %[[CONCAT:.+]] = hybrid.concat %[[SPLIT]]#1, %[[SPLIT]]#0, %[[SPLIT]]#2 along 1 : tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x1xf32> -> tensor<2x8xf32>
// CHECK-NEXT: %[[CONCAT1:.+]] = hybrid.concat %[[SPLIT]]#0, %[[SPLIT]]#1 along 1 : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<2x7xf32>
// CHECK-NEXT: return %[[CONCAT]], %[[CONCAT1]] : tensor<2x8xf32>, tensor<2x7xf32>
func.func @concat_other(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x7xf32>) {
  %0:3 = hybrid.split %x along 1 sizes [3, 4, 1] : tensor<2x8xf32> -> tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x1xf32>
  %1 = hybrid.concat %0#1, %0#0, %0#2 along 1 : tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x1xf32> -> tensor<2x8xf32>
  %2 = hybrid.concat %0#0, %0#1 along 1 : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<2x7xf32>
  return %1, %2 : tensor<2x8xf32>, tensor<2x7xf32>
}

// Kept: the parts of one dimension are put together along another.
// CHECK-LABEL: func.func @concat_axis(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x4xf32>
// CHECK-SAME: -> tensor<8x2xf32>
// CHECK-NEXT: %[[SPLIT:.+]]:2 = hybrid.split %[[X]] along 1 sizes [2, 2] : tensor<4x4xf32> -> tensor<4x2xf32>, tensor<4x2xf32>
// CHECK-NEXT: %[[CONCAT:.+]] = hybrid.concat %[[SPLIT]]#0, %[[SPLIT]]#1 along 0 : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
// CHECK-NEXT: return %[[CONCAT]] : tensor<8x2xf32>
func.func @concat_axis(%x: tensor<4x4xf32>) -> tensor<8x2xf32> {
  %0:2 = hybrid.split %x along 1 sizes [2, 2] : tensor<4x4xf32> -> tensor<4x2xf32>, tensor<4x2xf32>
  %1 = hybrid.concat %0#0, %0#1 along 0 : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}

// One part is the whole.
// CHECK-LABEL: func.func @concat_one(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8xf32>
// CHECK-SAME: -> tensor<2x8xf32>
// CHECK-NEXT: return %[[X]] : tensor<2x8xf32>
func.func @concat_one(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = hybrid.concat %x along 1 : tensor<2x8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
