func.func @forward(%x: tensor<3x19xf32> {hybrid.name = "x"}, %w: tensor<19xf32> {hybrid.name = "w"}, %b: tensor<19xf32> {hybrid.name = "b"}) -> (tensor<3x19xf32> {hybrid.name = "y"}) {
  %y = hybrid.layernorm %x weight(%w : tensor<19xf32>) bias(%b : tensor<19xf32>) {epsilon = 0.1 : f64} : tensor<3x19xf32> -> tensor<3x19xf32>
  return %y : tensor<3x19xf32>
}
// -----
func.func @forward(%x: tensor<3x19xf32> {hybrid.name = "x"}) -> (tensor<3x19xf32> {hybrid.name = "y"}) {
  %y = hybrid.layernorm %x : tensor<3x19xf32> -> tensor<3x19xf32>
  return %y : tensor<3x19xf32>
}
