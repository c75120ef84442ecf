// RUN: hybrid-opt %s --split-input-file --hybrid-carry-state=decode --verify-diagnostics

func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  // expected-error @+1 {{a sequence cannot be taken in chunks here: it needs all positions}}
  %m = hybrid.reduce mean %x over [1] {keep} : tensor<2x8x4xf32> -> tensor<2x1x4xf32>
  %y = hybrid.binary sub %x, %m : tensor<2x8x4xf32>, tensor<2x1x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// expected-error @+1 {{decoding needs a length of at least 2, the positions that it keeps}}
func.func @forward(%tokens: tensor<2x1xi32> {hybrid.name = "tokens"}) -> (tensor<2x1x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x1xi32> -> tensor<2x1x4xf32>
  return %x : tensor<2x1x4xf32>
}
