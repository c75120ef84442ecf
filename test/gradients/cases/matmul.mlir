func.func @forward(%a: tensor<2x4x3xf32> {hybrid.name = "a"}, %b: tensor<3x5xf32> {hybrid.name = "b"}) -> (tensor<2x4x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.matmul %a, %b : tensor<2x4x3xf32>, tensor<3x5xf32> -> tensor<2x4x5xf32>
  return %y : tensor<2x4x5xf32>
}
// -----
func.func @forward(%a: tensor<4x3xf32> {hybrid.name = "a"}, %b: tensor<5x3xf32> {hybrid.name = "b"}) -> (tensor<4x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.matmul %a, %b {transpose_b} : tensor<4x3xf32>, tensor<5x3xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
// -----
func.func @forward(%a: tensor<2x4x3xf32> {hybrid.name = "a"}, %b: tensor<2x4x5xf32> {hybrid.name = "b"}) -> (tensor<3x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.matmul %a, %b {transpose_a} : tensor<2x4x3xf32>, tensor<2x4x5xf32> -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
// -----
// A product for each matrix, with rows of several dimensions.
func.func @forward(%a: tensor<2x3x2x4xf32> {hybrid.name = "a"}, %b: tensor<2x4x5xf32> {hybrid.name = "b"}) -> (tensor<2x3x2x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.matmul %a, %b : tensor<2x3x2x4xf32>, tensor<2x4x5xf32> -> tensor<2x3x2x5xf32>
  return %y : tensor<2x3x2x5xf32>
}
// -----
func.func @forward(%a: tensor<2x3x4x3xf32> {hybrid.name = "a"}, %b: tensor<2x3x5x3xf32> {hybrid.name = "b"}) -> (tensor<2x3x4x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.matmul %a, %b {transpose_b} : tensor<2x3x4x3xf32>, tensor<2x3x5x3xf32> -> tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}
// -----
// One row of each; operands that are views of what lies otherwise.
func.func @forward(%a: tensor<4x2x3xf32> {hybrid.name = "a"}, %b: tensor<3x5x2x3xf32> {hybrid.name = "b"}) -> (tensor<2x3x5xf32> {hybrid.name = "y"}) {
  %s = hybrid.slice %a from [1, 0, 0] size [1, 2, 3] : tensor<4x2x3xf32> -> tensor<1x2x3xf32>
  %r = hybrid.reshape %s to [2, 3, 1] : tensor<1x2x3xf32> -> tensor<2x3x1xf32>
  %t = hybrid.transpose %b by [2, 3, 0, 1] : tensor<3x5x2x3xf32> -> tensor<2x3x3x5xf32>
  %u = hybrid.slice %t from [0, 0, 1, 0] size [2, 3, 1, 5] : tensor<2x3x3x5xf32> -> tensor<2x3x1x5xf32>
  %y = hybrid.matmul %r, %u : tensor<2x3x1xf32>, tensor<2x3x1x5xf32> -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
