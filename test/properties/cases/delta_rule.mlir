// A decay for each key channel and time, with states.
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx14xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx10xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2xLENGTHx10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x5x7xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx14xf32> {hybrid.name = "o"}, tensor<2x2x5x7xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 decay(%g : tensor<2xLENGTHx10xf32>) initial_state(%s : tensor<2x2x5x7xf32>) {return_state, scale = 0.7} : tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx14xf32>, tensor<2xLENGTHx10xf32> -> tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
  return %o, %f : tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx14xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx10xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2xLENGTHx10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x5x7xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx14xf32> {hybrid.name = "o"}, tensor<2x2x5x7xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx14xf32> -> tensor<2xFIRSTx14xf32>, tensor<2xSECONDx14xf32>
  %a0, %a1 = hybrid.split %a along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %o0, %m = hybrid.delta_rule %q0, %k0, %v0, %a0 heads 2 decay(%g0 : tensor<2xFIRSTx10xf32>) initial_state(%s : tensor<2x2x5x7xf32>) {return_state, scale = 0.7} : tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx14xf32>, tensor<2xFIRSTx10xf32> -> tensor<2xFIRSTx14xf32>, tensor<2x2x5x7xf32>
  %o1, %f = hybrid.delta_rule %q1, %k1, %v1, %a1 heads 2 decay(%g1 : tensor<2xSECONDx10xf32>) initial_state(%m : tensor<2x2x5x7xf32>) {return_state, scale = 0.7} : tensor<2xSECONDx10xf32>, tensor<2xSECONDx10xf32>, tensor<2xSECONDx14xf32>, tensor<2xSECONDx10xf32> -> tensor<2xSECONDx14xf32>, tensor<2x2x5x7xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx14xf32>, tensor<2xSECONDx14xf32> -> tensor<2xLENGTHx14xf32>
  return %o, %f : tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
}
// -----
// A decay for each head and time.
func.func @forward(%q: tensor<2xLENGTHx9xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx9xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx9xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2xLENGTHx3xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "o"}) {
  %o = hybrid.delta_rule %q, %k, %v, %a heads 3 decay(%g : tensor<2xLENGTHx3xf32>) : tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx9xf32>, tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx9xf32> -> tensor<2xLENGTHx12xf32>
  return %o : tensor<2xLENGTHx12xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx9xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx9xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx12xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx9xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2xLENGTHx3xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}) -> (tensor<2xLENGTHx12xf32> {hybrid.name = "o"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %a0, %a1 = hybrid.split %a along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx9xf32> -> tensor<2xFIRSTx9xf32>, tensor<2xSECONDx9xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx3xf32> -> tensor<2xFIRSTx3xf32>, tensor<2xSECONDx3xf32>
  %o0, %m = hybrid.delta_rule %q0, %k0, %v0, %a0 heads 3 decay(%g0 : tensor<2xFIRSTx3xf32>) {return_state} : tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx9xf32>, tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx9xf32> -> tensor<2xFIRSTx12xf32>, tensor<2x3x3x4xf32>
  %o1 = hybrid.delta_rule %q1, %k1, %v1, %a1 heads 3 decay(%g1 : tensor<2xSECONDx3xf32>) initial_state(%m : tensor<2x3x3x4xf32>) : tensor<2xSECONDx9xf32>, tensor<2xSECONDx9xf32>, tensor<2xSECONDx12xf32>, tensor<2xSECONDx9xf32> -> tensor<2xSECONDx12xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32> -> tensor<2xLENGTHx12xf32>
  return %o : tensor<2xLENGTHx12xf32>
}
// -----
// No decay, with a transition of its own.
func.func @forward(%q: tensor<2xLENGTHx8xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx8xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %b: tensor<2xLENGTHx8xf32> {hybrid.name = "b", test.range = [-0.6, 0.6]}, %s: tensor<2x2x4x3xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "o"}, tensor<2x2x4x3xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 b(%b : tensor<2xLENGTHx8xf32>) initial_state(%s : tensor<2x2x4x3xf32>) {return_state} : tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx8xf32> -> tensor<2xLENGTHx6xf32>, tensor<2x2x4x3xf32>
  return %o, %f : tensor<2xLENGTHx6xf32>, tensor<2x2x4x3xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx8xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx8xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx6xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx8xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %b: tensor<2xLENGTHx8xf32> {hybrid.name = "b", test.range = [-0.6, 0.6]}, %s: tensor<2x2x4x3xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx6xf32> {hybrid.name = "o"}, tensor<2x2x4x3xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %a0, %a1 = hybrid.split %a along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %b0, %b1 = hybrid.split %b along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %o0, %m = hybrid.delta_rule %q0, %k0, %v0, %a0 heads 2 b(%b0 : tensor<2xFIRSTx8xf32>) initial_state(%s : tensor<2x2x4x3xf32>) {return_state} : tensor<2xFIRSTx8xf32>, tensor<2xFIRSTx8xf32>, tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx8xf32> -> tensor<2xFIRSTx6xf32>, tensor<2x2x4x3xf32>
  %o1, %f = hybrid.delta_rule %q1, %k1, %v1, %a1 heads 2 b(%b1 : tensor<2xSECONDx8xf32>) initial_state(%m : tensor<2x2x4x3xf32>) {return_state} : tensor<2xSECONDx8xf32>, tensor<2xSECONDx8xf32>, tensor<2xSECONDx6xf32>, tensor<2xSECONDx8xf32> -> tensor<2xSECONDx6xf32>, tensor<2x2x4x3xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32> -> tensor<2xLENGTHx6xf32>
  return %o, %f : tensor<2xLENGTHx6xf32>, tensor<2x2x4x3xf32>
}
// -----
// Several steps a token.
func.func @forward(%q: tensor<2xLENGTHx6xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx12xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx16xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx12xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2xLENGTHx2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x3x4xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 decay(%g : tensor<2xLENGTHx2xf32>) initial_state(%s : tensor<2x2x3x4xf32>) {return_state, steps = 2} : tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx12xf32>, tensor<2xLENGTHx16xf32>, tensor<2xLENGTHx12xf32> -> tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
  return %o, %f : tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx6xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx12xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx16xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx12xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2xLENGTHx2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x3x4xf32> {hybrid.name = "s"}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx16xf32> -> tensor<2xFIRSTx16xf32>, tensor<2xSECONDx16xf32>
  %a0, %a1 = hybrid.split %a along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx12xf32> -> tensor<2xFIRSTx12xf32>, tensor<2xSECONDx12xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx2xf32> -> tensor<2xFIRSTx2xf32>, tensor<2xSECONDx2xf32>
  %o0, %m = hybrid.delta_rule %q0, %k0, %v0, %a0 heads 2 decay(%g0 : tensor<2xFIRSTx2xf32>) initial_state(%s : tensor<2x2x3x4xf32>) {return_state, steps = 2} : tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx12xf32>, tensor<2xFIRSTx16xf32>, tensor<2xFIRSTx12xf32> -> tensor<2xFIRSTx8xf32>, tensor<2x2x3x4xf32>
  %o1, %f = hybrid.delta_rule %q1, %k1, %v1, %a1 heads 2 decay(%g1 : tensor<2xSECONDx2xf32>) initial_state(%m : tensor<2x2x3x4xf32>) {return_state, steps = 2} : tensor<2xSECONDx6xf32>, tensor<2xSECONDx12xf32>, tensor<2xSECONDx16xf32>, tensor<2xSECONDx12xf32> -> tensor<2xSECONDx8xf32>, tensor<2x2x3x4xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32> -> tensor<2xLENGTHx8xf32>
  return %o, %f : tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
}
// -----
// Packed, with a decay for each key channel and time. The state is that of the first, then of the last segment.
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx14xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx10xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %b: tensor<2xLENGTHx10xf32> {hybrid.name = "b", test.range = [-0.6, 0.6]}, %g: tensor<2xLENGTHx10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x5x7xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx14xf32> {hybrid.name = "o"}, tensor<2x2x5x7xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 b(%b : tensor<2xLENGTHx10xf32>) decay(%g : tensor<2xLENGTHx10xf32>) segments(%ids : tensor<2xLENGTHxi32>) initial_state(%s : tensor<2x2x5x7xf32>) {return_state} : tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx10xf32>, tensor<2xLENGTHx14xf32>, tensor<2xLENGTHx10xf32> -> tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
  return %o, %f : tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx10xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx10xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx14xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx10xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %b: tensor<2xLENGTHx10xf32> {hybrid.name = "b", test.range = [-0.6, 0.6]}, %g: tensor<2xLENGTHx10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x5x7xf32> {hybrid.name = "s"}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx14xf32> {hybrid.name = "o"}, tensor<2x2x5x7xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx14xf32> -> tensor<2xFIRSTx14xf32>, tensor<2xSECONDx14xf32>
  %a0, %a1 = hybrid.split %a along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %b0, %b1 = hybrid.split %b along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %g0, %g1 = hybrid.split %g along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx10xf32> -> tensor<2xFIRSTx10xf32>, tensor<2xSECONDx10xf32>
  %o0 = hybrid.delta_rule %q0, %k0, %v0, %a0 heads 2 b(%b0 : tensor<2xFIRSTx10xf32>) decay(%g0 : tensor<2xFIRSTx10xf32>) initial_state(%s : tensor<2x2x5x7xf32>) : tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx10xf32>, tensor<2xFIRSTx14xf32>, tensor<2xFIRSTx10xf32> -> tensor<2xFIRSTx14xf32>
  %o1, %f = hybrid.delta_rule %q1, %k1, %v1, %a1 heads 2 b(%b1 : tensor<2xSECONDx10xf32>) decay(%g1 : tensor<2xSECONDx10xf32>) {return_state} : tensor<2xSECONDx10xf32>, tensor<2xSECONDx10xf32>, tensor<2xSECONDx14xf32>, tensor<2xSECONDx10xf32> -> tensor<2xSECONDx14xf32>, tensor<2x2x5x7xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx14xf32>, tensor<2xSECONDx14xf32> -> tensor<2xLENGTHx14xf32>
  return %o, %f : tensor<2xLENGTHx14xf32>, tensor<2x2x5x7xf32>
}
// -----
// Packed, without decay.
func.func @forward(%q: tensor<2xLENGTHx6xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx6xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %ids: tensor<2xLENGTHxi32> {hybrid.name = "ids", test.segments}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 segments(%ids : tensor<2xLENGTHxi32>) {return_state} : tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx6xf32>, tensor<2xLENGTHx8xf32>, tensor<2xLENGTHx6xf32> -> tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
  return %o, %f : tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
}
// -----
func.func @forward(%q: tensor<2xLENGTHx6xf32> {hybrid.name = "q"}, %k: tensor<2xLENGTHx6xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2xLENGTHx8xf32> {hybrid.name = "v"}, %a: tensor<2xLENGTHx6xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}) -> (tensor<2xLENGTHx8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %q0, %q1 = hybrid.split %q along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %k0, %k1 = hybrid.split %k along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %v0, %v1 = hybrid.split %v along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx8xf32> -> tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32>
  %a0, %a1 = hybrid.split %a along 1 sizes [FIRST, SECOND] : tensor<2xLENGTHx6xf32> -> tensor<2xFIRSTx6xf32>, tensor<2xSECONDx6xf32>
  %o0 = hybrid.delta_rule %q0, %k0, %v0, %a0 heads 2 : tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx6xf32>, tensor<2xFIRSTx8xf32>, tensor<2xFIRSTx6xf32> -> tensor<2xFIRSTx8xf32>
  %o1, %f = hybrid.delta_rule %q1, %k1, %v1, %a1 heads 2 {return_state} : tensor<2xSECONDx6xf32>, tensor<2xSECONDx6xf32>, tensor<2xSECONDx8xf32>, tensor<2xSECONDx6xf32> -> tensor<2xSECONDx8xf32>, tensor<2x2x3x4xf32>
  %o = hybrid.concat %o0, %o1 along 1 : tensor<2xFIRSTx8xf32>, tensor<2xSECONDx8xf32> -> tensor<2xLENGTHx8xf32>
  return %o, %f : tensor<2xLENGTHx8xf32>, tensor<2x2x3x4xf32>
}
