// RWKV-4: one tap and decay, from a state to a state.
func.func @forward(%k: tensor<2xLENGTHx11xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx11xf32> {hybrid.name = "v"}, %u: tensor<1x11xf32> {hybrid.name = "u"}, %w: tensor<11xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x1x22xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx11xf32> {hybrid.name = "y"}, tensor<2x1x22xf32> {hybrid.name = "f"}) {
  %y, %l, %f = hybrid.softmax_scan %k, %v taps(%u : tensor<1x11xf32>) decay(%w : tensor<11xf32>) initial_state(%s : tensor<2x1x22xf32>) {return_state} : tensor<2xLENGTHx11xf32>, tensor<2xLENGTHx11xf32> -> tensor<2xLENGTHx11xf32>, tensor<2xLENGTHx11xf32>, tensor<2x1x22xf32>
  return %y, %f : tensor<2xLENGTHx11xf32>, tensor<2x1x22xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx11xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx11xf32> {hybrid.name = "v"}, %u: tensor<1x11xf32> {hybrid.name = "u"}, %w: tensor<11xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x1x22xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx11xf32> {hybrid.name = "y"}, tensor<2x1x22xf32> {hybrid.name = "f"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32>
  %y0, %l0, %m = hybrid.softmax_scan %k0, %v0 taps(%u : tensor<1x11xf32>) decay(%w : tensor<11xf32>) initial_state(%s : tensor<2x1x22xf32>) {return_state} : tensor<2xFIRSTx11xf32>, tensor<2xFIRSTx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xFIRSTx11xf32>, tensor<2x1x22xf32>
  %y1, %l1, %f = hybrid.softmax_scan %k1, %v1 taps(%u : tensor<1x11xf32>) decay(%w : tensor<11xf32>) initial_state(%m : tensor<2x1x22xf32>) {return_state} : tensor<2xSECONDx11xf32>, tensor<2xSECONDx11xf32> -> tensor<2xSECONDx11xf32>, tensor<2xSECONDx11xf32>, tensor<2x1x22xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32> -> tensor<2xLENGTHx11xf32>
  return %y, %f : tensor<2xLENGTHx11xf32>, tensor<2x1x22xf32>
}
// -----
// A key for two channels, taps, from zero.
func.func @forward(%k: tensor<2xLENGTHx5xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx10xf32> {hybrid.name = "v"}, %u: tensor<3x5xf32> {hybrid.name = "u"}) -> (tensor<2xLENGTHx10xf32> {hybrid.name = "y"}) {
  %y, %l = hybrid.softmax_scan %k, %v taps(%u : tensor<3x5xf32>) : tensor<2xLENGTHx5xf32>, tensor<2xLENGTHx10xf32> -> tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx5xf32>
  return %y : tensor<2xLENGTHx10xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx5xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx10xf32> {hybrid.name = "v"}, %u: tensor<3x5xf32> {hybrid.name = "u"}) -> (tensor<2xLENGTHx10xf32> {hybrid.name = "y"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx5xf32> -> tensor<2xFIRSTx5xf32>, tensor<2xSECONDx5xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %y0, %l0, %m = hybrid.softmax_scan %k0, %v0 taps(%u : tensor<3x5xf32>) {return_state} : tensor<2xFIRSTx5xf32>, tensor<2xFIRSTx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx5xf32>, tensor<2x3x15xf32>
  %y1, %l1 = hybrid.softmax_scan %k1, %v1 taps(%u : tensor<3x5xf32>) initial_state(%m : tensor<2x3x15xf32>) : tensor<2xSECONDx5xf32>, tensor<2xSECONDx10xf32> -> tensor<2xSECONDx10xf32>, tensor<2xSECONDx5xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32> -> tensor<2xLENGTHx10xf32>
  return %y : tensor<2xLENGTHx10xf32>
}
// -----
// More taps than there are positions in a piece, from a state to a state.
func.func @forward(%k: tensor<2xLENGTHx3xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx9xf32> {hybrid.name = "v"}, %u: tensor<6x3xf32> {hybrid.name = "u"}, %w: tensor<3xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x6x12xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x6x12xf32> {hybrid.name = "f"}) {
  %y, %l, %f = hybrid.softmax_scan %k, %v taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) initial_state(%s : tensor<2x6x12xf32>) {return_state} : tensor<2xLENGTHx3xf32>, tensor<2xLENGTHx9xf32> -> tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx3xf32>, tensor<2x6x12xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x6x12xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx3xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx9xf32> {hybrid.name = "v"}, %u: tensor<6x3xf32> {hybrid.name = "u"}, %w: tensor<3xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x6x12xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x6x12xf32> {hybrid.name = "f"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx3xf32> -> tensor<2xFIRSTx3xf32>, tensor<2xSECONDx3xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0, %l0, %m = hybrid.softmax_scan %k0, %v0 taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) initial_state(%s : tensor<2x6x12xf32>) {return_state} : tensor<2xFIRSTx3xf32>, tensor<2xFIRSTx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx3xf32>, tensor<2x6x12xf32>
  %y1, %l1, %f = hybrid.softmax_scan %k1, %v1 taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) initial_state(%m : tensor<2x6x12xf32>) {return_state} : tensor<2xSECONDx3xf32>, tensor<2xSECONDx9xf32> -> tensor<2xSECONDx9xf32>, tensor<2xSECONDx3xf32>, tensor<2x6x12xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x6x12xf32>
}
// -----
// More taps than positions, from zero to a state.
func.func @forward(%k: tensor<2xLENGTHx3xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx3xf32> {hybrid.name = "v"}, %u: tensor<6x3xf32> {hybrid.name = "u"}, %w: tensor<3xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx3xf32> {hybrid.name = "y"}, tensor<2x6x6xf32> {hybrid.name = "f"}) {
  %y, %l, %f = hybrid.softmax_scan %k, %v taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) {return_state} : tensor<2xLENGTHx3xf32>, tensor<2xLENGTHx3xf32> -> tensor<2xLENGTHx3xf32>, tensor<2xLENGTHx3xf32>, tensor<2x6x6xf32>
  return %y, %f : tensor<2xLENGTHx3xf32>, tensor<2x6x6xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx3xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx3xf32> {hybrid.name = "v"}, %u: tensor<6x3xf32> {hybrid.name = "u"}, %w: tensor<3xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx3xf32> {hybrid.name = "y"}, tensor<2x6x6xf32> {hybrid.name = "f"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx3xf32> -> tensor<2xFIRSTx3xf32>, tensor<2xSECONDx3xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx3xf32> -> tensor<2xFIRSTx3xf32>, tensor<2xSECONDx3xf32>
  %y0, %l0, %m = hybrid.softmax_scan %k0, %v0 taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) {return_state} : tensor<2xFIRSTx3xf32>, tensor<2xFIRSTx3xf32> -> tensor<2xFIRSTx3xf32>, tensor<2xFIRSTx3xf32>, tensor<2x6x6xf32>
  %y1, %l1, %f = hybrid.softmax_scan %k1, %v1 taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) initial_state(%m : tensor<2x6x6xf32>) {return_state} : tensor<2xSECONDx3xf32>, tensor<2xSECONDx3xf32> -> tensor<2xSECONDx3xf32>, tensor<2xSECONDx3xf32>, tensor<2x6x6xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx3xf32>, tensor<2xSECONDx3xf32> -> tensor<2xLENGTHx3xf32>
  return %y, %f : tensor<2xLENGTHx3xf32>, tensor<2x6x6xf32>
}
// -----
// Neither taps nor decay.
func.func @forward(%k: tensor<2xLENGTHx9xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx9xf32> {hybrid.name = "v"}, %s: tensor<2x1x18xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x1x18xf32> {hybrid.name = "f"}) {
  %y, %l, %f = hybrid.softmax_scan %k, %v initial_state(%s : tensor<2x1x18xf32>) {return_state} : tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx9xf32> -> tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx9xf32>, tensor<2x1x18xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x1x18xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx9xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx9xf32> {hybrid.name = "v"}, %s: tensor<2x1x18xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x1x18xf32> {hybrid.name = "f"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0, %l0, %m = hybrid.softmax_scan %k0, %v0 initial_state(%s : tensor<2x1x18xf32>) {return_state} : tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx9xf32>, tensor<2x1x18xf32>
  %y1, %l1, %f = hybrid.softmax_scan %k1, %v1 initial_state(%m : tensor<2x1x18xf32>) {return_state} : tensor<2xSECONDx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xSECONDx9xf32>, tensor<2xSECONDx9xf32>, tensor<2x1x18xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x1x18xf32>
}
// -----
// Decay alone, from zero.
func.func @forward(%k: tensor<2xLENGTHx2xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx18xf32> {hybrid.name = "v"}, %w: tensor<2xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx18xf32> {hybrid.name = "y"}) {
  %y, %l = hybrid.softmax_scan %k, %v decay(%w : tensor<2xf32>) : tensor<2xLENGTHx2xf32>, tensor<2xLENGTHx18xf32> -> tensor<2xLENGTHx18xf32>, tensor<2xLENGTHx2xf32>
  return %y : tensor<2xLENGTHx18xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx2xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx18xf32> {hybrid.name = "v"}, %w: tensor<2xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx18xf32> {hybrid.name = "y"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx2xf32> -> tensor<2xFIRSTx2xf32>, tensor<2xSECONDx2xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx18xf32> -> tensor<2xFIRSTx18xf32>, tensor<2xSECONDx18xf32>
  %y0, %l0, %m = hybrid.softmax_scan %k0, %v0 decay(%w : tensor<2xf32>) {return_state} : tensor<2xFIRSTx2xf32>, tensor<2xFIRSTx18xf32> -> tensor<2xFIRSTx18xf32>, tensor<2xFIRSTx2xf32>, tensor<2x1x20xf32>
  %y1, %l1 = hybrid.softmax_scan %k1, %v1 decay(%w : tensor<2xf32>) initial_state(%m : tensor<2x1x20xf32>) : tensor<2xSECONDx2xf32>, tensor<2xSECONDx18xf32> -> tensor<2xSECONDx18xf32>, tensor<2xSECONDx2xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx18xf32>, tensor<2xSECONDx18xf32> -> tensor<2xLENGTHx18xf32>
  return %y : tensor<2xLENGTHx18xf32>
}
// -----
// Packed, one tap and decay, from a state to a state.
func.func @forward(%k: tensor<2xLENGTHx11xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx11xf32> {hybrid.name = "v"}, %u: tensor<1x11xf32> {hybrid.name = "u"}, %w: tensor<11xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x1x22xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx11xf32> {hybrid.name = "y"}, tensor<2x1x22xf32> {hybrid.name = "f"}) {
  %y, %l, %f = hybrid.softmax_scan %k, %v taps(%u : tensor<1x11xf32>) decay(%w : tensor<11xf32>) segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x1x22xf32>) {return_state} : tensor<2xLENGTHx11xf32>, tensor<2xLENGTHx11xf32> -> tensor<2xLENGTHx11xf32>, tensor<2xLENGTHx11xf32>, tensor<2x1x22xf32>
  return %y, %f : tensor<2xLENGTHx11xf32>, tensor<2x1x22xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx11xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx11xf32> {hybrid.name = "v"}, %u: tensor<1x11xf32> {hybrid.name = "u"}, %w: tensor<11xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x1x22xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx11xf32> {hybrid.name = "y"}, tensor<2x1x22xf32> {hybrid.name = "f"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32>
  %y0, %l0 = hybrid.softmax_scan %k0, %v0 taps(%u : tensor<1x11xf32>) decay(%w : tensor<11xf32>) initial_state(%s : tensor<2x1x22xf32>) : tensor<2xFIRSTx11xf32>, tensor<2xFIRSTx11xf32> -> tensor<2xFIRSTx11xf32>, tensor<2xFIRSTx11xf32>
  %y1, %l1, %f = hybrid.softmax_scan %k1, %v1 taps(%u : tensor<1x11xf32>) decay(%w : tensor<11xf32>) {return_state} : tensor<2xSECONDx11xf32>, tensor<2xSECONDx11xf32> -> tensor<2xSECONDx11xf32>, tensor<2xSECONDx11xf32>, tensor<2x1x22xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx11xf32>, tensor<2xSECONDx11xf32> -> tensor<2xLENGTHx11xf32>
  return %y, %f : tensor<2xLENGTHx11xf32>, tensor<2x1x22xf32>
}
// -----
// Packed, more taps than positions, from a state to a state.
func.func @forward(%k: tensor<2xLENGTHx3xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx9xf32> {hybrid.name = "v"}, %u: tensor<6x3xf32> {hybrid.name = "u"}, %w: tensor<3xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x6x12xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x6x12xf32> {hybrid.name = "f"}) {
  %y, %l, %f = hybrid.softmax_scan %k, %v taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x6x12xf32>) {return_state} : tensor<2xLENGTHx3xf32>, tensor<2xLENGTHx9xf32> -> tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx3xf32>, tensor<2x6x12xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x6x12xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx3xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx9xf32> {hybrid.name = "v"}, %u: tensor<6x3xf32> {hybrid.name = "u"}, %w: tensor<3xf32> {hybrid.name = "w", test.range = [-1.5, -0.1]}, %s: tensor<2x6x12xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx9xf32> {hybrid.name = "y"}, tensor<2x6x12xf32> {hybrid.name = "f"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx3xf32> -> tensor<2xFIRSTx3xf32>, tensor<2xSECONDx3xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %y0, %l0 = hybrid.softmax_scan %k0, %v0 taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) initial_state(%s : tensor<2x6x12xf32>) : tensor<2xFIRSTx3xf32>, tensor<2xFIRSTx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx3xf32>
  %y1, %l1, %f = hybrid.softmax_scan %k1, %v1 taps(%u : tensor<6x3xf32>) decay(%w : tensor<3xf32>) {return_state} : tensor<2xSECONDx3xf32>, tensor<2xSECONDx9xf32> -> tensor<2xSECONDx9xf32>, tensor<2xSECONDx3xf32>, tensor<2x6x12xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32> -> tensor<2xLENGTHx9xf32>
  return %y, %f : tensor<2xLENGTHx9xf32>, tensor<2x6x12xf32>
}
// -----
// Packed, neither taps nor decay.
func.func @forward(%k: tensor<2xLENGTHx2xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx18xf32> {hybrid.name = "v"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx18xf32> {hybrid.name = "y"}) {
  %y, %l = hybrid.softmax_scan %k, %v segments(%ids : tensor<2xLENGTHxi32>) : tensor<2xLENGTHx2xf32>, tensor<2xLENGTHx18xf32> -> tensor<2xLENGTHx18xf32>, tensor<2xLENGTHx2xf32>
  return %y : tensor<2xLENGTHx18xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx2xf32> {hybrid.name = "k", test.range = [-2.0, 2.0]}, %v: tensor<2xLENGTHx18xf32> {hybrid.name = "v"}) -> (tensor<2xLENGTHx18xf32> {hybrid.name = "y"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx2xf32> -> tensor<2xFIRSTx2xf32>, tensor<2xSECONDx2xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx18xf32> -> tensor<2xFIRSTx18xf32>, tensor<2xSECONDx18xf32>
  %y0, %l0 = hybrid.softmax_scan %k0, %v0 : tensor<2xFIRSTx2xf32>, tensor<2xFIRSTx18xf32> -> tensor<2xFIRSTx18xf32>, tensor<2xFIRSTx2xf32>
  %y1, %l1 = hybrid.softmax_scan %k1, %v1 : tensor<2xSECONDx2xf32>, tensor<2xSECONDx18xf32> -> tensor<2xSECONDx18xf32>, tensor<2xSECONDx2xf32>
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx18xf32>, tensor<2xSECONDx18xf32> -> tensor<2xLENGTHx18xf32>
  return %y : tensor<2xLENGTHx18xf32>
}
