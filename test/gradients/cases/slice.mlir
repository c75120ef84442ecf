func.func @forward(%x: tensor<4x6xf32> {hybrid.name = "x"}) -> (tensor<2x3xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %x : tensor<4x6xf32>
  %y = hybrid.slice %s from [1, 2] size [2, 3] : tensor<4x6xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
