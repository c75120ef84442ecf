// The two largest of each row, and one chosen by all.
func.func @forward(%x: tensor<3x7x5xf32> {hybrid.name = "x"}) -> (tensor<3x7x2xf32> {hybrid.name = "y"}) {
  %i = hybrid.top_k %x of 2 : tensor<3x7x5xf32> -> tensor<3x7x2xi32>
  %y = hybrid.take %x at %i : tensor<3x7x5xf32>, tensor<3x7x2xi32> -> tensor<3x7x2xf32>
  return %y : tensor<3x7x2xf32>
}
