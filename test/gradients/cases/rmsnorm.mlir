func.func @forward(%x: tensor<3x19xf32> {hybrid.name = "x"}, %w: tensor<19xf32> {hybrid.name = "w"}) -> (tensor<3x19xf32> {hybrid.name = "y"}) {
  %y = hybrid.rmsnorm %x, %w : tensor<19xf32> {epsilon = 0.1 : f64} : tensor<3x19xf32> -> tensor<3x19xf32>
  return %y : tensor<3x19xf32>
}
// -----
func.func @forward(%x: tensor<3x19xf32> {hybrid.name = "x"}) -> (tensor<3x19xf32> {hybrid.name = "y"}) {
  %y = hybrid.rmsnorm %x {epsilon = 0.1 : f64, epsilon_outside} : tensor<3x19xf32> -> tensor<3x19xf32>
  return %y : tensor<3x19xf32>
}
