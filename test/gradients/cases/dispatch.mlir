// A token goes to each of its experts.
func.func @forward(%s: tensor<2x7x4xf32> {hybrid.name = "s"}, %x: tensor<2x7x1x9xf32> {hybrid.name = "x"}) -> (tensor<2x7x2x9xf32> {hybrid.name = "y"}, tensor<2x7x2xf32> {hybrid.name = "chosen"}) {
  %i = hybrid.top_k %s of 2 : tensor<2x7x4xf32> -> tensor<2x7x2xi32>
  %chosen = hybrid.take %s at %i : tensor<2x7x4xf32>, tensor<2x7x2xi32> -> tensor<2x7x2xf32>
  %slots, %offsets = hybrid.route %i among 4 : tensor<2x7x2xi32> -> tensor<2x7x2xi32>, tensor<5xi32>
  %b = hybrid.broadcast %x to [2, 7, 2, 9] : tensor<2x7x1x9xf32> -> tensor<2x7x2x9xf32>
  %y = hybrid.dispatch %b by %slots : tensor<2x7x2x9xf32>, tensor<2x7x2xi32> -> tensor<2x7x2x9xf32>
  return %y, %chosen : tensor<2x7x2x9xf32>, tensor<2x7x2xf32>
}
