// A GRU from a state to a state.
func.func @forward(%x: tensor<4xLENGTHx15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}, %s: tensor<4x5xf32> {hybrid.name = "s"}) -> (tensor<4xLENGTHx5xf32> {hybrid.name = "y"}, tensor<4x5xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.recurrence inputs(%x : tensor<4xLENGTHx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) initial_state(%s : tensor<4x5xf32>) {return_state} -> tensor<4xLENGTHx5xf32>, tensor<4x5xf32> step {
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
  return %y, %f : tensor<4xLENGTHx5xf32>, tensor<4x5xf32>
}
// -----
func.func @forward(%x: tensor<4xLENGTHx15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}, %s: tensor<4x5xf32> {hybrid.name = "s"}) -> (tensor<4xLENGTHx5xf32> {hybrid.name = "y"}, tensor<4x5xf32> {hybrid.name = "f"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<4xLENGTHx15xf32> -> tensor<4xFIRSTx15xf32>, tensor<4xSECONDx15xf32>
  %y0, %m = hybrid.recurrence inputs(%x0 : tensor<4xFIRSTx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) initial_state(%s : tensor<4x5xf32>) {return_state} -> tensor<4xFIRSTx5xf32>, tensor<4x5xf32> step {
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
  %y1, %f = hybrid.recurrence inputs(%x1 : tensor<4xSECONDx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) initial_state(%m : tensor<4x5xf32>) {return_state} -> tensor<4xSECONDx5xf32>, tensor<4x5xf32> step {
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
  %y = hybrid.concat %y0, %y1 along 1 : tensor<4xFIRSTx5xf32>, tensor<4xSECONDx5xf32> -> tensor<4xLENGTHx5xf32>
  return %y, %f : tensor<4xLENGTHx5xf32>, tensor<4x5xf32>
}
// -----
// A GRU from zero.
func.func @forward(%x: tensor<4xLENGTHx15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}) -> (tensor<4xLENGTHx5xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%x : tensor<4xLENGTHx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) -> tensor<4xLENGTHx5xf32> step {
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
  return %y : tensor<4xLENGTHx5xf32>
}
// -----
func.func @forward(%x: tensor<4xLENGTHx15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}) -> (tensor<4xLENGTHx5xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<4xLENGTHx15xf32> -> tensor<4xFIRSTx15xf32>, tensor<4xSECONDx15xf32>
  %y0, %m = hybrid.recurrence inputs(%x0 : tensor<4xFIRSTx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) {return_state} -> tensor<4xFIRSTx5xf32>, tensor<4x5xf32> step {
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
  %y1 = hybrid.recurrence inputs(%x1 : tensor<4xSECONDx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) initial_state(%m : tensor<4x5xf32>) -> tensor<4xSECONDx5xf32> step {
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
  %y = hybrid.concat %y0, %y1 along 1 : tensor<4xFIRSTx5xf32>, tensor<4xSECONDx5xf32> -> tensor<4xLENGTHx5xf32>
  return %y : tensor<4xLENGTHx5xf32>
}
// -----
// Packed documents.
func.func @forward(%x: tensor<4xLENGTHx15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}, %ids: tensor<4xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<4xLENGTHx5xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%x : tensor<4xLENGTHx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) segments(%ids : tensor<4xLENGTHxi32>) -> tensor<4xLENGTHx5xf32> step {
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
  return %y : tensor<4xLENGTHx5xf32>
}
// -----
func.func @forward(%x: tensor<4xLENGTHx15xf32> {hybrid.name = "x"}, %w: tensor<15x5xf32> {hybrid.name = "w"}, %b: tensor<15xf32> {hybrid.name = "b"}) -> (tensor<4xLENGTHx5xf32> {hybrid.name = "y"}) {
  %x0, %x1 = hybrid.split %x along 1 sizes [FIRST, SECOND] : tensor<4xLENGTHx15xf32> -> tensor<4xFIRSTx15xf32>, tensor<4xSECONDx15xf32>
  %y0 = hybrid.recurrence inputs(%x0 : tensor<4xFIRSTx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) -> tensor<4xFIRSTx5xf32> step {
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
  %y1 = hybrid.recurrence inputs(%x1 : tensor<4xSECONDx15xf32>) invariants(%w, %b : tensor<15x5xf32>, tensor<15xf32>) -> tensor<4xSECONDx5xf32> step {
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
  %y = hybrid.concat %y0, %y1 along 1 : tensor<4xFIRSTx5xf32>, tensor<4xSECONDx5xf32> -> tensor<4xLENGTHx5xf32>
  return %y : tensor<4xLENGTHx5xf32>
}
// -----
// Two states, one of them a matrix, of which the gradient keeps some.
func.func @forward(%k: tensor<2xLENGTHx9xf32> {hybrid.name = "k", test.range = [-0.5, 0.5]}, %v: tensor<2xLENGTHx7xf32> {hybrid.name = "v", test.range = [-0.5, 0.5]}, %g: tensor<7xf32> {hybrid.name = "g", test.range = [-0.5, 0.5]}) -> (tensor<2xLENGTHx16xf32> {hybrid.name = "y"}, tensor<2x70xf32> {hybrid.name = "f"}) {
  %y, %f = hybrid.recurrence inputs(%k, %v : tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx7xf32>) invariants(%g : tensor<7xf32>) {return_state} -> tensor<2xLENGTHx16xf32>, tensor<2x70xf32> step {
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
  return %y, %f : tensor<2xLENGTHx16xf32>, tensor<2x70xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx9xf32> {hybrid.name = "k", test.range = [-0.5, 0.5]}, %v: tensor<2xLENGTHx7xf32> {hybrid.name = "v", test.range = [-0.5, 0.5]}, %g: tensor<7xf32> {hybrid.name = "g", test.range = [-0.5, 0.5]}) -> (tensor<2xLENGTHx16xf32> {hybrid.name = "y"}, tensor<2x70xf32> {hybrid.name = "f"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx7xf32> -> tensor<2xFIRSTx7xf32>, tensor<2xSECONDx7xf32>
  %y0, %m = hybrid.recurrence inputs(%k0, %v0 : tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx7xf32>) invariants(%g : tensor<7xf32>) {return_state} -> tensor<2xFIRSTx16xf32>, tensor<2x70xf32> step {
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
  %y1, %f = hybrid.recurrence inputs(%k1, %v1 : tensor<2xSECONDx9xf32>, tensor<2xSECONDx7xf32>) invariants(%g : tensor<7xf32>) initial_state(%m : tensor<2x70xf32>) {return_state} -> tensor<2xSECONDx16xf32>, tensor<2x70xf32> step {
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
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx16xf32>, tensor<2xSECONDx16xf32> -> tensor<2xLENGTHx16xf32>
  return %y, %f : tensor<2xLENGTHx16xf32>, tensor<2x70xf32>
}
// -----
// The same in packed documents.
func.func @forward(%k: tensor<2xLENGTHx9xf32> {hybrid.name = "k", test.range = [-0.5, 0.5]}, %v: tensor<2xLENGTHx7xf32> {hybrid.name = "v", test.range = [-0.5, 0.5]}, %g: tensor<7xf32> {hybrid.name = "g", test.range = [-0.5, 0.5]}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx16xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%k, %v : tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx7xf32>) invariants(%g : tensor<7xf32>) segments(%ids : tensor<2xLENGTHxi32>) -> tensor<2xLENGTHx16xf32> step {
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
  return %y : tensor<2xLENGTHx16xf32>
}
// -----
func.func @forward(%k: tensor<2xLENGTHx9xf32> {hybrid.name = "k", test.range = [-0.5, 0.5]}, %v: tensor<2xLENGTHx7xf32> {hybrid.name = "v", test.range = [-0.5, 0.5]}, %g: tensor<7xf32> {hybrid.name = "g", test.range = [-0.5, 0.5]}) -> (tensor<2xLENGTHx16xf32> {hybrid.name = "y"}) {
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx7xf32> -> tensor<2xFIRSTx7xf32>, tensor<2xSECONDx7xf32>
  %y0 = hybrid.recurrence inputs(%k0, %v0 : tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx7xf32>) invariants(%g : tensor<7xf32>) -> tensor<2xFIRSTx16xf32> step {
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
  %y1 = hybrid.recurrence inputs(%k1, %v1 : tensor<2xSECONDx9xf32>, tensor<2xSECONDx7xf32>) invariants(%g : tensor<7xf32>) -> tensor<2xSECONDx16xf32> step {
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
  %y = hybrid.concat %y0, %y1 along 1 : tensor<2xFIRSTx16xf32>, tensor<2xSECONDx16xf32> -> tensor<2xLENGTHx16xf32>
  return %y : tensor<2xLENGTHx16xf32>
}
