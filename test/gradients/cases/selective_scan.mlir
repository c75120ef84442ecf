// Two chunks and a rest, lanes that are not full, states beyond a tile.
func.func @forward(%x: tensor<2x35x11xf32> {hybrid.name = "x"}, %dt: tensor<2x35x11xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<11x5xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2x35x5xf32> {hybrid.name = "b"}, %c: tensor<2x35x5xf32> {hybrid.name = "c"}) -> (tensor<2x35x11xf32> {hybrid.name = "y"}) {
  %y = hybrid.selective_scan %x, %dt, %a, %b, %c : tensor<2x35x11xf32>, tensor<2x35x11xf32>, tensor<11x5xf32>, tensor<2x35x5xf32>, tensor<2x35x5xf32> -> tensor<2x35x11xf32>
  return %y : tensor<2x35x11xf32>
}
// -----
// Groups; packed segments; states in and out.
func.func @forward(%x: tensor<2x9x6xf32> {hybrid.name = "x"}, %dt: tensor<2x9x6xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<6x4xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2x9x12xf32> {hybrid.name = "b"}, %c: tensor<2x9x12xf32> {hybrid.name = "c"}, %s: tensor<2x9xi32> {hybrid.name = "s", test.segments}, %h: tensor<2x6x4xf32> {hybrid.name = "h"}) -> (tensor<2x9x6xf32> {hybrid.name = "y"}, tensor<2x6x4xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.selective_scan %x, %dt, %a, %b, %c segments(%s : tensor<2x9xi32>) initial_state(%h : tensor<2x6x4xf32>) {return_state} : tensor<2x9x6xf32>, tensor<2x9x6xf32>, tensor<6x4xf32>, tensor<2x9x12xf32>, tensor<2x9x12xf32> -> tensor<2x9x6xf32>, tensor<2x6x4xf32>
  return %y, %f : tensor<2x9x6xf32>, tensor<2x6x4xf32>
}
// -----
// Constant maps.
func.func @forward(%x: tensor<2x9x10xf32> {hybrid.name = "x"}, %dt: tensor<2x9x10xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<10x3xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<10x3xf32> {hybrid.name = "b"}, %c: tensor<10x3xf32> {hybrid.name = "c"}) -> (tensor<2x9x10xf32> {hybrid.name = "y"}) {
  %y = hybrid.selective_scan %x, %dt, %a, %b, %c : tensor<2x9x10xf32>, tensor<2x9x10xf32>, tensor<10x3xf32>, tensor<10x3xf32>, tensor<10x3xf32> -> tensor<2x9x10xf32>
  return %y : tensor<2x9x10xf32>
}
// -----
// A constant input map beside groups of the output map; a final state without an initial one.
func.func @forward(%x: tensor<1x7x6xf32> {hybrid.name = "x"}, %dt: tensor<1x7x6xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<6x2xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<6x2xf32> {hybrid.name = "b"}, %c: tensor<1x7x4xf32> {hybrid.name = "c"}) -> (tensor<1x7x6xf32> {hybrid.name = "y"}, tensor<1x6x2xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.selective_scan %x, %dt, %a, %b, %c {return_state} : tensor<1x7x6xf32>, tensor<1x7x6xf32>, tensor<6x2xf32>, tensor<6x2xf32>, tensor<1x7x4xf32> -> tensor<1x7x6xf32>, tensor<1x6x2xf32>
  return %y, %f : tensor<1x7x6xf32>, tensor<1x6x2xf32>
}
// -----
// What hybrid-fuse-gates puts in: softplus and bias of the step, skip, gate.
func.func @forward(%x: tensor<2x35x11xf32> {hybrid.name = "x"}, %dt: tensor<2x35x11xf32> {hybrid.name = "dt"}, %a: tensor<11x5xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2x35x5xf32> {hybrid.name = "b"}, %c: tensor<2x35x5xf32> {hybrid.name = "c"}, %r: tensor<11xf32> {hybrid.name = "r"}, %d: tensor<11xf32> {hybrid.name = "d"}, %z: tensor<2x35x11xf32> {hybrid.name = "z"}) -> (tensor<2x35x11xf32> {hybrid.name = "y"}) {
  %y = hybrid.selective_scan %x, %dt, %a, %b, %c dt_bias(%r : tensor<11xf32>) skip(%d : tensor<11xf32>) gate(%z : tensor<2x35x11xf32>) {dt_softplus} : tensor<2x35x11xf32>, tensor<2x35x11xf32>, tensor<11x5xf32>, tensor<2x35x5xf32>, tensor<2x35x5xf32> -> tensor<2x35x11xf32>
  return %y : tensor<2x35x11xf32>
}
// -----
// Gate alone with states and segments; several blocks of channels an item.
func.func @forward(%x: tensor<8x5x34xf32> {hybrid.name = "x"}, %dt: tensor<8x5x34xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<34x2xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<8x5x2xf32> {hybrid.name = "b"}, %c: tensor<34x2xf32> {hybrid.name = "c"}, %s: tensor<8x5xi32> {hybrid.name = "s", test.segments}, %h: tensor<8x34x2xf32> {hybrid.name = "h"}, %z: tensor<8x5x34xf32> {hybrid.name = "z"}) -> (tensor<8x5x34xf32> {hybrid.name = "y"}, tensor<8x34x2xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.selective_scan %x, %dt, %a, %b, %c segments(%s : tensor<8x5xi32>) initial_state(%h : tensor<8x34x2xf32>) gate(%z : tensor<8x5x34xf32>) {return_state} : tensor<8x5x34xf32>, tensor<8x5x34xf32>, tensor<34x2xf32>, tensor<8x5x2xf32>, tensor<34x2xf32> -> tensor<8x5x34xf32>, tensor<8x34x2xf32>
  return %y, %f : tensor<8x5x34xf32>, tensor<8x34x2xf32>
}
// -----
// Long and narrow: divided over time.
func.func @forward(%x: tensor<1x520x1xf32> {hybrid.name = "x"}, %dt: tensor<1x520x1xf32> {hybrid.name = "dt"}, %a: tensor<1x2xf32> {hybrid.name = "a", test.range = [-0.3, -0.1]}, %b: tensor<1x2xf32> {hybrid.name = "b"}, %c: tensor<1x2xf32> {hybrid.name = "c"}, %h: tensor<1x1x2xf32> {hybrid.name = "h"}) -> (tensor<1x520x1xf32> {hybrid.name = "y"}, tensor<1x1x2xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.selective_scan %x, %dt, %a, %b, %c initial_state(%h : tensor<1x1x2xf32>) {dt_softplus, return_state} : tensor<1x520x1xf32>, tensor<1x520x1xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x520x1xf32>, tensor<1x1x2xf32>
  return %y, %f : tensor<1x520x1xf32>, tensor<1x1x2xf32>
}
