// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// softmax_scan C1: v is a sequence.
func.func @rank(%k: tensor<8x2xf32>, %v: tensor<8x4xf32>) {
  // expected-error@+1 {{v is [8, 4], expected [batch, length, channels]}}
  %0:2 = hybrid.softmax_scan %k, %v : tensor<8x2xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<8x2xf32>
  return
}

// -----

// softmax_scan_grad C1: v is a sequence.
func.func @grad_rank(%k: tensor<8x2xf32>, %v: tensor<8x4xf32>) {
  // expected-error@+1 {{v is [8, 4], expected [batch, length, channels]}}
  %0:2 = hybrid.softmax_scan_grad %k, %v, %v, %k, %v : tensor<8x2xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x4xf32> -> tensor<8x2xf32>, tensor<8x4xf32>
  return
}

// -----

// softmax_scan C2: keys divide the channels.
func.func @keys(%k: tensor<2x8x3xf32>, %v: tensor<2x8x4xf32>) {
  // expected-error@+1 {{k is [2, 8, 3], but v is [2, 8, 4]: expected [batch, length, keys], keys dividing the channels}}
  %0:2 = hybrid.softmax_scan %k, %v : tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x3xf32>
  return
}

// -----

// softmax_scan_grad C2: keys divide the channels.
func.func @grad_keys(%k: tensor<2x8x3xf32>, %v: tensor<2x8x4xf32>) {
  // expected-error@+1 {{k is [2, 8, 3], but v is [2, 8, 4]: expected [batch, length, keys], keys dividing the channels}}
  %0:2 = hybrid.softmax_scan_grad %k, %v, %v, %k, %v : tensor<2x8x3xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x3xf32>, tensor<2x8x4xf32>
  return
}

// -----

// softmax_scan C3: a bias for each lag and key.
func.func @taps(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{taps is [3, 4], but k is [2, 8, 2]: expected [lags, 2]}}
  %0:2 = hybrid.softmax_scan %k, %v taps(%u : tensor<3x4xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>
  return
}

// -----

// softmax_scan_grad C3: a bias for each lag and key.
func.func @grad_taps(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{taps is [3, 4], but k is [2, 8, 2]: expected [lags, 2]}}
  %0:3 = hybrid.softmax_scan_grad %k, %v, %v, %k, %v taps(%u : tensor<3x4xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<3x4xf32>
  return
}

// -----

// softmax_scan C4: a decay for each key.
func.func @decay(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{decay is [4], but k is [2, 8, 2]: expected [2]}}
  %0:2 = hybrid.softmax_scan %k, %v decay(%w : tensor<4xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>
  return
}

// -----

// softmax_scan_grad C4: a decay for each key.
func.func @grad_decay(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{decay is [4], but k is [2, 8, 2]: expected [2]}}
  %0:3 = hybrid.softmax_scan_grad %k, %v, %v, %k, %v decay(%w : tensor<4xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<4xf32>
  return
}

// -----

// softmax_scan C5: an id for each position.
func.func @segments(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but v is [2, 8, 4]: expected its batch and length}}
  %0:2 = hybrid.softmax_scan %k, %v segments(%ids : tensor<2x7xi32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>
  return
}

// -----

// softmax_scan_grad C5: an id for each position.
func.func @grad_segments(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but v is [2, 8, 4]: expected its batch and length}}
  %0:2 = hybrid.softmax_scan_grad %k, %v, %v, %k, %v segments(%ids : tensor<2x7xi32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>
  return
}

// -----

// softmax_scan C6: a row for each tap.
func.func @state(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %m: tensor<2x3x6xf32>) {
  // expected-error@+1 {{initial_state is [2, 3, 6], expected [2, 1, 6] ([batch, max(lags, 1), channels + keys])}}
  %0:2 = hybrid.softmax_scan %k, %v initial_state(%m : tensor<2x3x6xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>
  return
}

// -----

// softmax_scan_grad C6: a row for each tap.
func.func @grad_state(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %m: tensor<2x3x6xf32>) {
  // expected-error@+1 {{initial_state is [2, 3, 6], expected [2, 1, 6] ([batch, max(lags, 1), channels + keys])}}
  %0:3 = hybrid.softmax_scan_grad %k, %v, %v, %k, %v initial_state(%m : tensor<2x3x6xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x3x6xf32>
  return
}

// -----

// softmax_scan_grad C7: the output.
func.func @grad_output(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %y: tensor<2x7x4xf32>) {
  // expected-error@+1 {{output is [2, 7, 4], but v is [2, 8, 4]}}
  %0:2 = hybrid.softmax_scan_grad %k, %v, %y, %k, %v : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x7x4xf32>, tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>
  return
}

// -----

// softmax_scan_grad C7: the cotangent.
func.func @grad_cotangent(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %y: tensor<2x7x4xf32>) {
  // expected-error@+1 {{cotangent is [2, 7, 4], but v is [2, 8, 4]}}
  %0:2 = hybrid.softmax_scan_grad %k, %v, %v, %k, %y : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x7x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>
  return
}

// -----

// softmax_scan_grad C8: the denominators.
func.func @grad_lse(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>) {
  // expected-error@+1 {{lse is [2, 8, 4], but k is [2, 8, 2]}}
  %0:2 = hybrid.softmax_scan_grad %k, %v, %v, %v, %v : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>
  return
}

// -----

// softmax_scan_grad C9: the final state with its cotangent.
func.func @grad_final(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %m: tensor<2x1x6xf32>) {
  // expected-error@+1 {{has final_state without state_cotangent}}
  %0:2 = hybrid.softmax_scan_grad %k, %v, %v, %k, %v final_state(%m : tensor<2x1x6xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>
  return
}
