// A decay for each key channel and time, and a scale.
func.func @forward(%q: tensor<2x9x10xf32> {hybrid.name = "q"}, %k: tensor<2x9x10xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2x9x14xf32> {hybrid.name = "v"}, %a: tensor<2x9x10xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2x9x10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}) -> (tensor<2x9x14xf32> {hybrid.name = "o"}) {
  %o = hybrid.delta_rule %q, %k, %v, %a heads 2 decay(%g : tensor<2x9x10xf32>) {scale = 0.7} : tensor<2x9x10xf32>, tensor<2x9x10xf32>, tensor<2x9x14xf32>, tensor<2x9x10xf32> -> tensor<2x9x14xf32>
  return %o : tensor<2x9x14xf32>
}
// -----
// No decay, with heads wider than a vector.
func.func @forward(%q: tensor<2x5x19xf32> {hybrid.name = "q"}, %k: tensor<2x5x19xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2x5x11xf32> {hybrid.name = "v"}, %a: tensor<2x5x19xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}) -> (tensor<2x5x11xf32> {hybrid.name = "o"}) {
  %o = hybrid.delta_rule %q, %k, %v, %a heads 1 : tensor<2x5x19xf32>, tensor<2x5x19xf32>, tensor<2x5x11xf32>, tensor<2x5x19xf32> -> tensor<2x5x11xf32>
  return %o : tensor<2x5x11xf32>
}
// -----
// For each head and time, with a state in and out, over several chunks.
func.func @forward(%q: tensor<2x20x6xf32> {hybrid.name = "q"}, %k: tensor<2x20x6xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2x20x8xf32> {hybrid.name = "v"}, %a: tensor<2x20x6xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2x20x2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x3x4xf32> {hybrid.name = "s"}) -> (tensor<2x20x8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 decay(%g : tensor<2x20x2xf32>) initial_state(%s : tensor<2x2x3x4xf32>) {return_state} : tensor<2x20x6xf32>, tensor<2x20x6xf32>, tensor<2x20x8xf32>, tensor<2x20x6xf32> -> tensor<2x20x8xf32>, tensor<2x2x3x4xf32>
  return %o, %f : tensor<2x20x8xf32>, tensor<2x2x3x4xf32>
}
// -----
// A transition of its own, with a decay for each key channel and time and states.
func.func @forward(%q: tensor<2x11x8xf32> {hybrid.name = "q"}, %k: tensor<2x11x8xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2x11x6xf32> {hybrid.name = "v"}, %a: tensor<2x11x8xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %b: tensor<2x11x8xf32> {hybrid.name = "b", test.range = [-0.6, 0.6]}, %g: tensor<2x11x8xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x4x3xf32> {hybrid.name = "s"}) -> (tensor<2x11x6xf32> {hybrid.name = "o"}, tensor<2x2x4x3xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 b(%b : tensor<2x11x8xf32>) decay(%g : tensor<2x11x8xf32>) initial_state(%s : tensor<2x2x4x3xf32>) {return_state} : tensor<2x11x8xf32>, tensor<2x11x8xf32>, tensor<2x11x6xf32>, tensor<2x11x8xf32> -> tensor<2x11x6xf32>, tensor<2x2x4x3xf32>
  return %o, %f : tensor<2x11x6xf32>, tensor<2x2x4x3xf32>
}
// -----
// The same in packed segments, with a decay for each head.
func.func @forward(%q: tensor<2x19x6xf32> {hybrid.name = "q"}, %k: tensor<2x19x6xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2x19x8xf32> {hybrid.name = "v"}, %a: tensor<2x19x6xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %b: tensor<2x19x6xf32> {hybrid.name = "b", test.range = [-0.6, 0.6]}, %g: tensor<2x19x2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %ids: tensor<2x19xi32> {hybrid.name = "ids", test.segments}, %s: tensor<2x2x3x4xf32> {hybrid.name = "s"}) -> (tensor<2x19x8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 b(%b : tensor<2x19x6xf32>) decay(%g : tensor<2x19x2xf32>) segments(%ids : tensor<2x19xi32>) initial_state(%s : tensor<2x2x3x4xf32>) {return_state} : tensor<2x19x6xf32>, tensor<2x19x6xf32>, tensor<2x19x8xf32>, tensor<2x19x6xf32> -> tensor<2x19x8xf32>, tensor<2x2x3x4xf32>
  return %o, %f : tensor<2x19x8xf32>, tensor<2x2x3x4xf32>
}
// -----
// Packed segments without decay.
func.func @forward(%q: tensor<2x12x9xf32> {hybrid.name = "q"}, %k: tensor<2x12x9xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2x12x6xf32> {hybrid.name = "v"}, %a: tensor<2x12x9xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %ids: tensor<2x12xi32> {hybrid.name = "ids", test.segments}) -> (tensor<2x12x6xf32> {hybrid.name = "o"}) {
  %o = hybrid.delta_rule %q, %k, %v, %a heads 3 segments(%ids : tensor<2x12xi32>) : tensor<2x12x9xf32>, tensor<2x12x9xf32>, tensor<2x12x6xf32>, tensor<2x12x9xf32> -> tensor<2x12x6xf32>
  return %o : tensor<2x12x6xf32>
}
// -----
// Several steps a token: one decay, one read-out.
func.func @forward(%q: tensor<2x7x6xf32> {hybrid.name = "q"}, %k: tensor<2x7x12xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2x7x16xf32> {hybrid.name = "v"}, %a: tensor<2x7x12xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %g: tensor<2x7x2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x3x4xf32> {hybrid.name = "s"}) -> (tensor<2x7x8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.delta_rule %q, %k, %v, %a heads 2 decay(%g : tensor<2x7x2xf32>) initial_state(%s : tensor<2x2x3x4xf32>) {return_state, steps = 2} : tensor<2x7x6xf32>, tensor<2x7x12xf32>, tensor<2x7x16xf32>, tensor<2x7x12xf32> -> tensor<2x7x8xf32>, tensor<2x2x3x4xf32>
  return %o, %f : tensor<2x7x8xf32>, tensor<2x2x3x4xf32>
}
// -----
// Several steps with a transition of their own, decays of channels and segments.
func.func @forward(%q: tensor<2x9x4xf32> {hybrid.name = "q"}, %k: tensor<2x9x12xf32> {hybrid.name = "k", test.range = [-0.6, 0.6]}, %v: tensor<2x9x9xf32> {hybrid.name = "v"}, %a: tensor<2x9x12xf32> {hybrid.name = "a", test.range = [-0.6, 0.6]}, %b: tensor<2x9x12xf32> {hybrid.name = "b", test.range = [-0.6, 0.6]}, %g: tensor<2x9x4xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %ids: tensor<2x9xi32> {hybrid.name = "ids", test.segments}) -> (tensor<2x9x3xf32> {hybrid.name = "o"}) {
  %o = hybrid.delta_rule %q, %k, %v, %a heads 1 b(%b : tensor<2x9x12xf32>) decay(%g : tensor<2x9x4xf32>) segments(%ids : tensor<2x9xi32>) {scale = 0.5, steps = 3} : tensor<2x9x4xf32>, tensor<2x9x12xf32>, tensor<2x9x9xf32>, tensor<2x9x12xf32> -> tensor<2x9x3xf32>
  return %o : tensor<2x9x3xf32>
}
