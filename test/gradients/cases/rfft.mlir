func.func @forward(%x: tensor<1x3xf32> {hybrid.name = "x"}) -> (tensor<1x3xf32> {hybrid.name = "re"}, tensor<1x3xf32> {hybrid.name = "im"}) {
  %re, %im = hybrid.rfft %x : tensor<1x3xf32> -> tensor<1x3xf32>, tensor<1x3xf32>
  return %re, %im : tensor<1x3xf32>, tensor<1x3xf32>
}
// -----
func.func @forward(%x: tensor<2x3xf32> {hybrid.name = "x"}) -> (tensor<2x3xf32> {hybrid.name = "re"}, tensor<2x3xf32> {hybrid.name = "im"}) {
  %re, %im = hybrid.rfft %x {weighted} : tensor<2x3xf32> -> tensor<2x3xf32>, tensor<2x3xf32>
  return %re, %im : tensor<2x3xf32>, tensor<2x3xf32>
}
// -----
func.func @forward(%x: tensor<7x9xf32> {hybrid.name = "x"}) -> (tensor<4x9xf32> {hybrid.name = "re"}, tensor<4x9xf32> {hybrid.name = "im"}) {
  %re, %im = hybrid.rfft %x : tensor<7x9xf32> -> tensor<4x9xf32>, tensor<4x9xf32>
  return %re, %im : tensor<4x9xf32>, tensor<4x9xf32>
}
// -----
func.func @forward(%x: tensor<8x17xf32> {hybrid.name = "x"}) -> (tensor<5x17xf32> {hybrid.name = "re"}, tensor<5x17xf32> {hybrid.name = "im"}) {
  %re, %im = hybrid.rfft %x {weighted} : tensor<8x17xf32> -> tensor<5x17xf32>, tensor<5x17xf32>
  return %re, %im : tensor<5x17xf32>, tensor<5x17xf32>
}
// -----
func.func @forward(%x: tensor<10x4xf32> {hybrid.name = "x"}) -> (tensor<6x4xf32> {hybrid.name = "re"}, tensor<6x4xf32> {hybrid.name = "im"}) {
  %re, %im = hybrid.rfft %x : tensor<10x4xf32> -> tensor<6x4xf32>, tensor<6x4xf32>
  return %re, %im : tensor<6x4xf32>, tensor<6x4xf32>
}
// -----
func.func @forward(%x: tensor<33x5xf32> {hybrid.name = "x"}) -> (tensor<17x5xf32> {hybrid.name = "re"}, tensor<17x5xf32> {hybrid.name = "im"}) {
  %re, %im = hybrid.rfft %x {weighted} : tensor<33x5xf32> -> tensor<17x5xf32>, tensor<17x5xf32>
  return %re, %im : tensor<17x5xf32>, tensor<17x5xf32>
}
// -----
func.func @forward(%x: tensor<64x5xf32> {hybrid.name = "x"}) -> (tensor<33x5xf32> {hybrid.name = "re"}, tensor<33x5xf32> {hybrid.name = "im"}) {
  %re, %im = hybrid.rfft %x : tensor<64x5xf32> -> tensor<33x5xf32>, tensor<33x5xf32>
  return %re, %im : tensor<33x5xf32>, tensor<33x5xf32>
}
