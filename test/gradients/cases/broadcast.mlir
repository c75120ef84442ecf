func.func @forward(%x: tensor<3x1xf32> {hybrid.name = "x"}) -> (tensor<2x3x4xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %x : tensor<3x1xf32>
  %y = hybrid.broadcast %s to [2, 3, 4] : tensor<3x1xf32> -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
