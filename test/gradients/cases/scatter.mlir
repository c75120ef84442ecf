func.func @forward(%s: tensor<3x7x5xf32> {hybrid.name = "s"}, %x: tensor<3x7x2xf32> {hybrid.name = "x"}) -> (tensor<3x7x5xf32> {hybrid.name = "y"}, tensor<3x7x2xf32> {hybrid.name = "chosen"}) {
  %i = hybrid.top_k %s of 2 : tensor<3x7x5xf32> -> tensor<3x7x2xi32>
  %chosen = hybrid.take %s at %i : tensor<3x7x5xf32>, tensor<3x7x2xi32> -> tensor<3x7x2xf32>
  %y = hybrid.scatter %x at %i into 5 : tensor<3x7x2xf32>, tensor<3x7x2xi32> -> tensor<3x7x5xf32>
  return %y, %chosen : tensor<3x7x5xf32>, tensor<3x7x2xf32>
}
