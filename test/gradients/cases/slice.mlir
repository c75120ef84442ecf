func.func @forward(%x: tensor<4x6xf32> {hybrid.name = "x"}) -> (tensor<2x3xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %x : tensor<4x6xf32>
  %y = hybrid.slice %s from [1, 2] size [2, 3] : tensor<4x6xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// -----
// Parts of one value, beside each other, apart, equal, over each other and in two dimensions: their gradients are put together.
func.func @forward(%x: tensor<4x9xf32> {hybrid.name = "x"}) -> (tensor<2x2xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %x : tensor<4x9xf32>
  %a = hybrid.slice %s from [0, 0] size [2, 2] : tensor<4x9xf32> -> tensor<2x2xf32>
  %b = hybrid.slice %s from [0, 2] size [2, 2] : tensor<4x9xf32> -> tensor<2x2xf32>
  %c = hybrid.slice %s from [0, 5] size [2, 2] : tensor<4x9xf32> -> tensor<2x2xf32>
  %d = hybrid.slice %s from [0, 6] size [2, 2] : tensor<4x9xf32> -> tensor<2x2xf32>
  %e = hybrid.slice %s from [2, 0] size [2, 2] : tensor<4x9xf32> -> tensor<2x2xf32>
  %f = hybrid.slice %x from [1, 4] size [2, 2] : tensor<4x9xf32> -> tensor<2x2xf32>
  %g = hybrid.slice %s from [0, 5] size [2, 2] : tensor<4x9xf32> -> tensor<2x2xf32>
  %ab = hybrid.binary mul %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
  %cd = hybrid.binary mul %c, %d : tensor<2x2xf32>, tensor<2x2xf32>
  %ef = hybrid.binary mul %e, %f : tensor<2x2xf32>, tensor<2x2xf32>
  %sg = hybrid.unary sin %g : tensor<2x2xf32>
  %0 = hybrid.binary add %ab, %cd : tensor<2x2xf32>, tensor<2x2xf32>
  %1 = hybrid.binary add %0, %ef : tensor<2x2xf32>, tensor<2x2xf32>
  %y = hybrid.binary add %1, %sg : tensor<2x2xf32>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
