//===- Points.h - trainings that a scaling law is fitted to -----------------------===//
//
// A table of trainings, made here or elsewhere: how many FLOPs each took, of what size the model
// was, how many tokens it saw and which loss it reached.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt::lab::scale {

struct Point {
  std::string group; // an architecture; empty where there is only one
  double flops = 0;  // of the training, forward and backward
  double params = 0;
  double tokens = 0;
  double loss = 0; // mean cross entropy, nats a token
};

/// Reads a table of comma-separated values (RFC 4180) whose first line names its columns: flops,
/// params, tokens, loss and, if there are several, group; others are passed over. Numbers are above
/// 0. An error says file, line and column.
Result<std::vector<Point>> readPoints(const std::string &path);
/// The same of a text; `name` is the file's in errors.
Result<std::vector<Point>> parsePoints(std::string_view text, const std::string &name);

/// The groups in the order in which they first appear.
std::vector<std::vector<Point>> byGroup(const std::vector<Point> &points);

} // namespace hybrid::rt::lab::scale
