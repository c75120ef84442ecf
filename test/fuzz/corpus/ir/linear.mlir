func.func @forward(%x: tensor<?x?x4xf32> {hybrid.name = "x"}) -> (tensor<?x?x2xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "head.weight" : tensor<2x4xf32>
  %b = hybrid.parameter "head.bias" {decay = false} : tensor<2xf32>
  %y = hybrid.linear(%x, %w) bias(%b) : (tensor<?x?x4xf32>, tensor<2x4xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}
