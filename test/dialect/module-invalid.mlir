// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{hybrid.published is "no", expected a list of terms}}
module attributes {hybrid.published = "no"} {}

// -----

// expected-error@+1 {{expected a list of terms {layer, method, term, coefficient, length, log_length}}}
module attributes {hybrid.published = [{layer = "a", method = "mad", term = "out", coefficient = 1 : i64, length = 1 : i64, log_length = 0 : i64}]} {}

// -----

// expected-error@+1 {{schedule.replicas is 3 : i64, expected #schedule.replicas<...> on a module}}
module attributes {schedule.replicas = 3 : i64} {}

// -----

// expected-error@+1 {{1 replicas, expected 2 to 1024}}
module attributes {schedule.replicas = #schedule.replicas<1, arena 0, parameters 0, tile 0>} {}

// -----

// expected-error@+1 {{replicas 100 bytes apart, expected a multiple of 256}}
module attributes {schedule.replicas = #schedule.replicas<2, arena 100, parameters 0, tile 0>} {}

// -----

// expected-error@+1 {{schedule.replicas places replicas of 512 bytes of the arena 256 bytes apart}}
module attributes {schedule.replicas = #schedule.replicas<2, arena 256, parameters 0, tile 0>} {
  schedule.program @forward arena 512 inputs [] outputs [] {
  }
}

// -----

// expected-error@+1 {{schedule.replicas places replicas of 300 bytes of parameters 256 bytes apart}}
module attributes {schedule.parameter_bytes = 300 : i64, schedule.replicas = #schedule.replicas<2, arena 0, parameters 256, tile 0>} {}
