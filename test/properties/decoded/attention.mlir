// Keys that two heads share, rotated.
func.func @forward(%q: tensor<2xLENGTHx12xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 2 kv_heads 1 {rotary_dims = 4 : i64} : tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx6xf32> -> tensor<2xLENGTHx12xf32>, tensor<2x2xLENGTHxf32>
  return %y : tensor<2xLENGTHx12xf32>
}
// -----
// A window, and the logs of the denominators.
func.func @forward(%q: tensor<2xLENGTHx8xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "z"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 2 kv_heads 2 {window = 5 : i64} : tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32> -> tensor<2xLENGTHx8xf32>, tensor<2x2xLENGTHxf32>
  %t = hybrid.transpose %lse by [0, 2, 1] : tensor<2x2xLENGTHxf32> -> tensor<2xLENGTHx2xf32>
  %s = hybrid.reduce sum %t over [2] {keep} : tensor<2xLENGTHx2xf32> -> tensor<2xLENGTHx1xf32>
  %z = hybrid.binary mul %y, %s : tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx1xf32>
  return %z : tensor<2xLENGTHx8xf32>
}
// -----
// A score that reads positions themselves, and terms of queries and keys.
func.func @forward(%q: tensor<2xLENGTHx8xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx2xf32> {hybrid.name = "g"}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "y"}) {
  %r = hybrid.reshape %g to [2, LENGTH, 1, 2] : tensor<2xLENGTHx2xf32> -> tensor<2xLENGTHx1x2xf32>
  %t = hybrid.transpose %r by [0, 2, 3, 1] : tensor<2xLENGTHx1x2xf32> -> tensor<2x1x2xLENGTHxf32>
  %y, %lse = hybrid.attention %q, %k, %v heads 2 kv_heads 2 query_terms(%t : tensor<2x1x2xLENGTHxf32>) key_terms(%t : tensor<2x1x2xLENGTHxf32>) : tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32> -> tensor<2xLENGTHx8xf32>, tensor<2x2xLENGTHxf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>, %own: tensor<f32>, %other: tensor<f32>):
    %w = hybrid.constant 0.1 : tensor<f32>
    %a = hybrid.binary mul %query, %w : tensor<f32>, tensor<f32>
    %sin = hybrid.unary sin %a : tensor<f32>
    %b = hybrid.binary mul %key, %w : tensor<f32>, tensor<f32>
    %cos = hybrid.unary cos %b : tensor<f32>
    %c = hybrid.binary mul %sin, %cos : tensor<f32>, tensor<f32>
    %d = hybrid.binary add %s, %c : tensor<f32>, tensor<f32>
    %e = hybrid.binary mul %own, %other : tensor<f32>, tensor<f32>
    %f = hybrid.binary add %d, %e : tensor<f32>, tensor<f32>
    hybrid.yield %f : tensor<f32>
  }
  return %y : tensor<2xLENGTHx8xf32>
}
// -----
// A table of positions, and a count of them.
func.func @forward(%x: tensor<2xLENGTHx8xf32> {hybrid.name = "x"}, %p: tensor<LENGTHx8xf32> {hybrid.name = "p"}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "y"}) {
  %one = hybrid.constant 1.0 : tensor<1xLENGTHx1xf32>
  %n = hybrid.linear_scan %one, %one, %one heads 1 : tensor<1xLENGTHx1xf32>, tensor<1xLENGTHx1xf32>, tensor<1xLENGTHx1xf32> -> tensor<1xLENGTHx1xf32>
  %m = hybrid.binary div %x, %n : tensor<2xLENGTHx8xf32>, tensor<1xLENGTHx1xf32>
  %a = hybrid.binary add %m, %p : tensor<2xLENGTHx8xf32>, tensor<LENGTHx8xf32>
  %y, %lse = hybrid.attention %a, %a, %a heads 2 kv_heads 2 : tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32> -> tensor<2xLENGTHx8xf32>, tensor<2x2xLENGTHxf32>
  return %y : tensor<2xLENGTHx8xf32>
}
