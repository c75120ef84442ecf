// Lanes that are not full, from a state to a state.
func.func @forward(%x: tensor<2xLENGTHx11xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx11xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<11x5xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2xLENGTHx5xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx5xf32> {hybrid.name = "c"}, %s: tensor<2x11x5xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx11xf32> {hybrid.name = "y"}, tensor<2x11x5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.selective_scan %x, %dt, %a, %b, %c initial_state(%s : tensor<2x11x5xf32>) {return_state} : tensor<2xLENGTHx11xf32>, tensor<2xLENGTHx11xf32>, tensor<11x5xf32>, tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx5xf32> -> tensor<2xLENGTHx11xf32>, tensor<2x11x5xf32>
  return %y, %f : tensor<2xLENGTHx11xf32>, tensor<2x11x5xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx11xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx11xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<11x5xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2xLENGTHx5xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx5xf32> {hybrid.name = "c"}, %s: tensor<2x11x5xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx11xf32> {hybrid.name = "y"}, tensor<2x11x5xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32>
  %dt0, %dt1 = hybrid.split %dt along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32>
  %b0, %b1 = hybrid.split %b along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %c0, %c1 = hybrid.split %c along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %y0, %m = hybrid.selective_scan %x0, %dt0, %a, %b0, %c0 initial_state(%s : tensor<2x11x5xf32>) {return_state} : tensor<2xFIRSTx11xf32>, tensor<2xFIRSTx11xf32>, tensor<11x5xf32>, tensor<2xFIRSTx5xf32>, tensor<2xFIRSTx5xf32> -> tensor<2xFIRSTx11xf32>, tensor<2x11x5xf32>
  %y1, %f = hybrid.selective_scan %x1, %dt1, %a, %b1, %c1 initial_state(%m : tensor<2x11x5xf32>) {return_state} : tensor<2xSECONDx11xf32>, tensor<2xSECONDx11xf32>, tensor<11x5xf32>, tensor<2xSECONDx5xf32>, tensor<2xSECONDx5xf32> -> tensor<2xSECONDx11xf32>, tensor<2x11x5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32> -> tensor<2xLENGTHx11xf32>
  return %y, %f : tensor<2xLENGTHx11xf32>, tensor<2x11x5xf32>
}
// -----
// Groups, from zero.
func.func @forward(%x: tensor<2xLENGTHx6xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx6xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<6x4xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2xLENGTHx12xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx12xf32> {hybrid.name = "c"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "y"}) {
  %y = hybrid.selective_scan %x, %dt, %a, %b, %c : tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx6xf32>, tensor<6x4xf32>, tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx12xf32> -> tensor<2xLENGTHx6xf32>
  return %y : tensor<2xLENGTHx6xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx6xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx6xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<6x4xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2xLENGTHx12xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx12xf32> {hybrid.name = "c"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %dt0, %dt1 = hybrid.split %dt along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %b0, %b1 = hybrid.split %b along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %c0, %c1 = hybrid.split %c along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %y0, %m = hybrid.selective_scan %x0, %dt0, %a, %b0, %c0 {return_state} : tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx6xf32>, tensor<6x4xf32>, tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx12xf32> -> tensor<2xFIRSTx6xf32>, tensor<2x6x4xf32>
  %y1 = hybrid.selective_scan %x1, %dt1, %a, %b1, %c1 initial_state(%m : tensor<2x6x4xf32>) : tensor<2xSECONDx6xf32>, tensor<2xSECONDx6xf32>, tensor<6x4xf32>, tensor<2xSECONDx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xSECONDx6xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32> -> tensor<2xLENGTHx6xf32>
  return %y : tensor<2xLENGTHx6xf32>
}
// -----
// Constant maps, from a state.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx9xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<9x3xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<9x3xf32> {hybrid.name = "b"}, %c: tensor<9x3xf32> {hybrid.name = "c"}, %s: tensor<2x9x3xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}) {
  %y = hybrid.selective_scan %x, %dt, %a, %b, %c initial_state(%s : tensor<2x9x3xf32>) : tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx9xf32>, tensor<9x3xf32>, tensor<9x3xf32>, tensor<9x3xf32> -> tensor<2xLENGTHx9xf32>
  return %y : tensor<2xLENGTHx9xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx9xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<9x3xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<9x3xf32> {hybrid.name = "b"}, %c: tensor<9x3xf32> {hybrid.name = "c"}, %s: tensor<2x9x3xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %dt0, %dt1 = hybrid.split %dt along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0, %m = hybrid.selective_scan %x0, %dt0, %a, %b, %c initial_state(%s : tensor<2x9x3xf32>) {return_state} : tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx9xf32>, tensor<9x3xf32>, tensor<9x3xf32>, tensor<9x3xf32> -> tensor<2xFIRSTx9xf32>, tensor<2x9x3xf32>
  %y1 = hybrid.selective_scan %x1, %dt1, %a, %b, %c initial_state(%m : tensor<2x9x3xf32>) : tensor<2xSECONDx9xf32>, tensor<2xSECONDx9xf32>, tensor<9x3xf32>, tensor<9x3xf32>, tensor<9x3xf32> -> tensor<2xSECONDx9xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y : tensor<2xLENGTHx9xf32>
}
// -----
// A constant input map beside groups of the output map, to a state.
func.func @forward(%x: tensor<2xLENGTHx10xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx10xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<10x2xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<10x2xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx4xf32> {hybrid.name = "c"}) -> (tensor<2xLENGTHx10xf32> {hybrid.name = "y"}, tensor<2x10x2xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.selective_scan %x, %dt, %a, %b, %c {return_state} : tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx10xf32>, tensor<10x2xf32>, tensor<10x2xf32>, tensor<2xLENGTHx4xf32> -> tensor<2xLENGTHx10xf32>, tensor<2x10x2xf32>
  return %y, %f : tensor<2xLENGTHx10xf32>, tensor<2x10x2xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx10xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx10xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<10x2xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<10x2xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx4xf32> {hybrid.name = "c"}) -> (tensor<2xLENGTHx10xf32> {hybrid.name = "y"}, tensor<2x10x2xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %dt0, %dt1 = hybrid.split %dt along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %c0, %c1 = hybrid.split %c along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx4xf32> -> tensor<2xFIRSTx4xf32>, tensor<2xSECONDx4xf32>
  %y0, %m = hybrid.selective_scan %x0, %dt0, %a, %b, %c0 {return_state} : tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx10xf32>, tensor<10x2xf32>, tensor<10x2xf32>, tensor<2xFIRSTx4xf32> -> tensor<2xFIRSTx10xf32>, tensor<2x10x2xf32>
  %y1, %f = hybrid.selective_scan %x1, %dt1, %a, %b, %c1 initial_state(%m : tensor<2x10x2xf32>) {return_state} : tensor<2xSECONDx10xf32>, tensor<2xSECONDx10xf32>, tensor<10x2xf32>, tensor<10x2xf32>, tensor<2xSECONDx4xf32> -> tensor<2xSECONDx10xf32>, tensor<2x10x2xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32> -> tensor<2xLENGTHx10xf32>
  return %y, %f : tensor<2xLENGTHx10xf32>, tensor<2x10x2xf32>
}
// -----
// Packed, from a state to a state.
func.func @forward(%x: tensor<2xLENGTHx11xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx11xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<11x5xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2xLENGTHx5xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx5xf32> {hybrid.name = "c"}, %s: tensor<2x11x5xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx11xf32> {hybrid.name = "y"}, tensor<2x11x5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.selective_scan %x, %dt, %a, %b, %c segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x11x5xf32>) {return_state} : tensor<2xLENGTHx11xf32>, tensor<2xLENGTHx11xf32>, tensor<11x5xf32>, tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx5xf32> -> tensor<2xLENGTHx11xf32>, tensor<2x11x5xf32>
  return %y, %f : tensor<2xLENGTHx11xf32>, tensor<2x11x5xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx11xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx11xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<11x5xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2xLENGTHx5xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx5xf32> {hybrid.name = "c"}, %s: tensor<2x11x5xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx11xf32> {hybrid.name = "y"}, tensor<2x11x5xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32>
  %dt0, %dt1 = hybrid.split %dt along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32>
  %b0, %b1 = hybrid.split %b along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %c0, %c1 = hybrid.split %c along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %y0 = hybrid.selective_scan %x0, %dt0, %a, %b0, %c0 initial_state(%s : tensor<2x11x5xf32>) : tensor<2xFIRSTx11xf32>, tensor<2xFIRSTx11xf32>, tensor<11x5xf32>, tensor<2xFIRSTx5xf32>, tensor<2xFIRSTx5xf32> -> tensor<2xFIRSTx11xf32>
  %y1, %f = hybrid.selective_scan %x1, %dt1, %a, %b1, %c1 {return_state} : tensor<2xSECONDx11xf32>, tensor<2xSECONDx11xf32>, tensor<11x5xf32>, tensor<2xSECONDx5xf32>, tensor<2xSECONDx5xf32> -> tensor<2xSECONDx11xf32>, tensor<2x11x5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32> -> tensor<2xLENGTHx11xf32>
  return %y, %f : tensor<2xLENGTHx11xf32>, tensor<2x11x5xf32>
}
// -----
// Packed groups, from zero.
func.func @forward(%x: tensor<2xLENGTHx6xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx6xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<6x4xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2xLENGTHx12xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx12xf32> {hybrid.name = "c"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "y"}) {
  %y = hybrid.selective_scan %x, %dt, %a, %b, %c segments(%ids : tensor<2xLENGTHxi32>) : tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx6xf32>, tensor<6x4xf32>, tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx12xf32> -> tensor<2xLENGTHx6xf32>
  return %y : tensor<2xLENGTHx6xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx6xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx6xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<6x4xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<2xLENGTHx12xf32> {hybrid.name = "b"}, %c: tensor<2xLENGTHx12xf32> {hybrid.name = "c"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %dt0, %dt1 = hybrid.split %dt along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %b0, %b1 = hybrid.split %b along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %c0, %c1 = hybrid.split %c along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %y0 = hybrid.selective_scan %x0, %dt0, %a, %b0, %c0 : tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx6xf32>, tensor<6x4xf32>, tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx12xf32> -> tensor<2xFIRSTx6xf32>
  %y1 = hybrid.selective_scan %x1, %dt1, %a, %b1, %c1 : tensor<2xSECONDx6xf32>, tensor<2xSECONDx6xf32>, tensor<6x4xf32>, tensor<2xSECONDx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xSECONDx6xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32> -> tensor<2xLENGTHx6xf32>
  return %y : tensor<2xLENGTHx6xf32>
}
// -----
// Packed, constant maps.
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx9xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<9x3xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<9x3xf32> {hybrid.name = "b"}, %c: tensor<9x3xf32> {hybrid.name = "c"}, %s: tensor<2x9x3xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x9x3xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.selective_scan %x, %dt, %a, %b, %c segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x9x3xf32>) {return_state} : tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx9xf32>, tensor<9x3xf32>, tensor<9x3xf32>, tensor<9x3xf32> -> tensor<2xLENGTHx9xf32>, tensor<2x9x3xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x9x3xf32>
}
// -----
func.func @forward(%x: tensor<2xLENGTHx9xf32> {hybrid.name = "x"}, %dt: tensor<2xLENGTHx9xf32> {hybrid.name = "dt", test.range = [0.05, 0.9]}, %a: tensor<9x3xf32> {hybrid.name = "a", test.range = [-2.0, -0.2]}, %b: tensor<9x3xf32> {hybrid.name = "b"}, %c: tensor<9x3xf32> {hybrid.name = "c"}, %s: tensor<2x9x3xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x9x3xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %dt0, %dt1 = hybrid.split %dt along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0 = hybrid.selective_scan %x0, %dt0, %a, %b, %c initial_state(%s : tensor<2x9x3xf32>) : tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx9xf32>, tensor<9x3xf32>, tensor<9x3xf32>, tensor<9x3xf32> -> tensor<2xFIRSTx9xf32>
  %y1, %f = hybrid.selective_scan %x1, %dt1, %a, %b, %c {return_state} : tensor<2xSECONDx9xf32>, tensor<2xSECONDx9xf32>, tensor<9x3xf32>, tensor<9x3xf32>, tensor<9x3xf32> -> tensor<2xSECONDx9xf32>, tensor<2x9x3xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x9x3xf32>
}
