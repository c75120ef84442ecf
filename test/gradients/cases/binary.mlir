// Equal shapes.
func.func @forward(%a: tensor<3x5xf32> {hybrid.name = "a"}, %b: tensor<3x5xf32> {hybrid.name = "b", test.range = [0.4, 1.6]}) -> (tensor<3x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.binary KIND %a, %b : tensor<3x5xf32>, tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
// -----
// Both sides repeated.
func.func @forward(%a: tensor<4x1x5xf32> {hybrid.name = "a"}, %b: tensor<3x1xf32> {hybrid.name = "b", test.range = [-1.5, -0.2]}) -> (tensor<4x3x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.binary KIND %a, %b : tensor<4x1x5xf32>, tensor<3x1xf32>
  return %y : tensor<4x3x5xf32>
}
// -----
// A scalar, and one value used twice.
func.func @forward(%a: tensor<f32> {hybrid.name = "a", test.range = [0.4, 1.6]}, %b: tensor<6xf32> {hybrid.name = "b", test.range = [0.4, 1.6]}) -> (tensor<6xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %b : tensor<6xf32>
  %y = hybrid.binary KIND %a, %s : tensor<f32>, tensor<6xf32>
  %z = hybrid.binary mul %y, %b : tensor<6xf32>, tensor<6xf32>
  return %z : tensor<6xf32>
}
