// From a state to a state.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %w: tensor<9x4xf32> {hybrid.name = "w"}, %b: tensor<9xf32> {hybrid.name = "b"}, %s: tensor<2x3x9xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x3x9xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.short_conv %x, %w bias(%b : tensor<9xf32>) initial_state(%s : tensor<2x3x9xf32>) {return_state} : tensor<2xLENGTHx9xf32>, tensor<9x4xf32> -> tensor<2xLENGTHx9xf32>, tensor<2x3x9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x3x9xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %w: tensor<9x4xf32> {hybrid.name = "w"}, %b: tensor<9xf32> {hybrid.name = "b"}, %s: tensor<2x3x9xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x3x9xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0, %m = hybrid.short_conv %x0, %w bias(%b : tensor<9xf32>) initial_state(%s : tensor<2x3x9xf32>) {return_state} : tensor<2xFIRSTx9xf32>, tensor<9x4xf32> -> tensor<2xFIRSTx9xf32>, tensor<2x3x9xf32>
  %y1, %f = hybrid.short_conv %x1, %w bias(%b : tensor<9xf32>) initial_state(%m : tensor<2x3x9xf32>) {return_state} : tensor<2xSECONDx9xf32>, tensor<9x4xf32> -> tensor<2xSECONDx9xf32>, tensor<2x3x9xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x3x9xf32>
}
// -----
// More taps than there are positions in a piece, from zero.
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %w: tensor<5x6xf32> {hybrid.name = "w"}, %b: tensor<5xf32> {hybrid.name = "b"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %y = hybrid.short_conv %x, %w bias(%b : tensor<5xf32>) : tensor<2xLENGTHx5xf32>, tensor<5x6xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %w: tensor<5x6xf32> {hybrid.name = "w"}, %b: tensor<5xf32> {hybrid.name = "b"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %y0, %m = hybrid.short_conv %x0, %w bias(%b : tensor<5xf32>) {return_state} : tensor<2xFIRSTx5xf32>, tensor<5x6xf32> -> tensor<2xFIRSTx5xf32>, tensor<2x5x5xf32>
  %y1 = hybrid.short_conv %x1, %w bias(%b : tensor<5xf32>) initial_state(%m : tensor<2x5x5xf32>) : tensor<2xSECONDx5xf32>, tensor<5x6xf32> -> tensor<2xSECONDx5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
// -----
// Packed, from a state to a state.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %w: tensor<9x4xf32> {hybrid.name = "w"}, %b: tensor<9xf32> {hybrid.name = "b"}, %s: tensor<2x3x9xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x3x9xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.short_conv %x, %w bias(%b : tensor<9xf32>) segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x3x9xf32>) {return_state} : tensor<2xLENGTHx9xf32>, tensor<9x4xf32> -> tensor<2xLENGTHx9xf32>, tensor<2x3x9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x3x9xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %w: tensor<9x4xf32> {hybrid.name = "w"}, %b: tensor<9xf32> {hybrid.name = "b"}, %s: tensor<2x3x9xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x3x9xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0 = hybrid.short_conv %x0, %w bias(%b : tensor<9xf32>) initial_state(%s : tensor<2x3x9xf32>) : tensor<2xFIRSTx9xf32>, tensor<9x4xf32> -> tensor<2xFIRSTx9xf32>
  %y1, %f = hybrid.short_conv %x1, %w bias(%b : tensor<9xf32>) {return_state} : tensor<2xSECONDx9xf32>, tensor<9x4xf32> -> tensor<2xSECONDx9xf32>, tensor<2x3x9xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x3x9xf32>
}
// -----
// Packed, from zero.
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %w: tensor<5x6xf32> {hybrid.name = "w"}, %b: tensor<5xf32> {hybrid.name = "b"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %y = hybrid.short_conv %x, %w bias(%b : tensor<5xf32>) segments(%ids : tensor<2xLENGTHxi32>) : tensor<2xLENGTHx5xf32>, tensor<5x6xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %w: tensor<5x6xf32> {hybrid.name = "w"}, %b: tensor<5xf32> {hybrid.name = "b"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %y0 = hybrid.short_conv %x0, %w bias(%b : tensor<5xf32>) : tensor<2xFIRSTx5xf32>, tensor<5x6xf32> -> tensor<2xFIRSTx5xf32>
  %y1 = hybrid.short_conv %x1, %w bias(%b : tensor<5xf32>) : tensor<2xSECONDx5xf32>, tensor<5x6xf32> -> tensor<2xSECONDx5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
