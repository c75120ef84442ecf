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

// expected-error @+1 {{only a model whose one input is tokens [batch, length] can take a sequence in chunks}}
func.func @forward(%x: tensor<2x8x4xf32> {hybrid.name = "x"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  return %x : tensor<2x8x4xf32>
}
