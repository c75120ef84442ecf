//===- Figures.h - what the scores of examples add up to -------------------------===//
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt {

/// What one example adds to a figure: accuracy 1 of 1, a loss of 31.2 nats over 20 bytes.
struct Share {
  std::string figure;
  double part = 0, whole = 1;
};

/// Sum of the parts over sum of the wholes, over examples.
struct Figure {
  std::string name;
  double value = 0;
  /// Of a ratio of means: sqrt(n/(n-1) sum (part - value whole)^2) / sum whole (Cochran 1977,
  /// section 6.4); that of a mean where all wholes are 1. None of one example.
  std::optional<double> standardError;
  uint64_t examples = 0;
};

/// Figures in the order in which they first occur; `examples` are in theirs.
std::vector<Figure> figuresOf(const std::vector<std::vector<Share>> &examples);

/// Puts e to the power of a figure, under its own name, behind it: perplexity behind loss. The
/// standard error is that of first order.
void addExponential(std::vector<Figure> &figures, const std::string &of, const std::string &name);

} // namespace hybrid::rt
