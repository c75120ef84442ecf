// Experts on a GPU: offsets stay on the device, so nothing depends on where experts' rows begin.
// RUN: hybridc %s --target=cuda:sm_90a --emit=cuda | FileCheck %s

// CHECK: topK<float, TopKParams{.rows = 16384, .columns = 8, .k = 2, .xStride = 8, .alignment = 4}>
// CHECK: routeCount<float, RouteParams{.pairs = 32768, .experts = 8}>
// CHECK: routeScan<float, RouteParams{.pairs = 32768, .experts = 8}>
// CHECK: routePlace<float, RouteParams{.pairs = 32768, .experts = 8}>
// CHECK: dispatch<float, DispatchParams{.rows = 32768, .columns = 1024, .choices = 2, .tokenStride = 1024, .yStride = 1024, .alignment = 4}>
// CHECK: groupedLinear<float, GroupedLinearParams{.rows = 32768, .groups = 8, .inputs = 1024, .outputs = 3584, .splits = 1, .alignment = 4, .rowTile = 128, .columnTile = 64}>
// CHECK: collect<float, DispatchParams{.rows = 32768, .columns = 3584,

// The gradient of thin weights has few tiles: its contraction is cut, and the parts are added in order.
// CHECK: groupedLinearGrad<float, GroupedLinearParams{.rows = 32768, .groups = 8, .inputs = 128, .outputs = 16, .splits = 32, .alignment = 4, .rowTile = 32, .columnTile = 64}>
// CHECK: sumPartials<float, SumPartialsParams{.count = 32, .columns = 16384, .stride = 16384, .width = {{[0-9]+}}}>
func.func @forward(%x: tensor<16384x1x1024xf32> {hybrid.name = "x"}, %scores: tensor<16384x8xf32> {hybrid.name = "scores"}, %w: tensor<8x3584x1024xf32> {hybrid.name = "w"},
    %narrow: tensor<32768x128xf32> {hybrid.name = "narrow"}, %thin: tensor<8x16x128xf32> {hybrid.name = "thin"})
    -> (tensor<16384x2x3584xf32> {hybrid.name = "y"}, tensor<32768x16xf32> {hybrid.name = "n"}) {
  %i = hybrid.top_k %scores of 2 : tensor<16384x8xf32> -> tensor<16384x2xi32>
  %slots, %offsets = hybrid.route %i among 8 : tensor<16384x2xi32> -> tensor<16384x2xi32>, tensor<9xi32>
  %t = hybrid.broadcast %x to [16384, 2, 1024] : tensor<16384x1x1024xf32> -> tensor<16384x2x1024xf32>
  %s = hybrid.dispatch %t by %slots : tensor<16384x2x1024xf32>, tensor<16384x2xi32> -> tensor<16384x2x1024xf32>
  %z = hybrid.grouped_linear %s, %w, %offsets : tensor<16384x2x1024xf32>, tensor<8x3584x1024xf32>, tensor<9xi32> -> tensor<16384x2x3584xf32>
  %y = hybrid.collect %z by %slots : tensor<16384x2x3584xf32>, tensor<16384x2xi32> -> tensor<16384x2x3584xf32>
  %n = hybrid.grouped_linear %narrow, %thin, %offsets : tensor<32768x128xf32>, tensor<8x16x128xf32>, tensor<9xi32> -> tensor<32768x16xf32>
  return %y, %n : tensor<16384x2x3584xf32>, tensor<32768x16xf32>
}
