// Keys and values came before the first piece too: as many as the second has, so that LENGTH came before the second.
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %pk: tensor<2xSECONDx6xf32> {hybrid.name = "pk"}, %pv: tensor<2xSECONDx6xf32> {hybrid.name = "pv"}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "y"}) {
  %y, %ylse = hybrid.attention %q, %k, %v heads 2 kv_heads 1 past(%pk, %pv : tensor<2xSECONDx6xf32>, tensor<2xSECONDx6xf32>) {rotary_dims = 2 : i64} : tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx6xf32> -> tensor<2xLENGTHx12xf32>, tensor<2x2xLENGTHxf32>
  return %y : tensor<2xLENGTHx12xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %pk: tensor<2xSECONDx6xf32> {hybrid.name = "pk"}, %pv: tensor<2xSECONDx6xf32> {hybrid.name = "pv"}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "y"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %pk1 = hybrid.concat %pk, %k0 along 1 : tensor<2xSECONDx6xf32>, tensor<2xFIRSTx6xf32> -> tensor<2xLENGTHx6xf32>
  %pv1 = hybrid.concat %pv, %v0 along 1 : tensor<2xSECONDx6xf32>, tensor<2xFIRSTx6xf32> -> tensor<2xLENGTHx6xf32>
  %y0, %y0lse = hybrid.attention %q0, %k0, %v0 heads 2 kv_heads 1 past(%pk, %pv : tensor<2xSECONDx6xf32>, tensor<2xSECONDx6xf32>) {rotary_dims = 2 : i64} : tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx6xf32> -> tensor<2xFIRSTx12xf32>, tensor<2x2xFIRSTxf32>
  %y1, %y1lse = hybrid.attention %q1, %k1, %v1 heads 2 kv_heads 1 past(%pk1, %pv1 : tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx6xf32>) {rotary_dims = 2 : i64} : tensor<2xSECONDx12xf32>, tensor<2xSECONDx6xf32>, tensor<2xSECONDx6xf32> -> tensor<2xSECONDx12xf32>, tensor<2x2xSECONDxf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xLENGTHx12xf32>
  return %y : tensor<2xLENGTHx12xf32>
}
// -----
// The state is the keys and values before.
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx12xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "y"}) {
  %y, %ylse = hybrid.attention %q, %k, %v heads 3 kv_heads 3 {rotary_dims = 4 : i64} : tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx12xf32> -> tensor<2xLENGTHx12xf32>, tensor<2x3xLENGTHxf32>
  return %y : tensor<2xLENGTHx12xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx12xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "y"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %y0, %y0lse = hybrid.attention %q0, %k0, %v0 heads 3 kv_heads 3 {rotary_dims = 4 : i64} : tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2x3xFIRSTxf32>
  %y1, %y1lse = hybrid.attention %q1, %k1, %v1 heads 3 kv_heads 3 past(%k0, %v0 : tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx12xf32>) {rotary_dims = 4 : i64} : tensor<2xSECONDx12xf32>, tensor<2xSECONDx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xSECONDx12xf32>, tensor<2x3xSECONDxf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xLENGTHx12xf32>
  return %y : tensor<2xLENGTHx12xf32>
}
// -----
// Grouped queries and a window.
func.func @forward(%q: tensor<2xLENGTHx16xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx16xf32> {hybrid.name = "y"}) {
  %y, %ylse = hybrid.attention %q, %k, %v heads 4 kv_heads 2 {window = 5 : i64} : tensor<2xLENGTHx16xf32>, tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32> -> tensor<2xLENGTHx16xf32>, tensor<2x4xLENGTHxf32>
  return %y : tensor<2xLENGTHx16xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx16xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx16xf32> {hybrid.name = "y"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx16xf32> -> tensor<2xFIRSTx16xf32>, tensor<2xSECONDx16xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %y0, %y0lse = hybrid.attention %q0, %k0, %v0 heads 4 kv_heads 2 {window = 5 : i64} : tensor<2xFIRSTx16xf32>, tensor<2xFIRSTx8xf32>, tensor<2xFIRSTx8xf32> -> tensor<2xFIRSTx16xf32>, tensor<2x4xFIRSTxf32>
  %y1, %y1lse = hybrid.attention %q1, %k1, %v1 heads 4 kv_heads 2 past(%k0, %v0 : tensor<2xFIRSTx8xf32>, tensor<2xFIRSTx8xf32>) {window = 5 : i64} : tensor<2xSECONDx16xf32>, tensor<2xSECONDx8xf32>, tensor<2xSECONDx8xf32> -> tensor<2xSECONDx16xf32>, tensor<2x4xSECONDxf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx16xf32>, tensor<2xSECONDx16xf32> -> tensor<2xLENGTHx16xf32>
  return %y : tensor<2xLENGTHx16xf32>
}
// -----
// Packed.
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx12xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "y"}) {
  %y, %ylse = hybrid.attention %q, %k, %v heads 3 kv_heads 3 segments(%ids : tensor<2xLENGTHxi32>) : tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx12xf32> -> tensor<2xLENGTHx12xf32>, tensor<2x3xLENGTHxf32>
  return %y : tensor<2xLENGTHx12xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx12xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "y"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %y0, %y0lse = hybrid.attention %q0, %k0, %v0 heads 3 kv_heads 3 : tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2x3xFIRSTxf32>
  %y1, %y1lse = hybrid.attention %q1, %k1, %v1 heads 3 kv_heads 3 : tensor<2xSECONDx12xf32>, tensor<2xSECONDx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xSECONDx12xf32>, tensor<2x3xSECONDxf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xLENGTHx12xf32>
  return %y : tensor<2xLENGTHx12xf32>
}
// -----
// Packed, with grouped queries, a window and rotated pairs.
func.func @forward(%q: tensor<2xLENGTHx16xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx16xf32> {hybrid.name = "y"}) {
  %y, %ylse = hybrid.attention %q, %k, %v heads 4 kv_heads 2 segments(%ids : tensor<2xLENGTHxi32>) {rotary_dims = 4 : i64, rotary_interleaved = true, window = 5 : i64} : tensor<2xLENGTHx16xf32>, tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32> -> tensor<2xLENGTHx16xf32>, tensor<2x4xLENGTHxf32>
  return %y : tensor<2xLENGTHx16xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx16xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx16xf32> {hybrid.name = "y"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx16xf32> -> tensor<2xFIRSTx16xf32>, tensor<2xSECONDx16xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %y0, %y0lse = hybrid.attention %q0, %k0, %v0 heads 4 kv_heads 2 {rotary_dims = 4 : i64, rotary_interleaved = true, window = 5 : i64} : tensor<2xFIRSTx16xf32>, tensor<2xFIRSTx8xf32>, tensor<2xFIRSTx8xf32> -> tensor<2xFIRSTx16xf32>, tensor<2x4xFIRSTxf32>
  %y1, %y1lse = hybrid.attention %q1, %k1, %v1 heads 4 kv_heads 2 {rotary_dims = 4 : i64, rotary_interleaved = true, window = 5 : i64} : tensor<2xSECONDx16xf32>, tensor<2xSECONDx8xf32>, tensor<2xSECONDx8xf32> -> tensor<2xSECONDx16xf32>, tensor<2x4xSECONDxf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx16xf32>, tensor<2xSECONDx16xf32> -> tensor<2xLENGTHx16xf32>
  return %y : tensor<2xLENGTHx16xf32>
}
// -----
// Packed, not causal.
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx10xf32> {hybrid.name = "v"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx10xf32> {hybrid.name = "y"}) {
  %y, %ylse = hybrid.attention %q, %k, %v heads 2 kv_heads 2 segments(%ids : tensor<2xLENGTHxi32>) {causal = false} : tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx10xf32> -> tensor<2xLENGTHx10xf32>, tensor<2x2xLENGTHxf32>
  return %y : tensor<2xLENGTHx10xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx10xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx10xf32> {hybrid.name = "y"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %y0, %y0lse = hybrid.attention %q0, %k0, %v0 heads 2 kv_heads 2 {causal = false} : tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2x2xFIRSTxf32>
  %y1, %y1lse = hybrid.attention %q1, %k1, %v1 heads 2 kv_heads 2 {causal = false} : tensor<2xSECONDx10xf32>, tensor<2xSECONDx10xf32>, tensor<2xSECONDx10xf32> -> tensor<2xSECONDx10xf32>, tensor<2x2xSECONDxf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32> -> tensor<2xLENGTHx10xf32>
  return %y : tensor<2xLENGTHx10xf32>
}
// -----
// A score with positions and a term of the key, and values of another size.
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx12xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx3xf32> {hybrid.name = "g"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "y"}) {
  %t = hybrid.transpose %g by [0, 2, 1] : tensor<2xLENGTHx3xf32> -> tensor<2x3xLENGTHxf32>
  %r = hybrid.reshape %t to [2, 1, 3, LENGTH] : tensor<2x3xLENGTHxf32> -> tensor<2x1x3xLENGTHxf32>
  %y, %ylse = hybrid.attention %q, %k, %v heads 3 kv_heads 3 key_terms(%r : tensor<2x1x3xLENGTHxf32>) : tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx6xf32> -> tensor<2xLENGTHx6xf32>, tensor<2x3xLENGTHxf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>, %gate: tensor<f32>):
    %cap = hybrid.constant 2.0 : tensor<f32>
    %capped = hybrid.unary tanh %s : tensor<f32>
    %wide = hybrid.binary mul %capped, %cap : tensor<f32>, tensor<f32>
    %distance = hybrid.binary sub %key, %query : tensor<f32>, tensor<f32>
    %near = hybrid.unary tanh %distance : tensor<f32>
    %sum = hybrid.binary add %wide, %near : tensor<f32>, tensor<f32>
    %logit = hybrid.binary sub %sum, %gate : tensor<f32>, tensor<f32>
    hybrid.yield %logit : tensor<f32>
  }
  return %y : tensor<2xLENGTHx6xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx12xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx3xf32> {hybrid.name = "g"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "y"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx3xf32> -> tensor<2xFIRSTx3xf32>, tensor<2xSECONDx3xf32>
  %t0 = hybrid.transpose %g0 by [0, 2, 1] : tensor<2xFIRSTx3xf32> -> tensor<2x3xFIRSTxf32>
  %r0 = hybrid.reshape %t0 to [2, 1, 3, FIRST] : tensor<2x3xFIRSTxf32> -> tensor<2x1x3xFIRSTxf32>
  %t = hybrid.transpose %g by [0, 2, 1] : tensor<2xLENGTHx3xf32> -> tensor<2x3xLENGTHxf32>
  %r = hybrid.reshape %t to [2, 1, 3, LENGTH] : tensor<2x3xLENGTHxf32> -> tensor<2x1x3xLENGTHxf32>
  %y0, %y0lse = hybrid.attention %q0, %k0, %v0 heads 3 kv_heads 3 key_terms(%r0 : tensor<2x1x3xFIRSTxf32>) : tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2x3xFIRSTxf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>, %gate: tensor<f32>):
    %cap = hybrid.constant 2.0 : tensor<f32>
    %capped = hybrid.unary tanh %s : tensor<f32>
    %wide = hybrid.binary mul %capped, %cap : tensor<f32>, tensor<f32>
    %distance = hybrid.binary sub %key, %query : tensor<f32>, tensor<f32>
    %near = hybrid.unary tanh %distance : tensor<f32>
    %sum = hybrid.binary add %wide, %near : tensor<f32>, tensor<f32>
    %logit = hybrid.binary sub %sum, %gate : tensor<f32>, tensor<f32>
    hybrid.yield %logit : tensor<f32>
  }
  %y1, %y1lse = hybrid.attention %q1, %k1, %v1 heads 3 kv_heads 3 past(%k0, %v0 : tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx6xf32>) key_terms(%r : tensor<2x1x3xLENGTHxf32>) : tensor<2xSECONDx12xf32>, tensor<2xSECONDx12xf32>, tensor<2xSECONDx6xf32> -> tensor<2xSECONDx6xf32>, tensor<2x3xSECONDxf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>, %gate: tensor<f32>):
    %cap = hybrid.constant 2.0 : tensor<f32>
    %capped = hybrid.unary tanh %s : tensor<f32>
    %wide = hybrid.binary mul %capped, %cap : tensor<f32>, tensor<f32>
    %distance = hybrid.binary sub %key, %query : tensor<f32>, tensor<f32>
    %near = hybrid.unary tanh %distance : tensor<f32>
    %sum = hybrid.binary add %wide, %near : tensor<f32>, tensor<f32>
    %logit = hybrid.binary sub %sum, %gate : tensor<f32>, tensor<f32>
    hybrid.yield %logit : tensor<f32>
  }
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32> -> tensor<2xLENGTHx6xf32>
  return %y : tensor<2xLENGTHx6xf32>
}
