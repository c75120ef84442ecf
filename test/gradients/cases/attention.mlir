// Causal, rotary positions.
func.func @forward(%q: tensor<2x9x12xf32> {hybrid.name = "q"}, %k: tensor<2x9x12xf32> {hybrid.name = "k"}, %v: tensor<2x9x12xf32> {hybrid.name = "v"}) -> (tensor<2x9x12xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 3 kv_heads 3 {rotary_dims = 4 : i64} : tensor<2x9x12xf32>, tensor<2x9x12xf32>, tensor<2x9x12xf32> -> tensor<2x9x12xf32>, tensor<2x3x9xf32>
  return %y : tensor<2x9x12xf32>
}
// -----
// Grouped queries, a window, interleaved pairs with xPos scales.
func.func @forward(%q: tensor<2x19x16xf32> {hybrid.name = "q"}, %k: tensor<2x19x8xf32> {hybrid.name = "k"}, %v: tensor<2x19x8xf32> {hybrid.name = "v"}) -> (tensor<2x19x16xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 4 kv_heads 2 {rotary_dims = 4 : i64, rotary_interleaved = true, xpos_base = 64.0 : f64, window = 5 : i64} : tensor<2x19x16xf32>, tensor<2x19x8xf32>, tensor<2x19x8xf32> -> tensor<2x19x16xf32>, tensor<2x4x19xf32>
  return %y : tensor<2x19x16xf32>
}
// -----
// Not causal, packed segments.
func.func @forward(%q: tensor<2x11x6xf32> {hybrid.name = "q"}, %k: tensor<2x11x6xf32> {hybrid.name = "k"}, %v: tensor<2x11x6xf32> {hybrid.name = "v"}, %s: tensor<2x11xi32> {hybrid.name = "s", test.segments}) -> (tensor<2x11x6xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 2 kv_heads 2 segments(%s : tensor<2x11xi32>) {causal = false} : tensor<2x11x6xf32>, tensor<2x11x6xf32>, tensor<2x11x6xf32> -> tensor<2x11x6xf32>, tensor<2x2x11xf32>
  return %y : tensor<2x11x6xf32>
}
// -----
// Past keys and values.
func.func @forward(%q: tensor<1x4x6xf32> {hybrid.name = "q"}, %k: tensor<1x4x6xf32> {hybrid.name = "k"}, %v: tensor<1x4x6xf32> {hybrid.name = "v"}, %pk: tensor<1x5x6xf32> {hybrid.name = "pk"}, %pv: tensor<1x5x6xf32> {hybrid.name = "pv"}) -> (tensor<1x4x6xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 2 kv_heads 2 past(%pk, %pv : tensor<1x5x6xf32>, tensor<1x5x6xf32>) : tensor<1x4x6xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32> -> tensor<1x4x6xf32>, tensor<1x2x4xf32>
  return %y : tensor<1x4x6xf32>
}
