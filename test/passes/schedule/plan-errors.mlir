// RUN: hybrid-opt %s --schedule-plan-arena --verify-diagnostics

schedule.program @forward {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  // expected-error@+1 {{has no kernel: emit kernels before the arena is planned}}
  schedule.fill for "pad" %x with 0.0 : memref<4x8xf32>
}
