// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// all_to_all C1: nobody to give a row to.
func.func @alone(%x: tensor<1x8xf32>) {
  // expected-error@+1 {{all_to_all: x is [1, 8], expected a row for each of at least 2 ranks}}
  %y = hybrid.all_to_all %x : tensor<1x8xf32>
  return
}

// -----

// rank_place C1: of several.
func.func @one() {
  // expected-error@+1 {{is of 1 ranks, expected at least 2}}
  %place = hybrid.rank_place of 1 : tensor<1xi32>
  return
}

// -----

// One number.
func.func @places() {
  // expected-error@+1 {{is 'tensor<4xi32>', expected tensor<1xi32>}}
  %place = hybrid.rank_place of 4 : tensor<4xi32>
  return
}

// -----

// send_state C1: to another.
func.func @send(%h: tensor<2xf32>) {
  // expected-error@+1 {{is of 0 ranks, expected at least 2}}
  hybrid.send_state %h to next of 0 : tensor<2xf32>
  return
}

// -----

// receive_state C1: from another.
func.func @receive() {
  // expected-error@+1 {{is of 1 ranks, expected at least 2}}
  %h = hybrid.receive_state from previous of 1 : tensor<2xf32>
  return
}
