// RUN: hybrid-opt %s --hybrid-ensemble=replicas=4 --split-input-file --verify-diagnostics
// RUN: not hybrid-opt %S/ensemble.mlir --hybrid-ensemble=replicas=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not hybrid-opt %S/ensemble.mlir --hybrid-ensemble=replicas=1025 2>&1 | FileCheck %s --check-prefix=MANY
// NONE: an ensemble of 0 replicas, expected 1 to 1024
// MANY: an ensemble of 1025 replicas, expected 1 to 1024

// expected-error@+1 {{has no programs to make an ensemble of: schedule it first}}
module {
  func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}

// -----

// expected-error@+1 {{is an ensemble of 3 replicas already}}
module attributes {schedule.replicas = #schedule.replicas<3, arena 256, parameters 0, tile 0>} {
  schedule.program @forward arena 256 inputs [] outputs [] {
  }
}
