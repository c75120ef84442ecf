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
