// Nothing is left out of what does not train.
func.func @forward(%x: tensor<2x3x4xf32> {hybrid.name = "x"}) -> (tensor<2x3x4xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary square %x : tensor<2x3x4xf32>
  %d = hybrid.dropout %s rate 0.5 along [0, 2] "dropout" : tensor<2x3x4xf32>
  %y = hybrid.unary sin %d : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
