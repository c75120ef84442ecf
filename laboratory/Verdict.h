//===- Verdict.h - what a study allows to be said --------------------------------===//
//
// Who leads is said only where intervals do not overlap. The interval of a mean over tasks follows
// from the scatter between the seeds of each setting: 95 %, by Student's t with the degrees of
// freedom of Welch and Satterthwaite. With one seed nothing is known of the scatter, and published
// repetitions of one architecture differ by several points: 1.5 points to either side are assumed.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include <string>
#include <vector>

namespace hybrid::rt::lab {

inline constexpr double assumedHalfWidth = 0.015;

/// An architecture's overall accuracy, as the convention has it; one without a score is NaN.
struct Standing {
  size_t architecture = 0; // of Study::architectures
  double score = 0, halfWidth = 0;
  bool assumed = false; // halfWidth is no measurement
  double low() const { return score - halfWidth; }
  double high() const { return score + halfWidth; }
};

/// An option that is not what the suite and the convention say.
struct Override {
  std::string name, value, usual;
};

struct Verdict {
  std::string title, text;        // the headline; the sentences below it
  std::vector<Standing> standing; // the best first, those without a score last
  size_t tied = 0;                // so many of the first have intervals that overlap the first's
  std::vector<Override> overridden;
};

/// Half the width of a mean's 95 % interval, in standard errors.
double studentQuantile(double degreesOfFreedom);

Verdict verdictOf(const Study &study, const Scoreboard &board);

} // namespace hybrid::rt::lab
