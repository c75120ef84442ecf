func.func @forward(%x: tensor<4x6xf32> {hybrid.name = "x"}) -> (tensor<3x8xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %x : tensor<4x6xf32>
  %y = hybrid.reshape %s to [3, 8] : tensor<4x6xf32> -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
