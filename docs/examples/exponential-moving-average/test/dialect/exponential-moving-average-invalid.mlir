// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// exponential_moving_average C1: x is a sequence.
func.func @rank(%x: tensor<8x4xf32>, %a: tensor<4xf32>) {
  // expected-error@+1 {{x is [8, 4], expected [batch, length, channels]}}
  %0 = hybrid.exponential_moving_average %x, %a : tensor<8x4xf32>, tensor<4xf32> -> tensor<8x4xf32>
  return
}

// -----

// exponential_moving_average C2: a decay for each channel.
func.func @decay(%x: tensor<2x8x4xf32>, %a: tensor<3xf32>) {
  // expected-error@+1 {{decay is [3], but x}}
  %0 = hybrid.exponential_moving_average %x, %a : tensor<2x8x4xf32>, tensor<3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// exponential_moving_average C3: an id for each token.
func.func @segments(%x: tensor<2x8x4xf32>, %a: tensor<4xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but x is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.exponential_moving_average %x, %a segments(%ids : tensor<2x7xi32>) : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// exponential_moving_average C4: a state for each channel.
func.func @state(%x: tensor<2x8x4xf32>, %a: tensor<4xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{initial_state is [2, 3], expected [2, 4] ([batch, channels])}}
  %0 = hybrid.exponential_moving_average %x, %a initial_state(%s : tensor<2x3xf32>) : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// exponential_moving_average_grad C1: x is a sequence.
func.func @grad_rank(%x: tensor<8x4xf32>, %a: tensor<4xf32>, %y: tensor<8x4xf32>, %dy: tensor<8x4xf32>) {
  // expected-error@+1 {{x is [8, 4], expected [batch, length, channels]}}
  %0, %1 = hybrid.exponential_moving_average_grad %x, %a, %y, %dy : tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<4xf32>
  return
}

// -----

// exponential_moving_average_grad C2: a decay for each channel.
func.func @grad_decay(%x: tensor<2x8x4xf32>, %a: tensor<3xf32>, %y: tensor<2x8x4xf32>, %dy: tensor<2x8x4xf32>) {
  // expected-error@+1 {{decay is [3], but x}}
  %0, %1 = hybrid.exponential_moving_average_grad %x, %a, %y, %dy : tensor<2x8x4xf32>, tensor<3xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<3xf32>
  return
}

// -----

// exponential_moving_average_grad C3: an id for each token.
func.func @grad_segments(%x: tensor<2x8x4xf32>, %a: tensor<4xf32>, %y: tensor<2x8x4xf32>, %dy: tensor<2x8x4xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but x is [2, 8, 4]: expected its batch and length}}
  %0, %1 = hybrid.exponential_moving_average_grad %x, %a, %y, %dy segments(%ids : tensor<2x7xi32>) : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
  return
}

// -----

// exponential_moving_average_grad C4: a state for each channel.
func.func @grad_state(%x: tensor<2x8x4xf32>, %a: tensor<4xf32>, %y: tensor<2x8x4xf32>, %dy: tensor<2x8x4xf32>, %s: tensor<2x1x4xf32>) {
  // expected-error@+1 {{state_cotangent is [2, 1, 4], expected [2, 4] ([batch, channels])}}
  %0, %1 = hybrid.exponential_moving_average_grad %x, %a, %y, %dy state_cotangent(%s : tensor<2x1x4xf32>) : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
  return
}

// -----

// exponential_moving_average_grad C5: the result has the type of x.
func.func @grad_output(%x: tensor<2x8x4xf32>, %a: tensor<4xf32>, %y: tensor<2x7x4xf32>, %dy: tensor<2x8x4xf32>) {
  // expected-error@+1 {{output is [2, 7, 4], but x is [2, 8, 4]}}
  %0, %1 = hybrid.exponential_moving_average_grad %x, %a, %y, %dy : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x7x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
  return
}

// -----

// exponential_moving_average_grad C5: the cotangent has the type of x.
func.func @grad_cotangent(%x: tensor<2x8x4xf32>, %a: tensor<4xf32>, %y: tensor<2x8x4xf32>, %dy: tensor<2x8x1xf32>) {
  // expected-error@+1 {{cotangent is [2, 8, 1], but x is [2, 8, 4]}}
  %0, %1 = hybrid.exponential_moving_average_grad %x, %a, %y, %dy : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x1xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
  return
}
