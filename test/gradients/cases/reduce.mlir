func.func @forward(%x: tensor<3x4x5xf32> {hybrid.name = "x"}) -> (tensor<5xf32> {hybrid.name = "leading"}, tensor<3x4x1xf32> {hybrid.name = "trailing"}, tensor<3x5xf32> {hybrid.name = "middle"}, tensor<f32> {hybrid.name = "all"}) {
  %a = hybrid.reduce KIND %x over [0, 1] : tensor<3x4x5xf32> -> tensor<5xf32>
  %b = hybrid.reduce KIND %x over [2] {keep} : tensor<3x4x5xf32> -> tensor<3x4x1xf32>
  %c = hybrid.reduce KIND %x over [1] : tensor<3x4x5xf32> -> tensor<3x5xf32>
  %d = hybrid.reduce KIND %x over [0, 1, 2] : tensor<3x4x5xf32> -> tensor<f32>
  return %a, %b, %c, %d : tensor<5xf32>, tensor<3x4x1xf32>, tensor<3x5xf32>, tensor<f32>
}
