// RWKV-4's wkv: a key for each channel, one tap, decay; lanes that are not full.
func.func @forward(%k: tensor<2x13x11xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2x13x11xf32> {hybrid.name = "v"}, %u: tensor<1x11xf32> {hybrid.name = "u"}, %w: tensor<11xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}) -> (tensor<2x13x11xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.softmax_scan %k, %v taps(%u : tensor<1x11xf32>) decay(%w : tensor<11xf32>) : tensor<2x13x11xf32>, tensor<2x13x11xf32> -> tensor<2x13x11xf32>, tensor<2x13x11xf32>
  return %y : tensor<2x13x11xf32>
}
// -----
// AFT-conv: a key for many channels in several blocks, taps, no decay.
func.func @forward(%k: tensor<2x9x2xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2x9x22xf32> {hybrid.name = "v"}, %u: tensor<4x2xf32> {hybrid.name = "u"}) -> (tensor<2x9x22xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.softmax_scan %k, %v taps(%u : tensor<4x2xf32>) : tensor<2x9x2xf32>, tensor<2x9x22xf32> -> tensor<2x9x22xf32>, tensor<2x9x2xf32>
  return %y : tensor<2x9x22xf32>
}
// -----
// Packed segments, states in and out.
func.func @forward(%k: tensor<2x9x5xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2x9x10xf32> {hybrid.name = "v"}, %u: tensor<3x5xf32> {hybrid.name = "u"}, %w: tensor<5xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x9xi32> {hybrid.name = "s", test.segments}, %m: tensor<2x3x15xf32> {hybrid.name = "m"}) -> (tensor<2x9x10xf32> {hybrid.name = "y"}, tensor<2x3x15xf32> {hybrid.name = "f"}) {
  %y, %lse, %f = hybrid.softmax_scan %k, %v taps(%u : tensor<3x5xf32>) decay(%w : tensor<5xf32>) segments(%s : tensor<2x9xi32>) initial_state(%m : tensor<2x3x15xf32>) {return_state} : tensor<2x9x5xf32>, tensor<2x9x10xf32> -> tensor<2x9x10xf32>, tensor<2x9x5xf32>, tensor<2x3x15xf32>
  return %y, %f : tensor<2x9x10xf32>, tensor<2x3x15xf32>
}
// -----
// A state from a sequence shorter than the taps.
func.func @forward(%k: tensor<1x2x9xf32> {hybrid.name = "k"}, %v: tensor<1x2x9xf32> {hybrid.name = "v"}, %u: tensor<4x9xf32> {hybrid.name = "u"}, %w: tensor<9xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %m: tensor<1x4x18xf32> {hybrid.name = "m"}) -> (tensor<1x2x9xf32> {hybrid.name = "y"}, tensor<1x4x18xf32> {hybrid.name = "f"}) {
  %y, %lse, %f = hybrid.softmax_scan %k, %v taps(%u : tensor<4x9xf32>) decay(%w : tensor<9xf32>) initial_state(%m : tensor<1x4x18xf32>) {return_state} : tensor<1x2x9xf32>, tensor<1x2x9xf32> -> tensor<1x2x9xf32>, tensor<1x2x9xf32>, tensor<1x4x18xf32>
  return %y, %f : tensor<1x2x9xf32>, tensor<1x4x18xf32>
}
// -----
// AFT-simple with decay: no taps; state in and out.
func.func @forward(%k: tensor<2x7x3xf32> {hybrid.name = "k"}, %v: tensor<2x7x3xf32> {hybrid.name = "v"}, %w: tensor<3xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %m: tensor<2x1x6xf32> {hybrid.name = "m"}) -> (tensor<2x7x3xf32> {hybrid.name = "y"}, tensor<2x1x6xf32> {hybrid.name = "f"}) {
  %y, %lse, %f = hybrid.softmax_scan %k, %v decay(%w : tensor<3xf32>) initial_state(%m : tensor<2x1x6xf32>) {return_state} : tensor<2x7x3xf32>, tensor<2x7x3xf32> -> tensor<2x7x3xf32>, tensor<2x7x3xf32>, tensor<2x1x6xf32>
  return %y, %f : tensor<2x7x3xf32>, tensor<2x1x6xf32>
}
