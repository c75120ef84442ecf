// Lanes that are not full.
func.func @forward(%x: tensor<2x9x19xf32> {hybrid.name = "x"}, %a: tensor<19xf32> {hybrid.name = "a", test.range = [0.1, 0.95]}) -> (tensor<2x9x19xf32> {hybrid.name = "y"}) {
  %y = hybrid.exponential_moving_average %x, %a : tensor<2x9x19xf32>, tensor<19xf32> -> tensor<2x9x19xf32>
  return %y : tensor<2x9x19xf32>
}
// -----
// Packed segments; states in and out.
func.func @forward(%x: tensor<2x9x5xf32> {hybrid.name = "x"}, %a: tensor<5xf32> {hybrid.name = "a", test.range = [0.1, 0.95]}, %ids: tensor<2x9xi32> {hybrid.name = "ids", test.segments}, %s: tensor<2x5xf32> {hybrid.name = "s"}) -> (tensor<2x9x5xf32> {hybrid.name = "y"}, tensor<2x5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.exponential_moving_average %x, %a segments(%ids : tensor<2x9xi32>) initial_state(%s : tensor<2x5xf32>) {return_state} : tensor<2x9x5xf32>, tensor<5xf32> -> tensor<2x9x5xf32>, tensor<2x5xf32>
  return %y, %f : tensor<2x9x5xf32>, tensor<2x5xf32>
}
// -----
// Divided over time.
func.func @forward(%x: tensor<1x520x3xf32> {hybrid.name = "x"}, %a: tensor<3xf32> {hybrid.name = "a", test.range = [0.9, 0.96]}, %s: tensor<1x3xf32> {hybrid.name = "s"}) -> (tensor<1x520x3xf32> {hybrid.name = "y"}, tensor<1x3xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.exponential_moving_average %x, %a initial_state(%s : tensor<1x3xf32>) {return_state} : tensor<1x520x3xf32>, tensor<3xf32> -> tensor<1x520x3xf32>, tensor<1x3xf32>
  return %y, %f : tensor<1x520x3xf32>, tensor<1x3xf32>
}
// -----
func.func @forward(%x: tensor<1x520x3xf32> {hybrid.name = "x"}, %a: tensor<3xf32> {hybrid.name = "a", test.range = [0.9, 0.96]}, %ids: tensor<1x520xi32> {hybrid.name = "ids", test.segments}) -> (tensor<1x520x3xf32> {hybrid.name = "y"}) {
  %y = hybrid.exponential_moving_average %x, %a segments(%ids : tensor<1x520xi32>) : tensor<1x520x3xf32>, tensor<3xf32> -> tensor<1x520x3xf32>
  return %y : tensor<1x520x3xf32>
}
