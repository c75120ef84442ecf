//===- CompareTest.cpp - two studies side by side --------------------------------===//
#include "laboratory/Compare.h"
#include "laboratory/report/Report.h"
#include "test/unit/laboratory/report/StudyFixture.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <sstream>

using namespace hybrid::rt::lab;
using hybrid::rt::lab::test::makeStudy;

namespace {

using StudyRun = hybrid::rt::lab::Run; // a test has a Run of its own

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Study smallStudy(size_t architectures = 2) {
  return makeStudy({.architectures = architectures, .sweeps = false, .failures = false});
}

TEST(Compare, AStudyEqualsItself) {
  Study study = makeStudy({.architectures = 3, .failures = false});
  Comparison comparison = compare(study, study);
  EXPECT_TRUE(comparison.unlike.empty());
  EXPECT_TRUE(comparison.differences.empty());
  ASSERT_EQ(comparison.architectures.size(), 3u);
  Scoreboard board = scoreStudy(study);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(comparison.architectures[i].settings, 66);
    EXPECT_EQ(comparison.architectures[i].overall.difference(), 0);
    EXPECT_NEAR(comparison.architectures[i].overall.value[0], board.architectures[i].accuracy,
                1e-12);
  }
  std::string text = compareText(study, study);
  EXPECT_FALSE(has(text, "UNLIKE"));
  EXPECT_FALSE(has(text, "largest differences"));
}

TEST(Compare, FlagsWhatForbidsAComparison) {
  Study a = smallStudy(), b = a;
  b.convention = "mad-lab";
  b.suite = "smoke";
  b.options[0].second = "0.9, 0.999";
  b.options.push_back({"clip", "1"});
  b.architectures[1].source += "\n// another";
  std::string text = compareText(a, b);
  EXPECT_TRUE(has(text, "UNLIKE: The conventions are paper and mad-lab"));
  EXPECT_TRUE(has(text, "UNLIKE: The suites are baseline and smoke"));
  EXPECT_TRUE(has(text, "UNLIKE: The option betas is 0.9, 0.98 and 0.9, 0.999."));
  EXPECT_TRUE(has(text, "UNLIKE: Only the second has the option clip: 1."));
  EXPECT_TRUE(
      has(text, "UNLIKE: hyena-swiglu is not the same architecture in both: its text differs."));
  auto data = comparisonJson(a, b, "A", "B");
  EXPECT_EQ(data["unlike"].size(), 5u);
  EXPECT_EQ(data["unlike"][0], compare(a, b).unlike[0]);
}

TEST(Compare, TakesOnlyWhatBothHaveDone) {
  Study a = smallStudy(1), b = a;
  // The second lost its compression, and is better by five points at recall.
  std::erase_if(b.runs, [](const StudyRun &run) { return run.task == "compression"; });
  for (StudyRun &run : a.runs)
    run.accuracy = run.task == "compression" ? 0.1 : 0.5;
  for (StudyRun &run : b.runs)
    run.accuracy = run.task == "in-context-recall" ? 0.55 : 0.5;
  Comparison comparison = compare(a, b);
  const auto &row = comparison.architectures.at(0);
  EXPECT_EQ(row.settings, 5);
  EXPECT_NEAR(row.overall.value[0], 0.5, 1e-12);
  EXPECT_NEAR(row.overall.value[1], 0.51, 1e-12);
  ASSERT_EQ(comparison.differences.size(), 1u);
  EXPECT_TRUE(has(comparison.differences[0], "1 setting only in the first: compression:"));
  EXPECT_EQ(comparison.settings.front().task, "in-context-recall");
  EXPECT_TRUE(has(compareText(a, b), "+5.0   50.0 →  55.0  attention-swiglu"));
}

TEST(Compare, ShowsArchitecturesOfOneStudyAlone) {
  Study a = smallStudy(1), b = smallStudy(2);
  std::erase_if(b.architectures,
                [](const Architecture &each) { return each.name == "attention-swiglu"; });
  std::erase_if(b.runs, [](const StudyRun &run) { return run.architecture == "attention-swiglu"; });
  Comparison comparison = compare(a, b);
  ASSERT_EQ(comparison.architectures.size(), 2u);
  EXPECT_TRUE(std::isfinite(comparison.architectures[0].overall.value[0]));
  EXPECT_FALSE(std::isfinite(comparison.architectures[0].overall.value[1]));
  EXPECT_TRUE(std::isfinite(comparison.architectures[1].overall.value[1]));
  EXPECT_EQ(comparisonJson(a, b, "A", "B")["architectures"][0]["settings"], 0);
  EXPECT_FALSE(has(compareText(a, b), "B-A"));
}

TEST(Compare, LinesAreAsLongAsATerminal) {
  Study a = makeStudy({.architectures = 10}), b = makeStudy({.seed = 2, .architectures = 10});
  std::istringstream lines(compareText(a, b, "results/a", "results/b"));
  std::string line;
  int64_t rows = 0;
  while (std::getline(lines, line)) {
    if (has(line, "note: ") || has(line, "UNLIKE"))
      continue;
    ++rows;
    size_t width = static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
    EXPECT_LE(width, 110u) << line;
  }
  EXPECT_GT(rows, 40);
}

TEST(Compare, BearsHostileNamesAndNothing) {
  Study a = smallStudy(1), b = a;
  for (Study *study : {&a, &b}) {
    for (StudyRun &run : study->runs)
      run.architecture = "<script>\x1b[2J";
    study->architectures[0].name = "<script>\x1b[2J";
  }
  b.version = "<s>\x07";
  std::string text = compareText(a, b);
  for (char c : text)
    EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  EXPECT_TRUE(has(compareText({}, {}), "nothing to compare"));
  EXPECT_EQ(comparisonJson({}, {}, "", "")["title"], "A and B side by side");
  EXPECT_EQ(comparisonJson({}, a, "", "")["settings"].size(), 0u);
}

} // namespace
