// A decay for each key channel and time, from a state to a state.
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx14xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x5x7xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx14xf32> {hybrid.name = "o"}, tensor<2x2x5x7xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2xLENGTHx10xf32>) initial_state(%s : tensor<2x2x5x7xf32>) {scale = 0.7, return_state} : tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx14xf32> -> tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
  return %o, %f : tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx14xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x5x7xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx14xf32> {hybrid.name = "o"}, tensor<2x2x5x7xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx14xf32> -> tensor<2xFIRSTx14xf32>, tensor<2xSECONDx14xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %o0, %m = hybrid.linear_scan %q0, %k0, %v0 heads 2 decay(%g0 : tensor<2xFIRSTx10xf32>) initial_state(%s : tensor<2x2x5x7xf32>) {scale = 0.7, return_state} : tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx14xf32> -> tensor<2xFIRSTx14xf32>, tensor<2x2x5x7xf32>
  %o1, %f = hybrid.linear_scan %q1, %k1, %v1 heads 2 decay(%g1 : tensor<2xSECONDx10xf32>) initial_state(%m : tensor<2x2x5x7xf32>) {scale = 0.7, return_state} : tensor<2xSECONDx10xf32>, tensor<2xSECONDx10xf32>, tensor<2xSECONDx14xf32> -> tensor<2xSECONDx14xf32>, tensor<2x2x5x7xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx14xf32>, tensor<2xSECONDx14xf32> -> tensor<2xLENGTHx14xf32>
  return %o, %f : tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
}
// -----
// For each head and time, before the token; heads wider than a vector.
func.func @forward(%q: tensor<2xLENGTHx18xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx18xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx34xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x9x17xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx34xf32> {hybrid.name = "o"}, tensor<2x2x9x17xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2xLENGTHx2xf32>) initial_state(%s : tensor<2x2x9x17xf32>) {exclusive, return_state} : tensor<2xLENGTHx18xf32>, tensor<2xLENGTHx18xf32>, tensor<2xLENGTHx34xf32> -> tensor<2xLENGTHx34xf32>, tensor<2x2x9x17xf32>
  return %o, %f : tensor<2xLENGTHx34xf32>, tensor<2x2x9x17xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx18xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx18xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx34xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x9x17xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx34xf32> {hybrid.name = "o"}, tensor<2x2x9x17xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx18xf32> -> tensor<2xFIRSTx18xf32>, tensor<2xSECONDx18xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx18xf32> -> tensor<2xFIRSTx18xf32>, tensor<2xSECONDx18xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx34xf32> -> tensor<2xFIRSTx34xf32>, tensor<2xSECONDx34xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx2xf32> -> tensor<2xFIRSTx2xf32>, tensor<2xSECONDx2xf32>
  %o0, %m = hybrid.linear_scan %q0, %k0, %v0 heads 2 decay(%g0 : tensor<2xFIRSTx2xf32>) initial_state(%s : tensor<2x2x9x17xf32>) {exclusive, return_state} : tensor<2xFIRSTx18xf32>, tensor<2xFIRSTx18xf32>, tensor<2xFIRSTx34xf32> -> tensor<2xFIRSTx34xf32>, tensor<2x2x9x17xf32>
  %o1, %f = hybrid.linear_scan %q1, %k1, %v1 heads 2 decay(%g1 : tensor<2xSECONDx2xf32>) initial_state(%m : tensor<2x2x9x17xf32>) {exclusive, return_state} : tensor<2xSECONDx18xf32>, tensor<2xSECONDx18xf32>, tensor<2xSECONDx34xf32> -> tensor<2xSECONDx34xf32>, tensor<2x2x9x17xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx34xf32>, tensor<2xSECONDx34xf32> -> tensor<2xLENGTHx34xf32>
  return %o, %f : tensor<2xLENGTHx34xf32>, tensor<2x2x9x17xf32>
}
// -----
// Constant for each key channel, from zero.
func.func @forward(%q: tensor<2xLENGTHx9xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx9xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}, %g: tensor<9xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "o"}) {
  %o = hybrid.linear_scan %q, %k, %v heads 3 decay(%g : tensor<9xf32>) : tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx12xf32> -> tensor<2xLENGTHx12xf32>
  return %o : tensor<2xLENGTHx12xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx9xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx9xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}, %g: tensor<9xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "o"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %o0, %m = hybrid.linear_scan %q0, %k0, %v0 heads 3 decay(%g : tensor<9xf32>) {return_state} : tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2x3x3x4xf32>
  %o1 = hybrid.linear_scan %q1, %k1, %v1 heads 3 decay(%g : tensor<9xf32>) initial_state(%m : tensor<2x3x3x4xf32>) : tensor<2xSECONDx9xf32>, tensor<2xSECONDx9xf32>, tensor<2xSECONDx12xf32> -> tensor<2xSECONDx12xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xLENGTHx12xf32>
  return %o : tensor<2xLENGTHx12xf32>
}
// -----
// Constant for each head, before the token.
func.func @forward(%q: tensor<2xLENGTHx9xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx9xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}, %g: tensor<3xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x3x3x4xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "o"}, tensor<2x3x3x4xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 3 decay(%g : tensor<3xf32>) initial_state(%s : tensor<2x3x3x4xf32>) {exclusive, return_state} : tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx12xf32> -> tensor<2xLENGTHx12xf32>, tensor<2x3x3x4xf32>
  return %o, %f : tensor<2xLENGTHx12xf32>, tensor<2x3x3x4xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx9xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx9xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}, %g: tensor<3xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x3x3x4xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "o"}, tensor<2x3x3x4xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %o0, %m = hybrid.linear_scan %q0, %k0, %v0 heads 3 decay(%g : tensor<3xf32>) initial_state(%s : tensor<2x3x3x4xf32>) {exclusive, return_state} : tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2x3x3x4xf32>
  %o1, %f = hybrid.linear_scan %q1, %k1, %v1 heads 3 decay(%g : tensor<3xf32>) initial_state(%m : tensor<2x3x3x4xf32>) {exclusive, return_state} : tensor<2xSECONDx9xf32>, tensor<2xSECONDx9xf32>, tensor<2xSECONDx12xf32> -> tensor<2xSECONDx12xf32>, tensor<2x3x3x4xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xLENGTHx12xf32>
  return %o, %f : tensor<2xLENGTHx12xf32>, tensor<2x3x3x4xf32>
}
// -----
// No decay.
func.func @forward(%q: tensor<2xLENGTHx8xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %s: tensor<2x2x4x3xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "o"}, tensor<2x2x4x3xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 initial_state(%s : tensor<2x2x4x3xf32>) {return_state} : tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx6xf32> -> tensor<2xLENGTHx6xf32>, tensor<2x2x4x3xf32>
  return %o, %f : tensor<2xLENGTHx6xf32>, tensor<2x2x4x3xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx8xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %s: tensor<2x2x4x3xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "o"}, tensor<2x2x4x3xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %o0, %m = hybrid.linear_scan %q0, %k0, %v0 heads 2 initial_state(%s : tensor<2x2x4x3xf32>) {return_state} : tensor<2xFIRSTx8xf32>, tensor<2xFIRSTx8xf32>, tensor<2xFIRSTx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2x2x4x3xf32>
  %o1, %f = hybrid.linear_scan %q1, %k1, %v1 heads 2 initial_state(%m : tensor<2x2x4x3xf32>) {return_state} : tensor<2xSECONDx8xf32>, tensor<2xSECONDx8xf32>, tensor<2xSECONDx6xf32> -> tensor<2xSECONDx6xf32>, tensor<2x2x4x3xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32> -> tensor<2xLENGTHx6xf32>
  return %o, %f : tensor<2xLENGTHx6xf32>, tensor<2x2x4x3xf32>
}
// -----
// Packed, with a decay for each key channel and time. The state is that of the first, then of the last segment.
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx14xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x5x7xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx14xf32> {hybrid.name = "o"}, tensor<2x2x5x7xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2xLENGTHx10xf32>) segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x2x5x7xf32>) {return_state} : tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx14xf32> -> tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
  return %o, %f : tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx14xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x5x7xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx14xf32> {hybrid.name = "o"}, tensor<2x2x5x7xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx14xf32> -> tensor<2xFIRSTx14xf32>, tensor<2xSECONDx14xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %o0 = hybrid.linear_scan %q0, %k0, %v0 heads 2 decay(%g0 : tensor<2xFIRSTx10xf32>) initial_state(%s : tensor<2x2x5x7xf32>) : tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx14xf32> -> tensor<2xFIRSTx14xf32>
  %o1, %f = hybrid.linear_scan %q1, %k1, %v1 heads 2 decay(%g1 : tensor<2xSECONDx10xf32>) {return_state} : tensor<2xSECONDx10xf32>, tensor<2xSECONDx10xf32>, tensor<2xSECONDx14xf32> -> tensor<2xSECONDx14xf32>, tensor<2x2x5x7xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx14xf32>, tensor<2xSECONDx14xf32> -> tensor<2xLENGTHx14xf32>
  return %o, %f : tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
}
// -----
// Packed, before the token, with a decay for each head and time.
func.func @forward(%q: tensor<2xLENGTHx18xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx18xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x9x3xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "o"}, tensor<2x2x9x3xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2xLENGTHx2xf32>) segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x2x9x3xf32>) {exclusive, return_state} : tensor<2xLENGTHx18xf32>, tensor<2xLENGTHx18xf32>, tensor<2xLENGTHx6xf32> -> tensor<2xLENGTHx6xf32>, tensor<2x2x9x3xf32>
  return %o, %f : tensor<2xLENGTHx6xf32>, tensor<2x2x9x3xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx18xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx18xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %g: tensor<2xLENGTHx2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x9x3xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "o"}, tensor<2x2x9x3xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx18xf32> -> tensor<2xFIRSTx18xf32>, tensor<2xSECONDx18xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx18xf32> -> tensor<2xFIRSTx18xf32>, tensor<2xSECONDx18xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx2xf32> -> tensor<2xFIRSTx2xf32>, tensor<2xSECONDx2xf32>
  %o0 = hybrid.linear_scan %q0, %k0, %v0 heads 2 decay(%g0 : tensor<2xFIRSTx2xf32>) initial_state(%s : tensor<2x2x9x3xf32>) {exclusive} : tensor<2xFIRSTx18xf32>, tensor<2xFIRSTx18xf32>, tensor<2xFIRSTx6xf32> -> tensor<2xFIRSTx6xf32>
  %o1, %f = hybrid.linear_scan %q1, %k1, %v1 heads 2 decay(%g1 : tensor<2xSECONDx2xf32>) {exclusive, return_state} : tensor<2xSECONDx18xf32>, tensor<2xSECONDx18xf32>, tensor<2xSECONDx6xf32> -> tensor<2xSECONDx6xf32>, tensor<2x2x9x3xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32> -> tensor<2xLENGTHx6xf32>
  return %o, %f : tensor<2xLENGTHx6xf32>, tensor<2x2x9x3xf32>
}
// -----
// Packed, constant decays, no state.
func.func @forward(%q: tensor<2xLENGTHx6xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}, %g: tensor<2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "o"}) {
  %o = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2xf32>) segments(%ids : tensor<2xLENGTHxi32>) : tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx8xf32> -> tensor<2xLENGTHx8xf32>
  return %o : tensor<2xLENGTHx8xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx6xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}, %g: tensor<2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "o"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %o0 = hybrid.linear_scan %q0, %k0, %v0 heads 2 decay(%g : tensor<2xf32>) : tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx8xf32> -> tensor<2xFIRSTx8xf32>
  %o1 = hybrid.linear_scan %q1, %k1, %v1 heads 2 decay(%g : tensor<2xf32>) : tensor<2xSECONDx6xf32>, tensor<2xSECONDx6xf32>, tensor<2xSECONDx8xf32> -> tensor<2xSECONDx8xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32> -> tensor<2xLENGTHx8xf32>
  return %o : tensor<2xLENGTHx8xf32>
}
// -----
// Packed, constant decays of channels.
func.func @forward(%q: tensor<2xLENGTHx6xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}, %g: tensor<6xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x3x4xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<6xf32>) segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x2x3x4xf32>) {exclusive, return_state} : tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx8xf32> -> tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
  return %o, %f : tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx6xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k"}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}, %g: tensor<6xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x3x4xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %o0 = hybrid.linear_scan %q0, %k0, %v0 heads 2 decay(%g : tensor<6xf32>) initial_state(%s : tensor<2x2x3x4xf32>) {exclusive} : tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx8xf32> -> tensor<2xFIRSTx8xf32>
  %o1, %f = hybrid.linear_scan %q1, %k1, %v1 heads 2 decay(%g : tensor<6xf32>) {exclusive, return_state} : tensor<2xSECONDx6xf32>, tensor<2xSECONDx6xf32>, tensor<2xSECONDx8xf32> -> tensor<2xSECONDx8xf32>, tensor<2x2x3x4xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32> -> tensor<2xLENGTHx8xf32>
  return %o, %f : tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
}
