// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// cross_entropy C1: a target for each row of logits.
func.func @targets(%logits: tensor<2x8x16xf32>, %targets: tensor<2x7xi32>) {
  // expected-error@+1 {{targets are [2, 7], but logits are [2, 8, 16]: expected [2, 8]}}
  %0:3 = hybrid.cross_entropy %logits, %targets : tensor<2x8x16xf32>, tensor<2x7xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

// Targets are integers.
func.func @target_type(%logits: tensor<2x8x16xf32>, %targets: tensor<2x8xf32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 32-bit signless integer values, but got 'tensor<2x8xf32>'}}
  %0:3 = hybrid.cross_entropy %logits, %targets : tensor<2x8x16xf32>, tensor<2x8xf32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

// cross_entropy C1: logits have a dimension of classes.
func.func @scalar(%logits: tensor<f32>, %targets: tensor<i32>) {
  // expected-error@+1 {{logits are a scalar, expected [..., classes]}}
  %0:3 = hybrid.cross_entropy %logits, %targets : tensor<f32>, tensor<i32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

// cross_entropy C2: a weight for each target.
func.func @weights(%logits: tensor<2x8x16xf32>, %targets: tensor<2x8xi32>, %w: tensor<16xf32>) {
  // expected-error@+1 {{weights are [16], but targets are [2, 8]}}
  %0:3 = hybrid.cross_entropy %logits, %targets weights(%w : tensor<16xf32>) : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

// cross_entropy C3: smoothing is a share.
func.func @smoothing(%logits: tensor<2x8x16xf32>, %targets: tensor<2x8xi32>) {
  // expected-error@+1 {{label_smoothing = 1, expected a number from 0 to below 1}}
  %0:3 = hybrid.cross_entropy %logits, %targets {label_smoothing = 1.0 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

// cross_entropy_grad C1.
func.func @grad_targets(%logits: tensor<2x8x16xf32>, %targets: tensor<16xi32>, %s: tensor<f32>) {
  // expected-error@+1 {{targets are [16], but logits are [2, 8, 16]: expected [2, 8]}}
  %0 = hybrid.cross_entropy_grad %logits, %targets, %s, %s {ignore_index = -100 : i64, label_smoothing = 0.0 : f64} : tensor<2x8x16xf32>, tensor<16xi32>, tensor<f32>, tensor<f32> -> tensor<2x8x16xf32>
  return
}

// -----

// cross_entropy_grad C2.
func.func @grad_weights(%logits: tensor<2x8x16xf32>, %targets: tensor<2x8xi32>, %s: tensor<f32>, %w: tensor<2xf32>) {
  // expected-error@+1 {{weights are [2], but targets are [2, 8]}}
  %0 = hybrid.cross_entropy_grad %logits, %targets, %s, %s weights(%w : tensor<2xf32>) {ignore_index = -100 : i64, label_smoothing = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32>, tensor<f32>, tensor<f32> -> tensor<2x8x16xf32>
  return
}

// -----

// cross_entropy_grad C3.
func.func @grad_smoothing(%logits: tensor<2x8x16xf32>, %targets: tensor<2x8xi32>, %s: tensor<f32>) {
  // expected-error@+1 {{label_smoothing = -0.1, expected a number from 0 to below 1}}
  %0 = hybrid.cross_entropy_grad %logits, %targets, %s, %s {ignore_index = -100 : i64, label_smoothing = -0.1 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32>, tensor<f32>, tensor<f32> -> tensor<2x8x16xf32>
  return
}

// -----

// cross_entropy_grad C4: the cotangent of a scalar is a scalar.
func.func @grad_cotangent(%logits: tensor<2x8x16xf32>, %targets: tensor<2x8xi32>, %s: tensor<f32>, %d: tensor<2x8xf32>) {
  // expected-error@+1 {{cotangent is [2, 8], expected a scalar}}
  %0 = hybrid.cross_entropy_grad %logits, %targets, %s, %d {ignore_index = -100 : i64, label_smoothing = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32>, tensor<f32>, tensor<2x8xf32> -> tensor<2x8x16xf32>
  return
}

// -----

// adamw C1: eight hyperparameters.
func.func @hyper(%hyper: tensor<7xf64>) {
  // expected-error@+1 {{hyper is [7], expected [8]}}
  %0 = hybrid.adamw %hyper parameters ["w"] : tensor<7xf64> -> tensor<f32>
  return
}

// -----

// adamw C2: one norm.
func.func @norm(%hyper: tensor<8xf64>) {
  // expected-error@+1 {{gradient_norm is [1], expected a scalar}}
  %0 = hybrid.adamw %hyper parameters ["w"] : tensor<8xf64> -> tensor<1xf32>
  return
}

// -----

// target_weight C1: a weight for each target.
func.func @target_weight_weights(%t: tensor<2x8xi32>, %w: tensor<2x7xf32>) {
  // expected-error@+1 {{weights are [2, 7], but targets are [2, 8]}}
  %0 = hybrid.target_weight %t weights(%w : tensor<2x7xf32>) {ignore_index = 0 : i64} : tensor<2x8xi32> -> tensor<f32>
  return
}

// -----

// target_weight C2: one total.
func.func @target_weight_result(%t: tensor<2x8xi32>) {
  // expected-error@+1 {{gives [2], expected a scalar}}
  %0 = hybrid.target_weight %t {ignore_index = 0 : i64} : tensor<2x8xi32> -> tensor<2xf32>
  return
}

// -----

// cross_entropy C4: targets have 32 bits.
func.func @ignore_index(%logits: tensor<8x4xf32>, %targets: tensor<8xi32>) {
  // expected-error@+1 {{ignore_index = 4294967296, expected a 32-bit integer}}
  %0, %1, %2 = hybrid.cross_entropy %logits, %targets {ignore_index = 4294967296 : i64} : tensor<8x4xf32>, tensor<8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

// dropout C1: what is left out is a part.
func.func @dropout_rate(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{dropout: rate = 1, expected at least 0 and below 1}}
  %0 = hybrid.dropout %x rate 1.0 along [0] "d" : tensor<2x8x4xf32>
  return
}

// -----

// dropout C2: dimensions of x, ascending.
func.func @dropout_axes(%x: tensor<2x8x4xf32>) {
  // expected-error@+1 {{dropout: axes = [1, 0], but x is [2, 8, 4]: expected some of its dimensions, ascending}}
  %0 = hybrid.dropout %x rate 0.5 along [1, 0] "d" : tensor<2x8x4xf32>
  return
}
