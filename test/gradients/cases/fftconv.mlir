func.func @forward(%x: tensor<3x9x19xf32> {hybrid.name = "x"}, %h: tensor<9x19xf32> {hybrid.name = "h"}) -> (tensor<3x9x19xf32> {hybrid.name = "y"}) {
  %y = hybrid.fftconv %x, %h : tensor<3x9x19xf32>, tensor<9x19xf32> -> tensor<3x9x19xf32>
  return %y : tensor<3x9x19xf32>
}
// -----
// Gates, skip, a filter shorter than the sequence.
func.func @forward(%x: tensor<2x13x5xf32> {hybrid.name = "x"}, %h: tensor<6x5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}, %p: tensor<2x13x5xf32> {hybrid.name = "p"}, %q: tensor<2x13x5xf32> {hybrid.name = "q"}) -> (tensor<2x13x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.fftconv %x, %h skip(%d : tensor<5xf32>) gate_in(%p : tensor<2x13x5xf32>) gate_out(%q : tensor<2x13x5xf32>) : tensor<2x13x5xf32>, tensor<6x5xf32> -> tensor<2x13x5xf32>
  return %y : tensor<2x13x5xf32>
}
// -----
// Packed segments.
func.func @forward(%x: tensor<2x13x5xf32> {hybrid.name = "x"}, %h: tensor<13x5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}, %s: tensor<2x13xi32> {hybrid.name = "s", test.segments}) -> (tensor<2x13x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.fftconv %x, %h skip(%d : tensor<5xf32>) segments(%s : tensor<2x13xi32>) : tensor<2x13x5xf32>, tensor<13x5xf32> -> tensor<2x13x5xf32>
  return %y : tensor<2x13x5xf32>
}
// -----
// State in and out.
func.func @forward(%x: tensor<2x7x5xf32> {hybrid.name = "x"}, %h: tensor<9x5xf32> {hybrid.name = "h"}, %s: tensor<2x4x5xf32> {hybrid.name = "s"}) -> (tensor<2x7x5xf32> {hybrid.name = "y"}, tensor<2x11x5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.fftconv %x, %h initial_state(%s : tensor<2x4x5xf32>) {return_state} : tensor<2x7x5xf32>, tensor<9x5xf32> -> tensor<2x7x5xf32>, tensor<2x11x5xf32>
  return %y, %f : tensor<2x7x5xf32>, tensor<2x11x5xf32>
}
// -----
// Two filters that are parts of one: their gradients are columns of a whole.
func.func @forward(%x: tensor<2x7x5xf32> {hybrid.name = "x"}, %h: tensor<7x10xf32> {hybrid.name = "h"}, %d: tensor<10xf32> {hybrid.name = "d"}) -> (tensor<2x7x5xf32> {hybrid.name = "y"}) {
  %h0, %h1 = hybrid.split %h along 1 sizes [5, 5] : tensor<7x10xf32> -> tensor<7x5xf32>, tensor<7x5xf32>
  %d0, %d1 = hybrid.split %d along 0 sizes [5, 5] : tensor<10xf32> -> tensor<5xf32>, tensor<5xf32>
  %u = hybrid.fftconv %x, %h0 skip(%d0 : tensor<5xf32>) : tensor<2x7x5xf32>, tensor<7x5xf32> -> tensor<2x7x5xf32>
  %y = hybrid.fftconv %u, %h1 skip(%d1 : tensor<5xf32>) : tensor<2x7x5xf32>, tensor<7x5xf32> -> tensor<2x7x5xf32>
  return %y : tensor<2x7x5xf32>
}
