// A decay for each key channel and time, and a scale.
func.func @forward(%q: tensor<2x9x10xf32> {hybrid.name = "q"}, %k: tensor<2x9x10xf32> {hybrid.name = "k"}, %v: tensor<2x9x14xf32> {hybrid.name = "v"}, %g: tensor<2x9x10xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}) -> (tensor<2x9x14xf32> {hybrid.name = "o"}) {
  %o = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2x9x10xf32>) {scale = 0.7} : tensor<2x9x10xf32>, tensor<2x9x10xf32>, tensor<2x9x14xf32> -> tensor<2x9x14xf32>
  return %o : tensor<2x9x14xf32>
}
// -----
// None, with heads wider than a vector.
func.func @forward(%q: tensor<2x5x19xf32> {hybrid.name = "q"}, %k: tensor<2x5x19xf32> {hybrid.name = "k"}, %v: tensor<2x5x11xf32> {hybrid.name = "v"}) -> (tensor<2x5x11xf32> {hybrid.name = "o"}) {
  %o = hybrid.linear_scan %q, %k, %v heads 1 : tensor<2x5x19xf32>, tensor<2x5x19xf32>, tensor<2x5x11xf32> -> tensor<2x5x11xf32>
  return %o : tensor<2x5x11xf32>
}
// -----
// For each head and time, with a state in and out; the keys of a head are more than a vector.
func.func @forward(%q: tensor<2x9x18xf32> {hybrid.name = "q"}, %k: tensor<2x9x18xf32> {hybrid.name = "k"}, %v: tensor<2x9x6xf32> {hybrid.name = "v"}, %g: tensor<2x9x2xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x9x3xf32> {hybrid.name = "s"}) -> (tensor<2x9x6xf32> {hybrid.name = "o"}, tensor<2x2x9x3xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2x9x2xf32>) initial_state(%s : tensor<2x2x9x3xf32>) {return_state} : tensor<2x9x18xf32>, tensor<2x9x18xf32>, tensor<2x9x6xf32> -> tensor<2x9x6xf32>, tensor<2x2x9x3xf32>
  return %o, %f : tensor<2x9x6xf32>, tensor<2x2x9x3xf32>
}
// -----
// Constant for each key channel, over more steps than the gradient keeps states of, before the token.
func.func @forward(%q: tensor<2x37x6xf32> {hybrid.name = "q"}, %k: tensor<2x37x6xf32> {hybrid.name = "k"}, %v: tensor<2x37x4xf32> {hybrid.name = "v"}, %g: tensor<6xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<2x2x3x2xf32> {hybrid.name = "s"}) -> (tensor<2x37x4xf32> {hybrid.name = "o"}, tensor<2x2x3x2xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<6xf32>) initial_state(%s : tensor<2x2x3x2xf32>) {exclusive, return_state} : tensor<2x37x6xf32>, tensor<2x37x6xf32>, tensor<2x37x4xf32> -> tensor<2x37x4xf32>, tensor<2x2x3x2xf32>
  return %o, %f : tensor<2x37x4xf32>, tensor<2x2x3x2xf32>
}
// -----
// Constant for each head, in packed segments.
func.func @forward(%q: tensor<2x12x9xf32> {hybrid.name = "q"}, %k: tensor<2x12x9xf32> {hybrid.name = "k"}, %v: tensor<2x12x6xf32> {hybrid.name = "v"}, %g: tensor<3xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %ids: tensor<2x12xi32> {hybrid.name = "ids", test.segments}) -> (tensor<2x12x6xf32> {hybrid.name = "o"}) {
  %o = hybrid.linear_scan %q, %k, %v heads 3 decay(%g : tensor<3xf32>) segments(%ids : tensor<2x12xi32>) : tensor<2x12x9xf32>, tensor<2x12x9xf32>, tensor<2x12x6xf32> -> tensor<2x12x6xf32>
  return %o : tensor<2x12x6xf32>
}
// -----
// Everything at once: before the token, segments, states, a decay for each key channel and time.
func.func @forward(%q: tensor<2x20x6xf32> {hybrid.name = "q"}, %k: tensor<2x20x6xf32> {hybrid.name = "k"}, %v: tensor<2x20x8xf32> {hybrid.name = "v"}, %g: tensor<2x20x6xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %ids: tensor<2x20xi32> {hybrid.name = "ids", test.segments}, %s: tensor<2x2x3x4xf32> {hybrid.name = "s"}) -> (tensor<2x20x8xf32> {hybrid.name = "o"}, tensor<2x2x3x4xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2x20x6xf32>) segments(%ids : tensor<2x20xi32>) initial_state(%s : tensor<2x2x3x4xf32>) {exclusive, return_state} : tensor<2x20x6xf32>, tensor<2x20x6xf32>, tensor<2x20x8xf32> -> tensor<2x20x8xf32>, tensor<2x2x3x4xf32>
  return %o, %f : tensor<2x20x8xf32>, tensor<2x2x3x4xf32>
}
// -----
// Long and narrow: divided over time.
func.func @forward(%q: tensor<1x512x2xf32> {hybrid.name = "q"}, %k: tensor<1x512x2xf32> {hybrid.name = "k"}, %v: tensor<1x512x1xf32> {hybrid.name = "v"}, %g: tensor<1x512x2xf32> {hybrid.name = "g", test.range = [-0.4, -0.1]}, %ids: tensor<1x512xi32> {hybrid.name = "ids", test.segments}, %s: tensor<1x1x2x1xf32> {hybrid.name = "s"}) -> (tensor<1x512x1xf32> {hybrid.name = "o"}, tensor<1x1x2x1xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 1 decay(%g : tensor<1x512x2xf32>) segments(%ids : tensor<1x512xi32>) initial_state(%s : tensor<1x1x2x1xf32>) {return_state} : tensor<1x512x2xf32>, tensor<1x512x2xf32>, tensor<1x512x1xf32> -> tensor<1x512x1xf32>, tensor<1x1x2x1xf32>
  return %o, %f : tensor<1x512x1xf32>, tensor<1x1x2x1xf32>
}
// -----
// The same with a constant decay of each head, without states.
func.func @forward(%q: tensor<1x512x2xf32> {hybrid.name = "q"}, %k: tensor<1x512x2xf32> {hybrid.name = "k"}, %v: tensor<1x512x2xf32> {hybrid.name = "v"}, %g: tensor<2xf32> {hybrid.name = "g", test.range = [-0.4, -0.1]}) -> (tensor<1x512x2xf32> {hybrid.name = "o"}) {
  %o = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2xf32>) {exclusive} : tensor<1x512x2xf32>, tensor<1x512x2xf32>, tensor<1x512x2xf32> -> tensor<1x512x2xf32>
  return %o : tensor<1x512x2xf32>
}
// -----
// A state of several blocks, in chunks: a decay a key channel and time, before the token.
func.func @forward(%q: tensor<1x11x17xf32> {hybrid.name = "q"}, %k: tensor<1x11x17xf32> {hybrid.name = "k"}, %v: tensor<1x11x18xf32> {hybrid.name = "v"}, %g: tensor<1x11x17xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %s: tensor<1x1x17x18xf32> {hybrid.name = "s"}) -> (tensor<1x11x18xf32> {hybrid.name = "o"}, tensor<1x1x17x18xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 1 decay(%g : tensor<1x11x17xf32>) initial_state(%s : tensor<1x1x17x18xf32>) {exclusive, return_state} : tensor<1x11x17xf32>, tensor<1x11x17xf32>, tensor<1x11x18xf32> -> tensor<1x11x18xf32>, tensor<1x1x17x18xf32>
  return %o, %f : tensor<1x11x18xf32>, tensor<1x1x17x18xf32>
}
// -----
// The same with a decay a head and time, in packed segments.
func.func @forward(%q: tensor<1x11x17xf32> {hybrid.name = "q"}, %k: tensor<1x11x17xf32> {hybrid.name = "k"}, %v: tensor<1x11x18xf32> {hybrid.name = "v"}, %g: tensor<1x11x1xf32> {hybrid.name = "g", test.range = [-1.5, -0.1]}, %ids: tensor<1x11xi32> {hybrid.name = "ids", test.segments}, %s: tensor<1x1x17x18xf32> {hybrid.name = "s"}) -> (tensor<1x11x18xf32> {hybrid.name = "o"}, tensor<1x1x17x18xf32> {hybrid.name = "f"}) {
  %o, %f = hybrid.linear_scan %q, %k, %v heads 1 decay(%g : tensor<1x11x1xf32>) segments(%ids : tensor<1x11xi32>) initial_state(%s : tensor<1x1x17x18xf32>) {return_state} : tensor<1x11x17xf32>, tensor<1x11x17xf32>, tensor<1x11x18xf32> -> tensor<1x11x18xf32>, tensor<1x1x17x18xf32>
  return %o, %f : tensor<1x11x18xf32>, tensor<1x1x17x18xf32>
}
