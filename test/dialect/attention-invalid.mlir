// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// attention C1: q is a sequence.
func.func @rank(%q: tensor<8x16xf32>) {
  // expected-error@+1 {{q is [8, 16], expected [batch, length, heads * size] with heads = 4}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32>, tensor<4x8xf32>
  return
}

// -----

// attention C1: the heads share the channels evenly.
func.func @heads(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{q is [2, 8, 16], expected [batch, length, heads * size] with heads = 3}}
  %0:2 = hybrid.attention %q, %q, %q heads 3 kv_heads 3 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x3x8xf32>
  return
}

// -----

// attention C1: keys and values have the channels of their heads.
func.func @keys(%q: tensor<2x8x16xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{k is [2, 8, 16] and v is [2, 8, 8], but q is [2, 8, 16]: expected [batch, positions, 8] (kv_heads * head size)}}
  %0:2 = hybrid.attention %q, %q, %v heads 4 kv_heads 2 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C1: and q's batch.
func.func @batch(%q: tensor<2x8x16xf32>, %v: tensor<1x8x16xf32>) {
  // expected-error@+1 {{k is [2, 8, 16] and v is [1, 8, 16], but q is [2, 8, 16]: expected [batch, positions, 16] (kv_heads * head size)}}
  %0:2 = hybrid.attention %q, %q, %v heads 4 kv_heads 4 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<1x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C2: groups of heads are equal.
func.func @groups(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{kv_heads = 3 does not divide heads = 4}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 3 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C2: there is a head.
func.func @no_heads(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{kv_heads = 0 does not divide heads = 4}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 0 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C3: rotated dims come in pairs.
func.func @odd_rotation(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{rotary_dims = 3, expected an even number up to the head size 4}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 {rotary_dims = 3 : i64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C3: at most all of a head.
func.func @long_rotation(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{rotary_dims = 6, expected an even number up to the head size 4}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 {rotary_dims = 6 : i64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C4: segments are of queries and keys alike.
func.func @segment_keys(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %ids: tensor<2x8xi32>) {
  // expected-error@+1 {{segments need as many queries as keys, but there are 8 and 9}}
  %0:2 = hybrid.attention %q, %k, %k heads 4 kv_heads 4 segments(%ids : tensor<2x8xi32>) : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C4: a segment id for each position.
func.func @segments(%q: tensor<2x8x16xf32>, %ids: tensor<2x9xi32>) {
  // expected-error@+1 {{segments is [2, 9], but q is [2, 8, 16]: expected its batch and length}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 segments(%ids : tensor<2x9xi32>) : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C4: packed segments and a past exclude each other.
func.func @segments_past(%q: tensor<2x8x16xf32>, %ids: tensor<2x8xi32>) {
  // expected-error@+1 {{has segments and a past: packed segments do not carry a state}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 segments(%ids : tensor<2x8xi32>) past(%q, %q : tensor<2x8x16xf32>, tensor<2x8x16xf32>) : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C5: past keys need past values.
func.func @half_past(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{has past_k without past_v}}
  %0:2 = "hybrid.attention"(%q, %q, %q, %q) <{heads = 4 : i64, kv_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>}> ({}) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> (tensor<2x8x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

// attention C5: the past looks like the keys.
func.func @past(%q: tensor<2x8x16xf32>, %past: tensor<2x5x8xf32>) {
  // expected-error@+1 {{past_k is [2, 5, 8] and past_v is [2, 5, 8], but k is [2, 8, 16] and v is [2, 8, 16]: expected [batch, positions, 16] and [batch, positions, 16]}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 past(%past, %past : tensor<2x5x8xf32>, tensor<2x5x8xf32>) : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C6: a window counts positions.
func.func @window(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{window = -2, expected -1 (none) or a number of positions}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 {window = -2 : i64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention_grad C1.
func.func @grad_keys(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>, %k: tensor<2x8x8xf32>) {
  // expected-error@+1 {{k is [2, 8, 8] and v is [2, 8, 8], but q is [2, 8, 16]: expected [batch, positions, 16] (kv_heads * head size)}}
  %0:3 = hybrid.attention_grad %q, %k, %k, %q, %lse, %q heads 4 kv_heads 4 {causal = true, rotary_base = 1.0e4 : f64, rotary_dims = 0 : i64, rotary_interleaved = false, scale = 0.5 : f64, window = -1 : i64, xpos_base = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return
}

// -----

// attention_grad C2.
func.func @grad_groups(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{kv_heads = 3 does not divide heads = 4}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %q, %lse, %q heads 4 kv_heads 3 {causal = true, rotary_base = 1.0e4 : f64, rotary_dims = 0 : i64, rotary_interleaved = false, scale = 0.5 : f64, window = -1 : i64, xpos_base = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

// attention_grad C3.
func.func @grad_rotation(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{rotary_dims = 5, expected an even number up to the head size 4}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %q, %lse, %q heads 4 kv_heads 4 {causal = true, rotary_base = 1.0e4 : f64, rotary_dims = 5 : i64, rotary_interleaved = false, scale = 0.5 : f64, window = -1 : i64, xpos_base = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

// attention_grad C4.
func.func @grad_segments(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>, %ids: tensor<8x2xi32>) {
  // expected-error@+1 {{segments is [8, 2], but q is [2, 8, 16]: expected its batch and length}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %q, %lse, %q heads 4 kv_heads 4 segments(%ids : tensor<8x2xi32>) {causal = true, rotary_base = 1.0e4 : f64, rotary_dims = 0 : i64, rotary_interleaved = false, scale = 0.5 : f64, window = -1 : i64, xpos_base = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

// attention_grad C5: the output is as wide as the values of its heads.
func.func @grad_output(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>, %y: tensor<2x8x8xf32>) {
  // expected-error@+1 {{output is [2, 8, 8], expected [2, 8, 16] ([batch, length, heads * size])}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %y, %lse, %q heads 4 kv_heads 4 {causal = true, rotary_base = 1.0e4 : f64, rotary_dims = 0 : i64, rotary_interleaved = false, scale = 0.5 : f64, window = -1 : i64, xpos_base = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

// attention_grad C5: so is the cotangent.
func.func @grad_cotangent(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>, %dy: tensor<2x7x16xf32>) {
  // expected-error@+1 {{cotangent is [2, 7, 16], expected [2, 8, 16] ([batch, length, heads * size])}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %q, %lse, %dy heads 4 kv_heads 4 {causal = true, rotary_base = 1.0e4 : f64, rotary_dims = 0 : i64, rotary_interleaved = false, scale = 0.5 : f64, window = -1 : i64, xpos_base = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x7x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

// attention_grad C6: a denominator for each head and position.
func.func @grad_lse(%q: tensor<2x8x16xf32>, %z: tensor<2x8x4xf32>) {
  // expected-error@+1 {{lse is [2, 8, 4], expected [2, 4, 8] ([batch, heads, length])}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %q, %z, %q heads 4 kv_heads 4 {causal = true, rotary_base = 1.0e4 : f64, rotary_dims = 0 : i64, rotary_interleaved = false, scale = 0.5 : f64, window = -1 : i64, xpos_base = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x4xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

// attention C7: a base of frequencies.
func.func @rotary_base(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{rotary_base = 0, expected a number above 0}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 {rotary_base = 0.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C7: a base of scales.
func.func @xpos_base(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{xpos_base = -1, expected 0 (none) or a number above it}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 {xpos_base = -1.0 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C1: values have the channels of their heads.
func.func @values(%q: tensor<2x8x16xf32>, %v: tensor<2x8x7xf32>) {
  // expected-error@+1 {{v is [2, 8, 7], but q is [2, 8, 16]: expected [batch, positions, 16] (kv_heads * head size) for k, and for v as many positions of kv_heads * any size}}
  %0:2 = hybrid.attention %q, %q, %v heads 4 kv_heads 4 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x7xf32> -> tensor<2x8x7xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C8: terms are read by a score.
func.func @terms(%q: tensor<2x8x16xf32>, %g: tensor<2x1x4x8xf32>) {
  // expected-error@+1 {{has key_terms but no score to read them}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 key_terms(%g : tensor<2x1x4x8xf32>) : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return
}

// -----

// attention C8: terms have four dimensions.
func.func @terms_of_one_dimension(%q: tensor<2x8x16xf32>, %g: tensor<8xf32>) {
  // expected-error@+1 {{key_terms is [8], expected [batch, terms, heads, positions] = [2, 1, 4, 8] with 1 to 8 terms}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 key_terms(%g : tensor<8xf32>) : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>):
    hybrid.yield %s : tensor<f32>
  }
  return
}

// -----

// attention C8: terms of keys are those of all keys, the past's before.
func.func @terms_of_the_past(%q: tensor<2x8x16xf32>, %p: tensor<2x5x16xf32>, %g: tensor<2x1x4x8xf32>) {
  // expected-error@+1 {{key_terms is [2, 1, 4, 8], expected [batch, terms, heads, positions] = [2, 1, 4, 13] with 1 to 8 terms}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 past(%p, %p : tensor<2x5x16xf32>, tensor<2x5x16xf32>) key_terms(%g : tensor<2x1x4x8xf32>) : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>, %g0: tensor<f32>):
    %y = hybrid.binary add %s, %g0 : tensor<f32>, tensor<f32>
    hybrid.yield %y : tensor<f32>
  }
  return
}

// -----

// attention C9: a number for each argument.
func.func @arguments(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{operands are for a body of ('tensor<f32>', 'tensor<f32>', 'tensor<f32>', 'tensor<f32>'), but the body takes ('tensor<f32>')}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32> score {
  ^bb0(%s: tensor<f32>):
    hybrid.yield %s : tensor<f32>
  }
  return
}

// -----

// attention C9: elementwise ops only.
func.func @ops(%q: tensor<2x8x16xf32>) {
  // expected-error@+1 {{score holds 'hybrid.reshape', expected elementwise ops and constants only}}
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>):
    // expected-note@+1 {{the op is here}}
    %y = hybrid.reshape %s to [] : tensor<f32> -> tensor<f32>
    hybrid.yield %y : tensor<f32>
  }
  return
}

// -----

// attention_grad C8.
func.func @grad_terms(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>, %g: tensor<2x1x4x8xf32>) {
  // expected-error@+1 {{has query_terms but no score to read them}}
  %0:4 = hybrid.attention_grad %q, %q, %q, %q, %lse, %q heads 4 kv_heads 4 query_terms(%g : tensor<2x1x4x8xf32>) {causal = true, window = -1 : i64, rotary_dims = 0 : i64, rotary_base = 1.0e4 : f64, rotary_interleaved = false, xpos_base = 0.0 : f64, scale = 0.5 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x1x4x8xf32>
  return
}

// -----

// attention_grad C9.
func.func @grad_ops(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{score holds 'hybrid.reshape', expected elementwise ops and constants only}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %q, %lse, %q heads 4 kv_heads 4 {causal = true, window = -1 : i64, rotary_dims = 0 : i64, rotary_base = 1.0e4 : f64, rotary_interleaved = false, xpos_base = 0.0 : f64, scale = 0.5 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>):
    // expected-note@+1 {{the op is here}}
    %y = hybrid.reshape %s to [] : tensor<f32> -> tensor<f32>
    hybrid.yield %y : tensor<f32>
  }
  return
}

// -----

// attention_grad C10: a score has a gradient.
func.func @score_without_gradient(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{has score without score_gradient}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %q, %lse, %q heads 4 kv_heads 4 {causal = true, window = -1 : i64, rotary_dims = 0 : i64, rotary_base = 1.0e4 : f64, rotary_interleaved = false, xpos_base = 0.0 : f64, scale = 0.5 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>):
    hybrid.yield %s : tensor<f32>
  }
  return
}

// -----

// attention_grad C10: of the product and of each term.
func.func @score_gradient(%q: tensor<2x8x16xf32>, %lse: tensor<2x4x8xf32>) {
  // expected-error@+1 {{score_gradient takes 4 numbers and yields 1, expected 5 and 1}}
  %0:3 = hybrid.attention_grad %q, %q, %q, %q, %lse, %q heads 4 kv_heads 4 {causal = true, window = -1 : i64, rotary_dims = 0 : i64, rotary_base = 1.0e4 : f64, rotary_interleaved = false, xpos_base = 0.0 : f64, scale = 0.5 : f64} : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> score {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>):
    hybrid.yield %s : tensor<f32>
  } score_gradient {
  ^bb0(%s: tensor<f32>, %query: tensor<f32>, %key: tensor<f32>, %head: tensor<f32>):
    hybrid.yield %s : tensor<f32>
  }
  return
}
