func.func @forward(%x: tensor<3x9x19xf32> {hybrid.name = "x"}, %w: tensor<19x4xf32> {hybrid.name = "w"}, %b: tensor<19xf32> {hybrid.name = "b"}) -> (tensor<3x9x19xf32> {hybrid.name = "y"}) {
  %y = hybrid.short_conv %x, %w bias(%b : tensor<19xf32>) : tensor<3x9x19xf32>, tensor<19x4xf32> -> tensor<3x9x19xf32>
  return %y : tensor<3x9x19xf32>
}
// -----
// Packed segments.
func.func @forward(%x: tensor<2x9x5xf32> {hybrid.name = "x"}, %w: tensor<5x3xf32> {hybrid.name = "w"}, %s: tensor<2x9xi32> {hybrid.name = "s", test.segments}) -> (tensor<2x9x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.short_conv %x, %w segments(%s : tensor<2x9xi32>) : tensor<2x9x5xf32>, tensor<5x3xf32> -> tensor<2x9x5xf32>
  return %y : tensor<2x9x5xf32>
}
// -----
// State in and out.
func.func @forward(%x: tensor<2x9x5xf32> {hybrid.name = "x"}, %w: tensor<5x3xf32> {hybrid.name = "w"}, %s: tensor<2x2x5xf32> {hybrid.name = "s"}) -> (tensor<2x9x5xf32> {hybrid.name = "y"}, tensor<2x2x5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.short_conv %x, %w initial_state(%s : tensor<2x2x5xf32>) {return_state} : tensor<2x9x5xf32>, tensor<5x3xf32> -> tensor<2x9x5xf32>, tensor<2x2x5xf32>
  return %y, %f : tensor<2x9x5xf32>, tensor<2x2x5xf32>
}
