// RUN: hybrid-opt %s --split-input-file --verify-diagnostics --hybrid-attach-loss

// Two inputs of one name could not be told apart.
// expected-error@+1 {{the model has an input called 'targets', which is the name of what logits are compared with: rename it}}
func.func @forward(%x: tensor<2x4xf32>, %t: tensor<2xi32> {hybrid.name = "targets"}) -> (tensor<2x4xf32> {hybrid.name = "logits"}) {
  return %x : tensor<2x4xf32>
}

// -----

// A declaration cannot be copied.
// expected-error@+1 {{@forward has 0 blocks, expected a body of one}}
func.func private @forward(tensor<2x4xf32>) -> (tensor<2x4xf32> {hybrid.name = "logits"})
