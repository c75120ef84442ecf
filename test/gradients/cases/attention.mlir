// Causal, rotary positions.
func.func @forward(%q: tensor<2x9x12xf32> {hybrid.name = "q"}, %k: tensor<2x9x12xf32> {hybrid.name = "k"}, %v: tensor<2x9x12xf32> {hybrid.name = "v"}) -> (tensor<2x9x12xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 3 kv_heads 3 {rotary_dims = 4 : i64} : tensor<2x9x12xf32>, tensor<2x9x12xf32>, tensor<2x9x12xf32> -> tensor<2x9x12xf32>, tensor<2x3x9xf32>
  return %y : tensor<2x9x12xf32>
}
// -----
// Heads whose sums are in several blocks on CUDA, with pairs of channels that are apart.
func.func @forward(%q: tensor<1x5x80xf32> {hybrid.name = "q"}, %k: tensor<1x5x80xf32> {hybrid.name = "k"}, %v: tensor<1x5x80xf32> {hybrid.name = "v"}) -> (tensor<1x5x80xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 1 kv_heads 1 {rotary_dims = 80 : i64} : tensor<1x5x80xf32>, tensor<1x5x80xf32>, tensor<1x5x80xf32> -> tensor<1x5x80xf32>, tensor<1x1x5xf32>
  return %y : tensor<1x5x80xf32>
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
// -----
// Values of another size than keys, and a gradient through the denominators.
func.func @forward(%q: tensor<2x9x8xf32> {hybrid.name = "q"}, %k: tensor<2x9x4xf32> {hybrid.name = "k"}, %v: tensor<2x9x3xf32> {hybrid.name = "v"}, %s: tensor<2x9xi32> {hybrid.name = "s", test.segments}) -> (tensor<2x9x6xf32> {hybrid.name = "y"}, tensor<2x2x9xf32> {hybrid.name = "logs"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 2 kv_heads 1 segments(%s : tensor<2x9xi32>) : tensor<2x9x8xf32>, tensor<2x9x4xf32>, tensor<2x9x3xf32> -> tensor<2x9x6xf32>, tensor<2x2x9xf32>
  return %y, %lse : tensor<2x9x6xf32>, tensor<2x2x9xf32>
}
// -----
// A score with terms of queries and of keys, positions and the head: 3 tanh(s / 3) + a b + c - (h + 1)(i - j) / 20.
func.func @forward(%q: tensor<2x9x8xf32> {hybrid.name = "q"}, %k: tensor<2x9x4xf32> {hybrid.name = "k"}, %v: tensor<2x9x4xf32> {hybrid.name = "v"}, %a: tensor<2x1x2x9xf32> {hybrid.name = "a"}, %b: tensor<2x2x2x9xf32> {hybrid.name = "b"}) -> (tensor<2x9x8xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 2 kv_heads 1 query_terms(%a : tensor<2x1x2x9xf32>) key_terms(%b : tensor<2x2x2x9xf32>) {window = 6 : i64, rotary_dims = 2 : i64} : tensor<2x9x8xf32>, tensor<2x9x4xf32>, tensor<2x9x4xf32> -> tensor<2x9x8xf32>, tensor<2x2x9xf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>, %a0: tensor<f32>, %b0: tensor<f32>, %b1: tensor<f32>):
    %cap = hybrid.constant 3.0 : tensor<f32>
    %one = hybrid.constant 1.0 : tensor<f32>
    %slope = hybrid.constant 0.05 : tensor<f32>
    %0 = hybrid.binary div %s, %cap : tensor<f32>, tensor<f32>
    %1 = hybrid.unary tanh %0 : tensor<f32>
    %2 = hybrid.binary mul %1, %cap : tensor<f32>, tensor<f32>
    %3 = hybrid.binary mul %a0, %b0 : tensor<f32>, tensor<f32>
    %4 = hybrid.binary add %2, %3 : tensor<f32>, tensor<f32>
    %5 = hybrid.binary add %4, %b1 : tensor<f32>, tensor<f32>
    %6 = hybrid.binary sub %query, %key : tensor<f32>, tensor<f32>
    %7 = hybrid.binary add %head, %one : tensor<f32>, tensor<f32>
    %8 = hybrid.binary mul %6, %7 : tensor<f32>, tensor<f32>
    %9 = hybrid.binary mul %8, %slope : tensor<f32>, tensor<f32>
    %10 = hybrid.binary sub %5, %9 : tensor<f32>, tensor<f32>
    hybrid.yield %10 : tensor<f32>
  }
  return %y : tensor<2x9x8xf32>
}
