func.func @forward(%x: tensor<2x8x6xf32> {hybrid.name = "x"}, %t: tensor<2x8xi32> {hybrid.name = "t", test.range = [0.0, 6.0]}) -> (tensor<f32> {hybrid.name = "loss"}) {
  %loss, %weight, %correct = hybrid.cross_entropy %x, %t {ignore_index = 2 : i64} : tensor<2x8x6xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return %loss : tensor<f32>
}
// -----
func.func @forward(%x: tensor<2x8x6xf32> {hybrid.name = "x"}, %t: tensor<2x8xi32> {hybrid.name = "t", test.range = [0.0, 6.0]}) -> (tensor<f32> {hybrid.name = "loss"}) {
  %w0 = hybrid.iota [8] from 0.5 step 0.25 of f32 : tensor<8xf32>
  %w = hybrid.broadcast %w0 to [2, 8] : tensor<8xf32> -> tensor<2x8xf32>
  %loss, %weight, %correct = hybrid.cross_entropy %x, %t weights(%w : tensor<2x8xf32>) {label_smoothing = 0.2 : f64} : tensor<2x8x6xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return %loss : tensor<f32>
}
