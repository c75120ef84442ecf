// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// linear_scan C1: sequences.
func.func @linear_scan_rank(%q: tensor<8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error@+1 {{q is [8, 4], expected [batch, length, channels]}}
  %0 = hybrid.linear_scan %q, %k, %v heads 2 : tensor<8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan C1: q and k alike.
func.func @linear_scan_keys(%q: tensor<2x8x4xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error@+1 {{k is [2, 8, 6], but q is [2, 8, 4]}}
  %0 = hybrid.linear_scan %q, %k, %v heads 2 : tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan C1: one length.
func.func @linear_scan_length(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x7x6xf32>) {
  // expected-error@+1 {{v is [2, 7, 6], but q is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.linear_scan %q, %k, %v heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x7x6xf32> -> tensor<2x7x6xf32>
  return
}

// -----

// linear_scan C2: heads of equal size.
func.func @linear_scan_heads(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error@+1 {{heads = 4 does not divide the channels of q (4) and v (6)}}
  %0 = hybrid.linear_scan %q, %k, %v heads 4 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan C2: at least one head.
func.func @linear_scan_no_heads(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>) {
  // expected-error@+1 {{heads = 0, expected at least 1}}
  %0 = hybrid.linear_scan %q, %k, %v heads 0 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan C3: channels or heads.
func.func @linear_scan_decay(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %g: tensor<2x8x3xf32>) {
  // expected-error@+1 {{decay is [2, 8, 3], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels], [batch, length, heads], [channels] or [heads]}}
  %0 = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2x8x3xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan C3: its times.
func.func @linear_scan_decay_length(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %g: tensor<2x7x4xf32>) {
  // expected-error@+1 {{decay is [2, 7, 4], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels], [batch, length, heads], [channels] or [heads]}}
  %0 = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<2x7x4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan C3: a vector or a sequence.
func.func @linear_scan_decay_rank(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %g: tensor<8x4xf32>) {
  // expected-error@+1 {{decay is [8, 4], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels], [batch, length, heads], [channels] or [heads]}}
  %0 = hybrid.linear_scan %q, %k, %v heads 2 decay(%g : tensor<8x4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan C4: a segment id for each position.
func.func @linear_scan_segments(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but q is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.linear_scan %q, %k, %v heads 2 segments(%ids : tensor<2x7xi32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan C5: a state of each head.
func.func @linear_scan_state(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %s: tensor<2x2x3x2xf32>) {
  // expected-error@+1 {{initial_state is [2, 2, 3, 2], expected [2, 2, 2, 3] ([batch, heads, key size, value size])}}
  %0 = hybrid.linear_scan %q, %k, %v heads 2 initial_state(%s : tensor<2x2x3x2xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// linear_scan_grad C1: sequences.
func.func @linear_scan_grad_rank(%q: tensor<8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{q is [8, 4], expected [batch, length, channels]}}
  %0:3 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 : tensor<8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
  return
}

// -----

// linear_scan_grad C1: q and k alike.
func.func @linear_scan_grad_keys(%q: tensor<2x8x4xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{k is [2, 8, 6], but q is [2, 8, 4]}}
  %0:3 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 : tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>
  return
}

// -----

// linear_scan_grad C1: one length.
func.func @linear_scan_grad_length(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x7x6xf32>, %dy: tensor<2x7x6xf32>) {
  // expected-error@+1 {{v is [2, 7, 6], but q is [2, 8, 4]: expected its batch and length}}
  %0:3 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x7x6xf32>, tensor<2x7x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x7x6xf32>
  return
}

// -----

// linear_scan_grad C2: heads of equal size.
func.func @linear_scan_grad_heads(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{heads = 4 does not divide the channels of q (4) and v (6)}}
  %0:3 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 4 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
  return
}

// -----

// linear_scan_grad C2: at least one head.
func.func @linear_scan_grad_no_heads(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{heads = 0, expected at least 1}}
  %0:3 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 0 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
  return
}

// -----

// linear_scan_grad C3: channels or heads.
func.func @linear_scan_grad_decay(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>, %g: tensor<2x8x3xf32>) {
  // expected-error@+1 {{decay is [2, 8, 3], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels], [batch, length, heads], [channels] or [heads]}}
  %0:4 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 decay(%g : tensor<2x8x3xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x3xf32>
  return
}

// -----

// linear_scan_grad C3: its times.
func.func @linear_scan_grad_decay_length(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>, %g: tensor<2x7x4xf32>) {
  // expected-error@+1 {{decay is [2, 7, 4], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels], [batch, length, heads], [channels] or [heads]}}
  %0:4 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 decay(%g : tensor<2x7x4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x7x4xf32>
  return
}

// -----

// linear_scan_grad C3: a vector or a sequence.
func.func @linear_scan_grad_decay_rank(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>, %g: tensor<8x4xf32>) {
  // expected-error@+1 {{decay is [8, 4], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels], [batch, length, heads], [channels] or [heads]}}
  %0:4 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 decay(%g : tensor<8x4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<8x4xf32>
  return
}

// -----

// linear_scan_grad C4: a segment id for each position.
func.func @linear_scan_grad_segments(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but q is [2, 8, 4]: expected its batch and length}}
  %0:3 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 segments(%ids : tensor<2x7xi32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
  return
}

// -----

// linear_scan_grad C5: a state of each head.
func.func @linear_scan_grad_state(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>, %s: tensor<2x2x3x2xf32>) {
  // expected-error@+1 {{initial_state is [2, 2, 3, 2], expected [2, 2, 2, 3] ([batch, heads, key size, value size])}}
  %0:4 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 initial_state(%s : tensor<2x2x3x2xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x2x3x2xf32>
  return
}

// -----

// linear_scan_grad C5: its cotangent.
func.func @linear_scan_grad_state_cotangent(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x6xf32>, %s: tensor<2x2x3x2xf32>) {
  // expected-error@+1 {{state_cotangent is [2, 2, 3, 2], expected [2, 2, 2, 3] ([batch, heads, key size, value size])}}
  %0:3 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 state_cotangent(%s : tensor<2x2x3x2xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
  return
}

// -----

// linear_scan_grad C6: the cotangent of the result.
func.func @linear_scan_grad_cotangent(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %dy: tensor<2x8x4xf32>) {
  // expected-error@+1 {{cotangent is [2, 8, 4], but v is [2, 8, 6]}}
  %0:3 = hybrid.linear_scan_grad %q, %k, %v, %dy heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
  return
}
