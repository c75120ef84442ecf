// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{hybrid.published is "no", expected a list of terms}}
module attributes {hybrid.published = "no"} {}

// -----

// expected-error@+1 {{expected a list of terms {layer, method, term, coefficient, length, log_length}}}
module attributes {hybrid.published = [{layer = "a", method = "mad", term = "out", coefficient = 1 : i64, length = 1 : i64, log_length = 0 : i64}]} {}
