// A free filter as long as the sequence.
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %y = hybrid.fftconv %x, %h skip(%d : tensor<5xf32>) : tensor<2xLENGTHx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
// -----
// A few taps, then one.
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<4x5xf32> {hybrid.name = "h"}, %g: tensor<1x5xf32> {hybrid.name = "g"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "z"}) {
  %y = hybrid.fftconv %x, %h : tensor<2xLENGTHx5xf32>, tensor<4x5xf32> -> tensor<2xLENGTHx5xf32>
  %z = hybrid.fftconv %y, %g : tensor<2xLENGTHx5xf32>, tensor<1x5xf32> -> tensor<2xLENGTHx5xf32>
  return %z : tensor<2xLENGTHx5xf32>
}
// -----
// Modes: their recurrence, of both halves of the channels and of channels that share a filter.
func.func @forward(%x: tensor<2xLENGTHx3xf32> {hybrid.name = "x"}, %a: tensor<4x6xf32> {hybrid.name = "a", test.range = [-0.4, -0.01]}, %b: tensor<4x6xf32> {hybrid.name = "b"}, %re: tensor<4x6xf32> {hybrid.name = "re"}, %im: tensor<4x6xf32> {hybrid.name = "im"}, %d: tensor<3xf32> {hybrid.name = "d"}) -> (tensor<2xLENGTHx3xf32> {hybrid.name = "z"}) {
  %h = hybrid.modal_filter %a, %b, %re, %im to [LENGTH] : tensor<4x6xf32> -> tensor<LENGTHx6xf32>
  %h0, %h1 = hybrid.split %h along 1 sizes [3, 3] : tensor<LENGTHx6xf32> -> tensor<LENGTHx3xf32>, tensor<LENGTHx3xf32>
  %y = hybrid.fftconv %x, %h0 skip(%d : tensor<3xf32>) : tensor<2xLENGTHx3xf32>, tensor<LENGTHx3xf32> -> tensor<2xLENGTHx3xf32>
  %c = hybrid.slice %h1 from [0, 1] size [LENGTH, 1] : tensor<LENGTHx3xf32> -> tensor<LENGTHx1xf32>
  %e = hybrid.broadcast %c to [LENGTH, 3] : tensor<LENGTHx1xf32> -> tensor<LENGTHx3xf32>
  %z = hybrid.fftconv %y, %e : tensor<2xLENGTHx3xf32>, tensor<LENGTHx3xf32> -> tensor<2xLENGTHx3xf32>
  return %z : tensor<2xLENGTHx3xf32>
}
