func.func @forward(%s: tensor<2x7x4xf32> {hybrid.name = "s"}, %x: tensor<2x7x2x5xf32> {hybrid.name = "x"}, %w: tensor<4x6x5xf32> {hybrid.name = "w"}) -> (tensor<2x7x2x6xf32> {hybrid.name = "y"}, tensor<2x7x2xf32> {hybrid.name = "chosen"}) {
  %i = hybrid.top_k %s of 2 : tensor<2x7x4xf32> -> tensor<2x7x2xi32>
  %chosen = hybrid.take %s at %i : tensor<2x7x4xf32>, tensor<2x7x2xi32> -> tensor<2x7x2xf32>
  %slots, %offsets = hybrid.route %i among 4 : tensor<2x7x2xi32> -> tensor<2x7x2xi32>, tensor<5xi32>
  %y = hybrid.grouped_linear %x, %w, %offsets : tensor<2x7x2x5xf32>, tensor<4x6x5xf32>, tensor<5xi32> -> tensor<2x7x2x6xf32>
  return %y, %chosen : tensor<2x7x2x6xf32>, tensor<2x7x2xf32>
}
// -----
// A capacity leaves rows to nobody, and some experts have none.
func.func @forward(%s: tensor<14x5xf32> {hybrid.name = "s"}, %x: tensor<14x1x5xf32> {hybrid.name = "x"}, %w: tensor<9x6x5xf32> {hybrid.name = "w"}) -> (tensor<14x1x6xf32> {hybrid.name = "y"}, tensor<14x1xf32> {hybrid.name = "chosen"}) {
  %i = hybrid.top_k %s of 1 : tensor<14x5xf32> -> tensor<14x1xi32>
  %chosen = hybrid.take %s at %i : tensor<14x5xf32>, tensor<14x1xi32> -> tensor<14x1xf32>
  %slots, %offsets = hybrid.route %i among 9 {capacity_factor = 1.2 : f64} : tensor<14x1xi32> -> tensor<14x1xi32>, tensor<10xi32>
  %y = hybrid.grouped_linear %x, %w, %offsets : tensor<14x1x5xf32>, tensor<9x6x5xf32>, tensor<10xi32> -> tensor<14x1x6xf32>
  return %y, %chosen : tensor<14x1x6xf32>, tensor<14x1xf32>
}
// -----
// Transposed weights.
func.func @forward(%s: tensor<14x4xf32> {hybrid.name = "s"}, %x: tensor<14x2x5xf32> {hybrid.name = "x"}, %w: tensor<4x5x6xf32> {hybrid.name = "w"}) -> (tensor<14x2x6xf32> {hybrid.name = "y"}, tensor<14x2xf32> {hybrid.name = "chosen"}) {
  %i = hybrid.top_k %s of 2 : tensor<14x4xf32> -> tensor<14x2xi32>
  %chosen = hybrid.take %s at %i : tensor<14x4xf32>, tensor<14x2xi32> -> tensor<14x2xf32>
  %slots, %offsets = hybrid.route %i among 4 : tensor<14x2xi32> -> tensor<14x2xi32>, tensor<5xi32>
  %y = hybrid.grouped_linear %x, %w, %offsets {transposed} : tensor<14x2x5xf32>, tensor<4x5x6xf32>, tensor<5xi32> -> tensor<14x2x6xf32>
  return %y, %chosen : tensor<14x2x6xf32>, tensor<14x2xf32>
}
