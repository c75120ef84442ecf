func.func @forward(%x: tensor<2x3x9xf32> {hybrid.name = "x"}) -> (tensor<2x3x4xf32> {hybrid.name = "y"}) {
  // The last part has no gradient.
  %a, %b, %c = hybrid.split %x along 2 sizes [4, 4, 1] : tensor<2x3x9xf32> -> tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x1xf32>
  %y = hybrid.binary mul %a, %b : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
