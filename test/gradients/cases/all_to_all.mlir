module attributes {test.ranks = 3 : i64} {
  func.func @forward(%x: tensor<3x4x5xf32> {hybrid.name = "x"}) -> (tensor<3x4x5xf32> {hybrid.name = "y"}) {
    %y = hybrid.all_to_all %x : tensor<3x4x5xf32>
    %z = hybrid.binary mul %x, %y : tensor<3x4x5xf32>, tensor<3x4x5xf32>
    return %z : tensor<3x4x5xf32>
  }
}
