// The other way, and a state that depends on nothing and is read by nobody.
module attributes {test.ranks = 2 : i64} {
  func.func @forward(%x: tensor<4x5xf32> {hybrid.name = "x"}) -> (tensor<4x5xf32> {hybrid.name = "y"}) {
    %behind = hybrid.receive_state from next of 2 : tensor<4x5xf32>
    %unread = hybrid.receive_state from next of 2 : tensor<5xf32>
    %h = hybrid.binary mul %x, %behind : tensor<4x5xf32>, tensor<4x5xf32>
    %y = hybrid.binary add %h, %x : tensor<4x5xf32>, tensor<4x5xf32>
    hybrid.send_state %y to previous of 2 : tensor<4x5xf32>
    %one = hybrid.constant 1.0 : tensor<5xf32>
    hybrid.send_state %one to previous of 2 : tensor<5xf32>
    return %y : tensor<4x5xf32>
  }
}
