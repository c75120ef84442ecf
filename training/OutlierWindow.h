//===- OutlierWindow.h - how far a number is from those before it -------------------===//
#pragma once
#include <cstddef>
#include <vector>

namespace hybrid::rt {

/// The last 128 numbers of a run, as llm.c's outlier detector has them (llm.c/outlier_detector.h).
class OutlierWindow {
public:
  static constexpr size_t size = 128;

  /// How many standard deviations `value` is above the mean of the last `size` numbers, itself the
  /// last of them; 0 until there are so many, and where they are all alike.
  double add(double value);

  /// Oldest first; to go on from later.
  const std::vector<double> &values() const { return last; }
  void restore(std::vector<double> values);

private:
  std::vector<double> last;
};

} // namespace hybrid::rt
