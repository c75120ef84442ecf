// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// delta_rule C1: sequences.
func.func @delta_rule_rank(%q: tensor<2x8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>) {
  // expected-error@+1 {{k is [8, 4], expected [batch, length, channels]}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C1: k as q.
func.func @delta_rule_keys(%q: tensor<2x8x4xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>) {
  // expected-error@+1 {{k is [2, 8, 6], but q is [2, 8, 4] with 1 steps: expected [2, 8, 4]}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 : tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C1: a for each step.
func.func @delta_rule_erase(%q: tensor<2x8x4xf32>, %k: tensor<2x8x8xf32>, %v: tensor<2x8x12xf32>, %a: tensor<2x8x4xf32>) {
  // expected-error@+1 {{a is [2, 8, 4], but q is [2, 8, 4] with 2 steps: expected [2, 8, 8]}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 {steps = 2} : tensor<2x8x4xf32>, tensor<2x8x8xf32>, tensor<2x8x12xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C1: b too.
func.func @delta_rule_b(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %b: tensor<2x8x6xf32>) {
  // expected-error@+1 {{b is [2, 8, 6], but q is [2, 8, 4] with 1 steps: expected [2, 8, 4]}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 b(%b : tensor<2x8x6xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C1: one length.
func.func @delta_rule_length(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x7x6xf32>, %a: tensor<2x8x4xf32>) {
  // expected-error@+1 {{v is [2, 7, 6], but q is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x7x6xf32>, tensor<2x8x4xf32> -> tensor<2x7x6xf32>
  return
}

// -----

// delta_rule C2: at least one head.
func.func @delta_rule_no_heads(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>) {
  // expected-error@+1 {{heads = 0, expected at least 1}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 0 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C2: heads of equal size.
func.func @delta_rule_heads(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>) {
  // expected-error@+1 {{heads = 3 does not divide the channels of q (4)}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 3 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C2: values of equal size.
func.func @delta_rule_values(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>) {
  // expected-error@+1 {{heads = 4 times steps = 1 does not divide the channels of v (6)}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 4 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C2: at least one step.
func.func @delta_rule_no_steps(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>) {
  // expected-error@+1 {{steps = 0, expected at least 1}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 {steps = 0} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C3: channels or heads.
func.func @delta_rule_decay(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %g: tensor<2x8x3xf32>) {
  // expected-error@+1 {{decay is [2, 8, 3], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels] or [batch, length, heads]}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 decay(%g : tensor<2x8x3xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C3: a sequence.
func.func @delta_rule_decay_rank(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{decay is [4], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels] or [batch, length, heads]}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 decay(%g : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C4: a segment id for each position.
func.func @delta_rule_segments(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but q is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 segments(%ids : tensor<2x7xi32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule C5: a state of each head.
func.func @delta_rule_state(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %s: tensor<2x2x3x2xf32>) {
  // expected-error@+1 {{initial_state is [2, 2, 3, 2], expected [2, 2, 2, 3] ([batch, heads, key size, value size])}}
  %0 = hybrid.delta_rule %q, %k, %v, %a heads 2 initial_state(%s : tensor<2x2x3x2xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x6xf32>
  return
}

// -----

// delta_rule_grad C1: sequences.
func.func @delta_rule_grad_rank(%q: tensor<2x8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{k is [8, 4], expected [batch, length, channels]}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C1: k as q.
func.func @delta_rule_grad_keys(%q: tensor<2x8x4xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{k is [2, 8, 6], but q is [2, 8, 4] with 1 steps: expected [2, 8, 4]}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 : tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C1: a for each step.
func.func @delta_rule_grad_erase(%q: tensor<2x8x4xf32>, %k: tensor<2x8x8xf32>, %v: tensor<2x8x12xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{a is [2, 8, 4], but q is [2, 8, 4] with 2 steps: expected [2, 8, 8]}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 {steps = 2} : tensor<2x8x4xf32>, tensor<2x8x8xf32>, tensor<2x8x12xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x8xf32>, tensor<2x8x12xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C1: b too.
func.func @delta_rule_grad_b(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>, %b: tensor<2x8x6xf32>) {
  // expected-error@+1 {{b is [2, 8, 6], but q is [2, 8, 4] with 1 steps: expected [2, 8, 4]}}
  %0:5 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 b(%b : tensor<2x8x6xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>
  return
}

// -----

// delta_rule_grad C1: one length.
func.func @delta_rule_grad_length(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x7x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{v is [2, 7, 6], but q is [2, 8, 4]: expected its batch and length}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x7x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x7x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C2: at least one head.
func.func @delta_rule_grad_no_heads(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{heads = 0, expected at least 1}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 0 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C2: heads of equal size.
func.func @delta_rule_grad_heads(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{heads = 3 does not divide the channels of q (4)}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 3 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C2: values of equal size.
func.func @delta_rule_grad_values(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{heads = 4 times steps = 1 does not divide the channels of v (6)}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 4 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C2: at least one step.
func.func @delta_rule_grad_no_steps(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>) {
  // expected-error@+1 {{steps = 0, expected at least 1}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 {steps = 0} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C3: channels or heads.
func.func @delta_rule_grad_decay(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>, %g: tensor<2x8x3xf32>) {
  // expected-error@+1 {{decay is [2, 8, 3], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels] or [batch, length, heads]}}
  %0:5 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 decay(%g : tensor<2x8x3xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x3xf32>
  return
}

// -----

// delta_rule_grad C3: a sequence.
func.func @delta_rule_grad_decay_rank(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{decay is [4], but q is [2, 8, 4] with 2 heads: expected [batch, length, channels] or [batch, length, heads]}}
  %0:5 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 decay(%g : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<4xf32>
  return
}

// -----

// delta_rule_grad C4: a segment id for each position.
func.func @delta_rule_grad_segments(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but q is [2, 8, 4]: expected its batch and length}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 segments(%ids : tensor<2x7xi32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C5: a state of each head.
func.func @delta_rule_grad_state(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>, %s: tensor<2x2x3x2xf32>) {
  // expected-error@+1 {{initial_state is [2, 2, 3, 2], expected [2, 2, 2, 3] ([batch, heads, key size, value size])}}
  %0:5 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 initial_state(%s : tensor<2x2x3x2xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x2x3x2xf32>
  return
}

// -----

// delta_rule_grad C5: its cotangent.
func.func @delta_rule_grad_state_cotangent(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x6xf32>, %s: tensor<2x2x3x2xf32>) {
  // expected-error@+1 {{state_cotangent is [2, 2, 3, 2], expected [2, 2, 2, 3] ([batch, heads, key size, value size])}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 state_cotangent(%s : tensor<2x2x3x2xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}

// -----

// delta_rule_grad C6: the cotangent of the result.
func.func @delta_rule_grad_cotangent(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x6xf32>, %a: tensor<2x8x4xf32>, %dy: tensor<2x8x4xf32>) {
  // expected-error@+1 {{cotangent is [2, 8, 4], expected [2, 8, 6], as the result}}
  %0:4 = hybrid.delta_rule_grad %q, %k, %v, %a, %dy heads 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32>
  return
}
