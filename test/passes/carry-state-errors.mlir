// RUN: hybrid-opt %s --split-input-file --hybrid-carry-state --verify-diagnostics

// A long convolution needs all of the sequence before.
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %filter = hybrid.parameter "filter" : tensor<8x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  // expected-error @+1 {{a sequence cannot be taken in chunks here: the state of 'hybrid.fftconv' grows with the sequence}}
  %y = hybrid.fftconv %x, %filter : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// The mean over positions is not that of a chunk.
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  // expected-error @+1 {{chunks here: it needs all positions}}
  %m = hybrid.reduce mean %x over [1] {keep} : tensor<2x8x4xf32> -> tensor<2x1x4xf32>
  %y = hybrid.binary sub %x, %m : tensor<2x8x4xf32>, tensor<2x1x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// Learned positions are those of the first chunk.
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %positions = hybrid.parameter "positions" : tensor<8x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  // expected-error @+1 {{chunks here: a value differs from position to position of the chunk}}
  %y = hybrid.binary add %x, %positions : tensor<2x8x4xf32>, tensor<8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  // expected-error @+1 {{chunks here: it cuts, joins or shifts along the sequence}}
  %y = hybrid.reverse %x along 1 : tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  // expected-error @+1 {{chunks here: it mixes the sequence with another dimension}}
  %r = hybrid.reshape %x to [16, 4] : tensor<2x8x4xf32> -> tensor<16x4xf32>
  %y = hybrid.parameter "y" : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// In chunks of one position a table of positions has one row, and it is still that of the first.
func.func @forward(%tokens: tensor<2x1xi32> {hybrid.name = "tokens"}) -> (tensor<2x1x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %positions = hybrid.parameter "positions" : tensor<8x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x1xi32> -> tensor<2x1x4xf32>
  %first = hybrid.slice %positions from [0, 0] size [1, 4] : tensor<8x4xf32> -> tensor<1x4xf32>
  // expected-error @+1 {{chunks here: a value differs from position to position of the chunk}}
  %y = hybrid.binary add %x, %first : tensor<2x1x4xf32>, tensor<1x4xf32>
  return %y : tensor<2x1x4xf32>
}

// -----

// Attention over a window that also looks ahead.
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  // expected-error @+1 {{chunks here: each position sees all, the later ones too}}
  %y, %lse = hybrid.attention %x, %x, %x heads 2 kv_heads 2 {causal = false, window = 3 : i64} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x2x8xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// Positions that share an expert's capacity.
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %i = hybrid.top_k %x of 2 : tensor<2x8x4xf32> -> tensor<2x8x2xi32>
  %w = hybrid.take %x at %i : tensor<2x8x4xf32>, tensor<2x8x2xi32> -> tensor<2x8x2xf32>
  // expected-error @+1 {{chunks here: positions share the capacity of an expert}}
  %y = hybrid.routed_experts %x to %i weighted %w among 3 {capacity_factor = 1.0 : f64} : tensor<2x8x4xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x4xf32> {
  ^bb0(%e: tensor<2x8x4xf32>):
    hybrid.yield %e : tensor<2x8x4xf32>
  }
  return %y : tensor<2x8x4xf32>
}

// -----

// expected-error @+1 {{only a model whose one input is tokens [batch, length] can take a sequence in chunks}}
func.func @forward(%x: tensor<2x8x4xf32> {hybrid.name = "x"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  return %x : tensor<2x8x4xf32>
}
