// RUN: hybrid-opt %s --split-input-file --hybrid-split-sequence=ranks=4 --verify-diagnostics

// The mean over positions is not that of a part.
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}) -> (tensor<2x8x4xf32> {hybrid.name = "logits"}) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %x = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  // expected-error @+1 {{the ranks cannot have parts of a sequence here: it needs all positions}}
  %m = hybrid.reduce mean %x over [1] {keep} : tensor<2x8x4xf32> -> tensor<2x1x4xf32>
  %y = hybrid.binary sub %x, %m : tensor<2x8x4xf32>, tensor<2x1x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// Heads are not cut.
func.func @forward(%x: tensor<2x8x12xf32> {hybrid.name = "x"}) -> (tensor<2x8x12xf32> {hybrid.name = "y"}) {
  // expected-error @+1 {{4 ranks have to share its 6 heads (of keys) or channels, expected ranks that divide them}}
  %y, %lse = hybrid.attention %x, %x, %x heads 6 kv_heads 6 : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x12xf32> -> tensor<2x8x12xf32>, tensor<2x6x8xf32>
  return %y : tensor<2x8x12xf32>
}

// -----

// expected-error @+1 {{4 ranks cannot have equal parts of a length of 10, expected one that they divide}}
func.func @forward(%x: tensor<2x10x4xf32> {hybrid.name = "x"}) -> (tensor<2x10x4xf32> {hybrid.name = "y"}) {
  return %x : tensor<2x10x4xf32>
}
