//===- VerdictTest.cpp - what a study allows to be said ---------------------------===//
#include "laboratory/Verdict.h"
#include "laboratory/Protocol.h"
#include "test/unit/laboratory/report/StudyFixture.h"
#include <gtest/gtest.h>

using namespace hybrid::rt::lab;
using hybrid::rt::lab::test::makeStudy;

namespace {

using StudyRun = hybrid::rt::lab::Run; // a test has a Run of its own

/// Two architectures on six baselines; the accuracy of a run by its architecture and seed.
template <typename Accuracy> Verdict verdictWith(int64_t seeds, Accuracy accuracy) {
  Study study = makeStudy({.architectures = 2, .sweeps = false, .seeds = seeds, .failures = false});
  for (StudyRun &run : study.runs)
    run.accuracy = accuracy(run.architecture == study.architectures[0].name, run.seed - 12345);
  return verdictOf(study, scoreStudy(study));
}

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Verdict, OfOneSeedASmallDistanceIsATie) {
  Verdict verdict = verdictWith(1, [](bool first, uint64_t) { return first ? 0.77 : 0.75; });
  EXPECT_EQ(verdict.title, "attention-swiglu and hyena-swiglu tie with 77.0 and 75.0 %");
  EXPECT_EQ(verdict.tied, 2u);
  EXPECT_TRUE(has(verdict.text, "1.5 points to either side are assumed")) << verdict.text;
  EXPECT_FALSE(has(verdict.title, "leads"));
}

TEST(Verdict, OfOneSeedALargeDistanceIsALead) {
  Verdict verdict = verdictWith(1, [](bool first, uint64_t) { return first ? 0.80 : 0.75; });
  EXPECT_EQ(verdict.title, "attention-swiglu leads with 80.0 %");
  EXPECT_EQ(verdict.tied, 1u);
  EXPECT_TRUE(has(verdict.text, "78.5 to 81.5 %")) << verdict.text;
}

TEST(Verdict, TheScatterOfSeedsDecides) {
  // Means 0.78 and 0.76. Six settings with a deviation of s give a mean with s/sqrt(18) for three
  // seeds and 12 degrees of freedom: half a width of 2.18 s/sqrt(18).
  auto spread = [](double s) {
    return [s](bool first, uint64_t seed) {
      return (first ? 0.78 : 0.76) + s * (static_cast<double>(seed) - 1);
    };
  };
  Verdict narrow = verdictWith(3, spread(0.01)), wide = verdictWith(3, spread(0.05));
  EXPECT_EQ(narrow.title, "attention-swiglu leads with 78.0 %");
  EXPECT_FALSE(narrow.standing[0].assumed);
  EXPECT_NEAR(narrow.standing[0].halfWidth, 2.179 * 0.01 / std::sqrt(18), 2e-5);
  EXPECT_TRUE(has(wide.title, "tie with 78.0 and 76.0 %")) << wide.title;
}

TEST(Verdict, QuantilesAreStudents) {
  EXPECT_NEAR(studentQuantile(1), 12.706, 1e-3);
  EXPECT_NEAR(studentQuantile(2.9), 4.303, 1e-3); // never narrower than it is
  EXPECT_NEAR(studentQuantile(12), 2.179, 2e-3);
  EXPECT_NEAR(studentQuantile(30), 2.042, 2e-3);
  EXPECT_NEAR(studentQuantile(1e6), 1.960, 1e-3);
}

TEST(Verdict, ThereIsNoneBeforeTheEnd) {
  Study study = makeStudy({.architectures = 2, .sweeps = false, .failures = false});
  study.runs.back().status = "pending";
  Verdict verdict = verdictOf(study, scoreStudy(study));
  EXPECT_TRUE(has(verdict.title, "No verdict: ")) << verdict.title;
  EXPECT_TRUE(has(verdict.text, "1 of 72 runs not done")) << verdict.text;
}

TEST(Verdict, ThereIsNoneOverOtherSettings) {
  Study study = makeStudy({.architectures = 2, .sweeps = false, .failures = false});
  for (StudyRun &run : study.runs)
    if (run.task == "compression" && run.architecture == study.architectures[1].name)
      run.status = "failed";
  EXPECT_TRUE(has(verdictOf(study, scoreStudy(study)).title, "No verdict: "));
}

TEST(Verdict, NamesWhatWasOverridden) {
  Study study = makeStudy({.architectures = 2, .sweeps = false, .failures = false});
  Protocol protocol = Protocol::named("baseline", hybrid::rt::Convention::Paper);
  study.protocol = protocol.toJson().dump();
  study.options = protocol.options();
  EXPECT_TRUE(verdictOf(study, scoreStudy(study)).overridden.empty());
  protocol.steps = 40;
  protocol.learningRates = {1e-3};
  study.protocol = protocol.toJson().dump();
  study.options = protocol.options();
  study.architectures[0].settings["width"] = "64";
  Verdict verdict = verdictOf(study, scoreStudy(study));
  ASSERT_EQ(verdict.overridden.size(), 3u);
  EXPECT_EQ(verdict.overridden[0].name, "learning rates");
  EXPECT_TRUE(has(verdict.text, "Not the baseline suite as it is: learning rates 0.001 (instead of "
                                "0.0001, 0.0005, 0.001); length 40 updates (instead of 200 "
                                "epochs); --set width 64 (instead of the model's own)."))
      << verdict.text;
}

TEST(Verdict, OfNothingSaysSo) {
  EXPECT_EQ(verdictOf({}, {}).title, "Nothing was studied");
  Study study = makeStudy({.architectures = 2});
  study.runs.clear();
  EXPECT_EQ(verdictOf(study, scoreStudy(study)).title, "No score yet");
}

} // namespace
