func.func @forward(%x: tensor<2x3xf32> {hybrid.name = "x"}) -> (tensor<4x6xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %x : tensor<2x3xf32>
  %y = hybrid.pad %s at [1, 2] in [4, 6] : tensor<2x3xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
