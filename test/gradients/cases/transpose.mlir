func.func @forward(%x: tensor<2x3x4xf32> {hybrid.name = "x"}) -> (tensor<4x2x3xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %x : tensor<2x3x4xf32>
  %y = hybrid.transpose %s by [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}
