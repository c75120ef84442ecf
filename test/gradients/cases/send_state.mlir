// Every rank goes on from what the one before has made.
module attributes {test.ranks = 3 : i64} {
  func.func @forward(%x: tensor<4x5xf32> {hybrid.name = "x"}) -> (tensor<4x5xf32> {hybrid.name = "y"}) {
    %before = hybrid.receive_state from previous of 3 : tensor<4x5xf32>
    %h = hybrid.binary mul %x, %before : tensor<4x5xf32>, tensor<4x5xf32>
    %y = hybrid.binary add %h, %x : tensor<4x5xf32>, tensor<4x5xf32>
    hybrid.send_state %y to next of 3 : tensor<4x5xf32>
    return %y : tensor<4x5xf32>
  }
}
