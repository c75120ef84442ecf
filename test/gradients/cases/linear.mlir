func.func @forward(%x: tensor<2x5x7xf32> {hybrid.name = "x"}, %w: tensor<3x7xf32> {hybrid.name = "w"}, %b: tensor<3xf32> {hybrid.name = "b"}) -> (tensor<2x5x3xf32> {hybrid.name = "y"}) {
  %y = hybrid.linear %x, %w bias(%b : tensor<3xf32>) : tensor<2x5x7xf32>, tensor<3x7xf32> -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}
// -----
func.func @forward(%x: tensor<6x7xf32> {hybrid.name = "x"}, %w: tensor<3x7xf32> {hybrid.name = "w"}) -> (tensor<6x3xf32> {hybrid.name = "y"}) {
  %y = hybrid.linear %x, %w : tensor<6x7xf32>, tensor<3x7xf32> -> tensor<6x3xf32>
  return %y : tensor<6x3xf32>
}
