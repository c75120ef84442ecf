// From a state to a state.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %a: tensor<9xf32> {hybrid.name = "a", test.range = [0.5, 0.99]}, %s: tensor<2x9xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x9xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.exponential_moving_average %x, %a initial_state(%s : tensor<2x9xf32>) {return_state} : tensor<2xLENGTHx9xf32>, tensor<9xf32> -> tensor<2xLENGTHx9xf32>, tensor<2x9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x9xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %a: tensor<9xf32> {hybrid.name = "a", test.range = [0.5, 0.99]}, %s: tensor<2x9xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x9xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0, %m = hybrid.exponential_moving_average %x0, %a initial_state(%s : tensor<2x9xf32>) {return_state} : tensor<2xFIRSTx9xf32>, tensor<9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2x9xf32>
  %y1, %f = hybrid.exponential_moving_average %x1, %a initial_state(%m : tensor<2x9xf32>) {return_state} : tensor<2xSECONDx9xf32>, tensor<9xf32> -> tensor<2xSECONDx9xf32>, tensor<2x9xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x9xf32>
}
// -----
// From zero.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %a: tensor<9xf32> {hybrid.name = "a", test.range = [0.5, 0.99]}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}) {
  %y = hybrid.exponential_moving_average %x, %a : tensor<2xLENGTHx9xf32>, tensor<9xf32> -> tensor<2xLENGTHx9xf32>
  return %y : tensor<2xLENGTHx9xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %a: tensor<9xf32> {hybrid.name = "a", test.range = [0.5, 0.99]}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0, %m = hybrid.exponential_moving_average %x0, %a {return_state} : tensor<2xFIRSTx9xf32>, tensor<9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2x9xf32>
  %y1 = hybrid.exponential_moving_average %x1, %a initial_state(%m : tensor<2x9xf32>) : tensor<2xSECONDx9xf32>, tensor<9xf32> -> tensor<2xSECONDx9xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y : tensor<2xLENGTHx9xf32>
}
// -----
// Packed, from a state to a state.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %a: tensor<9xf32> {hybrid.name = "a", test.range = [0.5, 0.99]}, %s: tensor<2x9xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x9xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.exponential_moving_average %x, %a segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x9xf32>) {return_state} : tensor<2xLENGTHx9xf32>, tensor<9xf32> -> tensor<2xLENGTHx9xf32>, tensor<2x9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x9xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %a: tensor<9xf32> {hybrid.name = "a", test.range = [0.5, 0.99]}, %s: tensor<2x9xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x9xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0 = hybrid.exponential_moving_average %x0, %a initial_state(%s : tensor<2x9xf32>) : tensor<2xFIRSTx9xf32>, tensor<9xf32> -> tensor<2xFIRSTx9xf32>
  %y1, %f = hybrid.exponential_moving_average %x1, %a {return_state} : tensor<2xSECONDx9xf32>, tensor<9xf32> -> tensor<2xSECONDx9xf32>, tensor<2x9xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x9xf32>
}
// -----
// Packed, from zero.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %a: tensor<9xf32> {hybrid.name = "a", test.range = [0.5, 0.99]}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}) {
  %y = hybrid.exponential_moving_average %x, %a segments(%ids : tensor<2xLENGTHxi32>) : tensor<2xLENGTHx9xf32>, tensor<9xf32> -> tensor<2xLENGTHx9xf32>
  return %y : tensor<2xLENGTHx9xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %a: tensor<9xf32> {hybrid.name = "a", test.range = [0.5, 0.99]}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0 = hybrid.exponential_moving_average %x0, %a : tensor<2xFIRSTx9xf32>, tensor<9xf32> -> tensor<2xFIRSTx9xf32>
  %y1 = hybrid.exponential_moving_average %x1, %a : tensor<2xSECONDx9xf32>, tensor<9xf32> -> tensor<2xSECONDx9xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y : tensor<2xLENGTHx9xf32>
}
