func.func @forward(%re: tensor<4x9xf32> {hybrid.name = "re"}, %im: tensor<4x9xf32> {hybrid.name = "im"}) -> (tensor<7x9xf32> {hybrid.name = "x"}) {
  %x = hybrid.irfft %re, %im to 7 {weighted} : tensor<4x9xf32>, tensor<4x9xf32> -> tensor<7x9xf32>
  return %x : tensor<7x9xf32>
}
// -----
func.func @forward(%re: tensor<5x17xf32> {hybrid.name = "re"}, %im: tensor<5x17xf32> {hybrid.name = "im"}) -> (tensor<8x17xf32> {hybrid.name = "x"}) {
  %x = hybrid.irfft %re, %im to 8 : tensor<5x17xf32>, tensor<5x17xf32> -> tensor<8x17xf32>
  return %x : tensor<8x17xf32>
}
// -----
func.func @forward(%re: tensor<6x4xf32> {hybrid.name = "re"}, %im: tensor<6x4xf32> {hybrid.name = "im"}) -> (tensor<10x4xf32> {hybrid.name = "x"}) {
  %x = hybrid.irfft %re, %im to 10 {weighted} : tensor<6x4xf32>, tensor<6x4xf32> -> tensor<10x4xf32>
  return %x : tensor<10x4xf32>
}
// -----
func.func @forward(%re: tensor<17x5xf32> {hybrid.name = "re"}, %im: tensor<17x5xf32> {hybrid.name = "im"}) -> (tensor<33x5xf32> {hybrid.name = "x"}) {
  %x = hybrid.irfft %re, %im to 33 : tensor<17x5xf32>, tensor<17x5xf32> -> tensor<33x5xf32>
  return %x : tensor<33x5xf32>
}
// -----
func.func @forward(%re: tensor<33x5xf32> {hybrid.name = "re"}, %im: tensor<33x5xf32> {hybrid.name = "im"}) -> (tensor<64x5xf32> {hybrid.name = "x"}) {
  %x = hybrid.irfft %re, %im to 64 {weighted} : tensor<33x5xf32>, tensor<33x5xf32> -> tensor<64x5xf32>
  return %x : tensor<64x5xf32>
}
