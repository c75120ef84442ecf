// A GRU of sixteen sequences, two work items of eight rows.
func.func @forward(%x: tensor<16x6x15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}) -> (tensor<16x6x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%x : tensor<16x6x15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) -> tensor<16x6x5xf32> step {
  ^bb0(%ih: tensor<5xf32>, %ixt: tensor<15xf32>, %iw: tensor<15x5xf32>, %ib: tensor<15xf32>):
    %ip = hybrid.linear %ih, %iw bias(%ib : tensor<15xf32>) : tensor<5xf32>, tensor<15x5xf32> -> tensor<15xf32>
    %ix0, %ix1, %ix2 = hybrid.split %ixt along 0 sizes [5, 5, 5] : tensor<15xf32> -> tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    %ih0, %ih1, %ih2 = hybrid.split %ip along 0 sizes [5, 5, 5] : tensor<15xf32> -> tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    %i0 = hybrid.binary add %ix0, %ih0 : tensor<5xf32>, tensor<5xf32>
    %ir = hybrid.unary sigmoid %i0 : tensor<5xf32>
    %i1 = hybrid.binary add %ix1, %ih1 : tensor<5xf32>, tensor<5xf32>
    %iz = hybrid.unary sigmoid %i1 : tensor<5xf32>
    %i2 = hybrid.binary mul %ir, %ih2 : tensor<5xf32>, tensor<5xf32>
    %i3 = hybrid.binary add %ix2, %i2 : tensor<5xf32>, tensor<5xf32>
    %in = hybrid.unary tanh %i3 : tensor<5xf32>
    %i4 = hybrid.binary sub %ih, %in : tensor<5xf32>, tensor<5xf32>
    %i5 = hybrid.binary mul %iz, %i4 : tensor<5xf32>, tensor<5xf32>
    %inext = hybrid.binary add %in, %i5 : tensor<5xf32>, tensor<5xf32>
    hybrid.yield %inext, %inext : tensor<5xf32>, tensor<5xf32>
  }
  return %y : tensor<16x6x5xf32>
}
// -----
// A row a work item, from a state to a state, over more positions than a stretch would have.
func.func @forward(%x: tensor<1x11x15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}, %s: tensor<1x5xf32> {hybrid.name = "s"}) -> (tensor<1x11x5xf32> {hybrid.name = "y"}, tensor<1x5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.recurrence inputs(%x : tensor<1x11x15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) initial_state(%s : tensor<1x5xf32>) {return_state} -> tensor<1x11x5xf32>, tensor<1x5xf32> step {
  ^bb0(%ih: tensor<5xf32>, %ixt: tensor<15xf32>, %iw: tensor<15x5xf32>, %ib: tensor<15xf32>):
    %ip = hybrid.linear %ih, %iw bias(%ib : tensor<15xf32>) : tensor<5xf32>, tensor<15x5xf32> -> tensor<15xf32>
    %ix0, %ix1, %ix2 = hybrid.split %ixt along 0 sizes [5, 5, 5] : tensor<15xf32> -> tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    %ih0, %ih1, %ih2 = hybrid.split %ip along 0 sizes [5, 5, 5] : tensor<15xf32> -> tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    %i0 = hybrid.binary add %ix0, %ih0 : tensor<5xf32>, tensor<5xf32>
    %ir = hybrid.unary sigmoid %i0 : tensor<5xf32>
    %i1 = hybrid.binary add %ix1, %ih1 : tensor<5xf32>, tensor<5xf32>
    %iz = hybrid.unary sigmoid %i1 : tensor<5xf32>
    %i2 = hybrid.binary mul %ir, %ih2 : tensor<5xf32>, tensor<5xf32>
    %i3 = hybrid.binary add %ix2, %i2 : tensor<5xf32>, tensor<5xf32>
    %in = hybrid.unary tanh %i3 : tensor<5xf32>
    %i4 = hybrid.binary sub %ih, %in : tensor<5xf32>, tensor<5xf32>
    %i5 = hybrid.binary mul %iz, %i4 : tensor<5xf32>, tensor<5xf32>
    %inext = hybrid.binary add %in, %i5 : tensor<5xf32>, tensor<5xf32>
    hybrid.yield %inext, %inext : tensor<5xf32>, tensor<5xf32>
  }
  return %y, %f : tensor<1x11x5xf32>, tensor<1x5xf32>
}
// -----
// In packed segments, three rows at once.
func.func @forward(%x: tensor<3x12x15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}, %ids: tensor<3x12xi32> {hybrid.name = "ids", test.segments}) -> (tensor<3x12x5xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%x : tensor<3x12x15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) segments(%ids : tensor<3x12xi32>) -> tensor<3x12x5xf32> step {
  ^bb0(%ih: tensor<5xf32>, %ixt: tensor<15xf32>, %iw: tensor<15x5xf32>, %ib: tensor<15xf32>):
    %ip = hybrid.linear %ih, %iw bias(%ib : tensor<15xf32>) : tensor<5xf32>, tensor<15x5xf32> -> tensor<15xf32>
    %ix0, %ix1, %ix2 = hybrid.split %ixt along 0 sizes [5, 5, 5] : tensor<15xf32> -> tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    %ih0, %ih1, %ih2 = hybrid.split %ip along 0 sizes [5, 5, 5] : tensor<15xf32> -> tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    %i0 = hybrid.binary add %ix0, %ih0 : tensor<5xf32>, tensor<5xf32>
    %ir = hybrid.unary sigmoid %i0 : tensor<5xf32>
    %i1 = hybrid.binary add %ix1, %ih1 : tensor<5xf32>, tensor<5xf32>
    %iz = hybrid.unary sigmoid %i1 : tensor<5xf32>
    %i2 = hybrid.binary mul %ir, %ih2 : tensor<5xf32>, tensor<5xf32>
    %i3 = hybrid.binary add %ix2, %i2 : tensor<5xf32>, tensor<5xf32>
    %in = hybrid.unary tanh %i3 : tensor<5xf32>
    %i4 = hybrid.binary sub %ih, %in : tensor<5xf32>, tensor<5xf32>
    %i5 = hybrid.binary mul %iz, %i4 : tensor<5xf32>, tensor<5xf32>
    %inext = hybrid.binary add %in, %i5 : tensor<5xf32>, tensor<5xf32>
    hybrid.yield %inext, %inext : tensor<5xf32>, tensor<5xf32>
  }
  return %y : tensor<3x12x5xf32>
}
// -----
// A matrix as state and its mean as another; a vector that is summed over positions; states of which a stretch is kept.
func.func @forward(%k: tensor<4x13x5xf32> {hybrid.name = "k"}, %v: tensor<4x13x3xf32> {hybrid.name = "v"}, %g: tensor<3xf32> {hybrid.name = "g"}, %s: tensor<4x18xf32> {hybrid.name = "s"}) -> (tensor<4x13x8xf32> {hybrid.name = "y"}, tensor<4x18xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.recurrence inputs(%k, %v : tensor<4x13x5xf32>, tensor<4x13x3xf32>) invariants(%g : tensor<3xf32>) initial_state(%s : tensor<4x18xf32>) {return_state} -> tensor<4x13x8xf32>, tensor<4x18xf32> step {
  ^bb0(%is: tensor<5x3xf32>, %ic: tensor<3xf32>, %ik: tensor<5xf32>, %iv: tensor<3xf32>, %ig: tensor<3xf32>):
    %iread = hybrid.matmul %ik, %is : tensor<5xf32>, tensor<5x3xf32> -> tensor<3xf32>
    %ie = hybrid.binary sub %iv, %iread : tensor<3xf32>, tensor<3xf32>
    %ieg = hybrid.binary mul %ie, %ig : tensor<3xf32>, tensor<3xf32>
    %ik1 = hybrid.reshape %ik to [5, 1] : tensor<5xf32> -> tensor<5x1xf32>
    %iwrite = hybrid.binary mul %ik1, %ieg : tensor<5x1xf32>, tensor<3xf32>
    %is1 = hybrid.binary add %is, %iwrite : tensor<5x3xf32>, tensor<5x3xf32>
    %imost = hybrid.reduce max %is1 over [0] : tensor<5x3xf32> -> tensor<3xf32>
    %imean = hybrid.reduce mean %is1 over [0] : tensor<5x3xf32> -> tensor<3xf32>
    %imix = hybrid.binary mul %imost, %ic : tensor<3xf32>, tensor<3xf32>
    %ipart = hybrid.slice %imix from [1] size [2] : tensor<3xf32> -> tensor<2xf32>
    %iy = hybrid.concat %iread, %ipart, %ic along 0 : tensor<3xf32>, tensor<2xf32>, tensor<3xf32> -> tensor<8xf32>
    hybrid.yield %is1, %imean, %iy : tensor<5x3xf32>, tensor<3xf32>, tensor<8xf32>
  }
  return %y, %f : tensor<4x13x8xf32>, tensor<4x18xf32>
}
// -----
// States that are more than four times the inputs: stretches of four positions, in packed segments.
func.func @forward(%k: tensor<2x13x9xf32> {hybrid.name = "k"}, %v: tensor<2x13x7xf32> {hybrid.name = "v"}, %g: tensor<7xf32> {hybrid.name = "g"}, %ids: tensor<2x13xi32> {hybrid.name = "ids", test.segments}) -> (tensor<2x13x16xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%k, %v : tensor<2x13x9xf32>, tensor<2x13x7xf32>) invariants(%g : tensor<7xf32>) segments(%ids : tensor<2x13xi32>) -> tensor<2x13x16xf32> step {
  ^bb0(%is: tensor<9x7xf32>, %ic: tensor<7xf32>, %ik: tensor<9xf32>, %iv: tensor<7xf32>, %ig: tensor<7xf32>):
    %iread = hybrid.matmul %ik, %is : tensor<9xf32>, tensor<9x7xf32> -> tensor<7xf32>
    %ie = hybrid.binary sub %iv, %iread : tensor<7xf32>, tensor<7xf32>
    %ieg = hybrid.binary mul %ie, %ig : tensor<7xf32>, tensor<7xf32>
    %ik1 = hybrid.reshape %ik to [9, 1] : tensor<9xf32> -> tensor<9x1xf32>
    %iwrite = hybrid.binary mul %ik1, %ieg : tensor<9x1xf32>, tensor<7xf32>
    %is1 = hybrid.binary add %is, %iwrite : tensor<9x7xf32>, tensor<9x7xf32>
    %imost = hybrid.reduce max %is1 over [0] : tensor<9x7xf32> -> tensor<7xf32>
    %imean = hybrid.reduce mean %is1 over [0] : tensor<9x7xf32> -> tensor<7xf32>
    %imix = hybrid.binary mul %imost, %ic : tensor<7xf32>, tensor<7xf32>
    %ipart = hybrid.slice %imix from [1] size [2] : tensor<7xf32> -> tensor<2xf32>
    %iy = hybrid.concat %iread, %ipart, %ic along 0 : tensor<7xf32>, tensor<2xf32>, tensor<7xf32> -> tensor<16xf32>
    hybrid.yield %is1, %imean, %iy : tensor<9x7xf32>, tensor<7xf32>, tensor<16xf32>
  }
  return %y : tensor<2x13x16xf32>
}
// -----
// States that change places, inputs and results of two dimensions, a weight of two products.
func.func @forward(%x: tensor<2x5x2x4xf32> {hybrid.name = "x"}, %w: tensor<4x6xf32> {hybrid.name = "w"}) -> (tensor<2x5x2x2xf32> {hybrid.name = "y"}, tensor<2x8xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.recurrence inputs(%x : tensor<2x5x2x4xf32>) invariants(%w : tensor<4x6xf32>) {return_state} -> tensor<2x5x2x2xf32>, tensor<2x8xf32> step {
  ^bb0(%ia: tensor<4xf32>, %ib: tensor<4xf32>, %ixt: tensor<2x4xf32>, %iw: tensor<4x6xf32>):
    %is = hybrid.transpose %ixt by [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
    %iwt = hybrid.transpose %iw by [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    %ip = hybrid.matmul %ixt, %iw : tensor<2x4xf32>, tensor<4x6xf32> -> tensor<2x6xf32>
    %iq = hybrid.linear %ip, %iw : tensor<2x6xf32>, tensor<4x6xf32> -> tensor<2x4xf32>
    %ir = hybrid.reduce sum %iq over [0] {keep} : tensor<2x4xf32> -> tensor<1x4xf32>
    %ir1 = hybrid.reshape %ir to [4] : tensor<1x4xf32> -> tensor<4xf32>
    %im = hybrid.binary mul %ir1, %ia : tensor<4xf32>, tensor<4xf32>
    %it = hybrid.unary tanh %im : tensor<4xf32>
    %in = hybrid.binary add %it, %ir1 : tensor<4xf32>, tensor<4xf32>
    %iy = hybrid.matmul %iq, %is : tensor<2x4xf32>, tensor<4x2xf32> -> tensor<2x2xf32>
    hybrid.yield %ib, %in, %iy : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
  }
  return %y, %f : tensor<2x5x2x2xf32>, tensor<2x8xf32>
}
