func.func @forward(%a: tensor<2x3xf32> {hybrid.name = "a"}, %b: tensor<2x5xf32> {hybrid.name = "b"}) -> (tensor<2x11xf32> {hybrid.name = "y"}, tensor<4x3xf32> {hybrid.name = "z"}) {
  %s = hybrid.unary square %a : tensor<2x3xf32>
  %y = hybrid.concat %s, %b, %a along 1 : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x3xf32> -> tensor<2x11xf32>
  %z = hybrid.concat %s, %s along 0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  return %y, %z : tensor<2x11xf32>, tensor<4x3xf32>
}
