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
