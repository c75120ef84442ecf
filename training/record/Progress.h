//===- Progress.h - how a run is going, for the person watching --------------===//
//
// On a terminal one line that rewrites itself; otherwise a line a report. Always on standard error.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <string>

namespace hybrid::rt {

struct ProgressReport {
  int64_t step = 0, steps = 0; // steps 0: not known
  double loss = 0, accuracy = 0, tokensPerSecond = 0, secondsLeft = -1;
};

class Progress {
public:
  explicit Progress(bool quiet);
  ~Progress();
  /// A new state of affairs.
  void update(const ProgressReport &report);
  /// A line that stays: an evaluation, a warning, a checkpoint.
  void note(const std::string &text);

private:
  void clear();
  bool quiet, terminal, colour, drawn = false;
};

/// The text of a report, at most `width` columns; exposed for its test.
std::string progressLine(const ProgressReport &report, int width);
/// "1:02:03", "4:05"
std::string clockText(double seconds);

} // namespace hybrid::rt
