// RUN: hybrid-opt %s --hybrid-differentiate --canonicalize | FileCheck %s
// Gradients of parts of one value are put together: parts beside each other are joined, with zeros in the gaps, and none of them takes the
// memory of the whole. The third is read twice, and its gradients are added before.

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x9x4xf32> {hybrid.name = "x"}, %[[A:[^:]+]]: {{[^,]+}}, %[[B:[^:]+]]: {{[^,]+}}, %[[C:[^:]+]]: {{[^,]+}}, %[[D:[^:]+]]: tensor
// CHECK-DAG: %[[ZEROS:.+]] = hybrid.constant 0.000000e+00 : tensor<2x3x4xf32>
// CHECK-DAG: %[[BOTH:.+]] = hybrid.binary add
// CHECK: %[[JOINED:.+]] = hybrid.concat %[[A]], %[[B]], %[[ZEROS]], %[[BOTH]] along 1
// CHECK-NEXT: %[[SUM:.+]] = hybrid.pad %[[JOINED]] at [0, 1, 0] in [2, 9, 4]
// CHECK-NOT: hybrid.pad
// CHECK: return
func.func @forward(%x: tensor<2x9x4xf32> {hybrid.name = "x"}) -> (tensor<2x1x4xf32> {hybrid.name = "a"}, tensor<2x2x4xf32> {hybrid.name = "b"},
    tensor<2x1x4xf32> {hybrid.name = "c"}, tensor<2x1x4xf32> {hybrid.name = "d"}) {
  %a = hybrid.slice %x from [0, 1, 0] size [2, 1, 4] : tensor<2x9x4xf32> -> tensor<2x1x4xf32>
  %b = hybrid.slice %x from [0, 2, 0] size [2, 2, 4] : tensor<2x9x4xf32> -> tensor<2x2x4xf32>
  %c = hybrid.slice %x from [0, 7, 0] size [2, 1, 4] : tensor<2x9x4xf32> -> tensor<2x1x4xf32>
  %d = hybrid.slice %x from [0, 7, 0] size [2, 1, 4] : tensor<2x9x4xf32> -> tensor<2x1x4xf32>
  return %a, %b, %c, %d : tensor<2x1x4xf32>, tensor<2x2x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>
}
