func.func @forward(%table: tensor<5x11xf32> {hybrid.name = "table"}, %ids: tensor<2x8xi32> {hybrid.name = "ids", test.range = [0.0, 5.0]}) -> (tensor<2x8x11xf32> {hybrid.name = "y"}) {
  %y = hybrid.embedding %table, %ids : tensor<5x11xf32>, tensor<2x8xi32> -> tensor<2x8x11xf32>
  return %y : tensor<2x8x11xf32>
}
