// A history before the first piece, as long as the second.
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}, %s: tensor<2xSECONDx5xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %y = hybrid.fftconv %x, %h skip(%d : tensor<5xf32>) initial_state(%s : tensor<2xSECONDx5xf32>) : tensor<2xLENGTHx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}, %s: tensor<2xSECONDx5xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %y0, %m = hybrid.fftconv %x0, %h skip(%d : tensor<5xf32>) initial_state(%s : tensor<2xSECONDx5xf32>) {return_state} : tensor<2xFIRSTx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xLENGTHx5xf32>
  %y1 = hybrid.fftconv %x1, %h skip(%d : tensor<5xf32>) initial_state(%m : tensor<2xLENGTHx5xf32>) : tensor<2xSECONDx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xSECONDx5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
// -----
// The state is the history of the input.
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}, tensor<2xLENGTHx5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.fftconv %x, %h skip(%d : tensor<5xf32>) {return_state} : tensor<2xLENGTHx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx5xf32>
  return %y, %f : tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx5xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}, tensor<2xLENGTHx5xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %h0 = hybrid.slice %h from [0, 0] size [FIRST, 5] : tensor<LENGTHx5xf32> -> tensor<FIRSTx5xf32>
  %y0, %m = hybrid.fftconv %x0, %h0 skip(%d : tensor<5xf32>) {return_state} : tensor<2xFIRSTx5xf32>, tensor<FIRSTx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xFIRSTx5xf32>
  %y1, %f = hybrid.fftconv %x1, %h skip(%d : tensor<5xf32>) initial_state(%m : tensor<2xFIRSTx5xf32>) {return_state} : tensor<2xSECONDx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xSECONDx5xf32>, tensor<2xLENGTHx5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y, %f : tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx5xf32>
}
// -----
// With gates the history is that of the gated input.
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}, %p: tensor<2xLENGTHx5xf32> {hybrid.name = "p"}, %r: tensor<2xLENGTHx5xf32> {hybrid.name = "r"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}, tensor<2xLENGTHx5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.fftconv %x, %h skip(%d : tensor<5xf32>) gate_in(%p : tensor<2xLENGTHx5xf32>) gate_out(%r : tensor<2xLENGTHx5xf32>) {return_state} : tensor<2xLENGTHx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx5xf32>
  return %y, %f : tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx5xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}, %p: tensor<2xLENGTHx5xf32> {hybrid.name = "p"}, %r: tensor<2xLENGTHx5xf32> {hybrid.name = "r"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}, tensor<2xLENGTHx5xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %p0, %p1 = hybrid.split %p along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %r0, %r1 = hybrid.split %r along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %h0 = hybrid.slice %h from [0, 0] size [FIRST, 5] : tensor<LENGTHx5xf32> -> tensor<FIRSTx5xf32>
  %y0, %m = hybrid.fftconv %x0, %h0 skip(%d : tensor<5xf32>) gate_in(%p0 : tensor<2xFIRSTx5xf32>) gate_out(%r0 : tensor<2xFIRSTx5xf32>) {return_state} : tensor<2xFIRSTx5xf32>, tensor<FIRSTx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xFIRSTx5xf32>
  %y1, %f = hybrid.fftconv %x1, %h skip(%d : tensor<5xf32>) gate_in(%p1 : tensor<2xSECONDx5xf32>) gate_out(%r1 : tensor<2xSECONDx5xf32>) initial_state(%m : tensor<2xFIRSTx5xf32>) {return_state} : tensor<2xSECONDx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xSECONDx5xf32>, tensor<2xLENGTHx5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y, %f : tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx5xf32>
}
// -----
// Packed.
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %y = hybrid.fftconv %x, %h skip(%d : tensor<5xf32>) segments(%ids : tensor<2xLENGTHxi32>) : tensor<2xLENGTHx5xf32>, tensor<LENGTHx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx5xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx5xf32> {hybrid.name = "h"}, %d: tensor<5xf32> {hybrid.name = "d"}) -> (tensor<2xLENGTHx5xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %h0 = hybrid.slice %h from [0, 0] size [FIRST, 5] : tensor<LENGTHx5xf32> -> tensor<FIRSTx5xf32>
  %h1 = hybrid.slice %h from [0, 0] size [SECOND, 5] : tensor<LENGTHx5xf32> -> tensor<SECONDx5xf32>
  %y0 = hybrid.fftconv %x0, %h0 skip(%d : tensor<5xf32>) : tensor<2xFIRSTx5xf32>, tensor<FIRSTx5xf32> -> tensor<2xFIRSTx5xf32>
  %y1 = hybrid.fftconv %x1, %h1 skip(%d : tensor<5xf32>) : tensor<2xSECONDx5xf32>, tensor<SECONDx5xf32> -> tensor<2xSECONDx5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32> -> tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx5xf32>
}
// -----
// Packed, with gates.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx9xf32> {hybrid.name = "h"}, %d: tensor<9xf32> {hybrid.name = "d"}, %p: tensor<2xLENGTHx9xf32> {hybrid.name = "p"}, %r: tensor<2xLENGTHx9xf32> {hybrid.name = "r"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}) {
  %y = hybrid.fftconv %x, %h skip(%d : tensor<9xf32>) gate_in(%p : tensor<2xLENGTHx9xf32>) gate_out(%r : tensor<2xLENGTHx9xf32>) segments(%ids : tensor<2xLENGTHxi32>) : tensor<2xLENGTHx9xf32>, tensor<LENGTHx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y : tensor<2xLENGTHx9xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %h: tensor<LENGTHx9xf32> {hybrid.name = "h"}, %d: tensor<9xf32> {hybrid.name = "d"}, %p: tensor<2xLENGTHx9xf32> {hybrid.name = "p"}, %r: tensor<2xLENGTHx9xf32> {hybrid.name = "r"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %p0, %p1 = hybrid.split %p along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %r0, %r1 = hybrid.split %r along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %h0 = hybrid.slice %h from [0, 0] size [FIRST, 9] : tensor<LENGTHx9xf32> -> tensor<FIRSTx9xf32>
  %h1 = hybrid.slice %h from [0, 0] size [SECOND, 9] : tensor<LENGTHx9xf32> -> tensor<SECONDx9xf32>
  %y0 = hybrid.fftconv %x0, %h0 skip(%d : tensor<9xf32>) gate_in(%p0 : tensor<2xFIRSTx9xf32>) gate_out(%r0 : tensor<2xFIRSTx9xf32>) : tensor<2xFIRSTx9xf32>, tensor<FIRSTx9xf32> -> tensor<2xFIRSTx9xf32>
  %y1 = hybrid.fftconv %x1, %h1 skip(%d : tensor<9xf32>) gate_in(%p1 : tensor<2xSECONDx9xf32>) gate_out(%r1 : tensor<2xSECONDx9xf32>) : tensor<2xSECONDx9xf32>, tensor<SECONDx9xf32> -> tensor<2xSECONDx9xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y : tensor<2xLENGTHx9xf32>
}
