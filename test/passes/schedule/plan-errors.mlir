// RUN: hybrid-opt %s --split-input-file --schedule-plan-arena --verify-diagnostics

schedule.program @forward {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  // expected-error@+1 {{has no kernel: emit kernels before the arena is planned}}
  schedule.fill for "pad" %x with 0.0 : memref<4x8xf32>
}

// -----

schedule.program @forward {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  // expected-error@+1 {{is on branch 3 of 3}}
  schedule.launch "a" for "a" grid 4 (%x : memref<4x8xf32>) {schedule.branch = 3 : i64}
}

// -----

schedule.program @forward {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  // expected-error@+1 {{is step 0 and waits for step 0, expected an earlier one}}
  schedule.launch "a" for "a" grid 4 (%x : memref<4x8xf32>) {schedule.after = array<i64: 0>}
}
