func.func @forward(%x: tensor<3x7x5xf32> {hybrid.name = "x"}) -> (tensor<3x7x5xf32> {hybrid.name = "y"}, tensor<3x7x5xf32> {hybrid.name = "z"}) {
  %y = hybrid.reverse %x along 1 : tensor<3x7x5xf32>
  %z = hybrid.reverse %x along 2 : tensor<3x7x5xf32>
  return %y, %z : tensor<3x7x5xf32>, tensor<3x7x5xf32>
}
