//===- ReportTest.cpp - the page of a study -----------------------------------===//
#include "laboratory/report/Report.h"
#include "test/unit/laboratory/report/Markup.h"
#include "test/unit/laboratory/report/StudyFixture.h"
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <regex>
#include <sstream>

using namespace hybrid::rt::lab;
using hybrid::rt::lab::test::makeStudy;
using hybrid::rt::lab::test::markupFault;

namespace {

using StudyRun = hybrid::rt::lab::Run; // a test has a Run of its own

std::string pageOf(const Study &study) { return reportText(study, scoreStudy(study)); }

/// A page that a browser reads as it was meant, with no number that is none.
std::string soundPage(const Study &study) {
  std::string text = pageOf(study);
  EXPECT_EQ(markupFault(text), "");
  EXPECT_EQ(test::badNumber(text), "");
  return text;
}

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void rename(Study &study, size_t architecture, const std::string &name) {
  for (StudyRun &run : study.runs)
    if (run.architecture == study.architectures[architecture].name)
      run.architecture = name;
  study.architectures[architecture].name = name;
}

TEST(Report, ShowsEverySection) {
  std::string text = soundPage(makeStudy());
  for (const char *id : {"verdict", "scores", "profile", "difficulty", "curves", "cost", "choices",
                         "architectures", "reproduce", "problems", "notes"})
    EXPECT_TRUE(has(text, std::string("<section id=\"") + id + "\"")) << id;
  EXPECT_TRUE(has(text, "hybrid-run mad models/mad/attention-swiglu.hyb"));
  EXPECT_TRUE(has(text, "out of memory: 12.4 GB are needed"));
  EXPECT_TRUE(has(text, "This study is not complete."));
  EXPECT_TRUE(has(text, "learning rate"));
  EXPECT_TRUE(has(text, "1 216 000"));
}

TEST(Report, LoadsNothing) {
  std::string text = pageOf(makeStudy());
  EXPECT_FALSE(has(text, "http:"));
  EXPECT_FALSE(has(text, "https:"));
  EXPECT_FALSE(has(text, "@import"));
  EXPECT_FALSE(has(text, "url("));
  EXPECT_TRUE(has(text, "default-src 'none'"));
}

TEST(Report, IsTheSameForEqualStudiesButForTimes) {
  Study first = makeStudy({.seed = 3, .architectures = 3}), second = first;
  EXPECT_EQ(pageOf(first), pageOf(second));
  for (StudyRun &run : second.runs)
    run.seconds = run.seconds * 7 + 1;
  EXPECT_NE(pageOf(first), pageOf(second));
  const std::regex times("<time[^>]*>[^<]*</time>");
  auto without = [&](const Study &study) { return std::regex_replace(pageOf(study), times, ""); };
  EXPECT_EQ(without(first), without(second));
}

TEST(Report, NamesAreTextWhateverTheyAre) {
  Study study = makeStudy({.architectures = 4});
  rename(study, 0, "</title></style></script><script>alert(1)</script>");
  rename(study, 1, "\" onmouseover='alert(1)' x=\"");
  rename(study, 2, "{{body}}{{script}}&amp;");
  rename(study, 3, std::string("\x00\x1b[31m\xff\xc0\xaf\xe2\x80\xae", 13));
  study.architectures[0].source = "</code></pre></details><script>alert(2)</script>";
  study.architectures[0].path = "<b>";
  study.architectures[1].settings["<i>"] = "<u>";
  study.command = "</code><script>alert(3)</script>";
  study.version = study.suite = study.convention = "<s>";
  study.options = {{"<q>", "<var>"}};
  for (StudyRun &run : study.runs) {
    run.task = run.task == "compression" ? "<em>\"'" : run.task;
    run.setting += "<kbd>";
    run.axis = run.axis == "vocab" ? "<sup>" : run.axis;
    if (!run.error.empty())
      run.error = "<img src=x onerror=alert(4)>";
  }
  std::string text = soundPage(study);
  for (const char *tag : {"<script>alert", "<b>\"", "<i>=", "<u>", "<s>", "<q>", "<var>", "<em>\"",
                          "<kbd>", "<sup>", "<img"})
    EXPECT_FALSE(has(text, tag)) << tag;
  EXPECT_TRUE(has(text, "{{body}}{{script}}&amp;amp;"));
  for (char c : text)
    EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
}

TEST(Report, OfNothingSaysSo) {
  EXPECT_TRUE(has(soundPage({}), "Nothing was studied"));
  Study study = makeStudy({.architectures = 2});
  study.runs.clear();
  EXPECT_TRUE(has(soundPage(study), "No score yet"));
}

TEST(Report, BeforeAnythingIsDone) {
  Study study = makeStudy({.architectures = 2});
  for (StudyRun &run : study.runs) {
    run.status = "pending";
    run.curve.clear();
    run.accuracy = run.madAccuracy = run.loss = run.seconds = 0;
    run.diverged = false;
  }
  std::string text = soundPage(study);
  EXPECT_TRUE(has(text, "No score yet"));
  EXPECT_TRUE(has(text, "This study is not complete."));
}

TEST(Report, OfOneArchitecture) {
  std::string text = soundPage(makeStudy({.architectures = 1, .failures = false}));
  EXPECT_TRUE(has(text, "<h1>attention-swiglu scores "));
  EXPECT_FALSE(has(text, "This study is not complete."));
}

TEST(Report, OfBaselinesHasNoAxesAndOneTable) {
  std::string text = soundPage(makeStudy({.sweeps = false, .failures = false}));
  EXPECT_FALSE(has(text, "id=\"difficulty\""));
  EXPECT_FALSE(has(text, "role=\"tablist\" aria"));
  EXPECT_TRUE(has(text, "Baseline setting of each task"));
}

TEST(Report, ScoresByWhatTheConventionSays) {
  Study study = makeStudy({.architectures = 2, .sweeps = false, .failures = false});
  for (StudyRun &run : study.runs) { // by micro the first is better, by macro the second
    bool first = run.architecture == study.architectures[0].name;
    run.accuracy = first ? 0.9 : 0.8;
    run.madAccuracy = first ? 0.3 : 0.4;
  }
  EXPECT_TRUE(has(soundPage(study), "<h1>attention-swiglu leads with 90.0 %"));
  study.convention = "mad-lab";
  EXPECT_TRUE(has(soundPage(study), "<h1>hyena-swiglu leads with 40.0 %"));
}

TEST(Report, BearsNumbersThatAreNone) {
  Study study = makeStudy({.architectures = 3});
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = INFINITY;
  for (size_t i = 0; i < study.runs.size(); ++i) {
    StudyRun &run = study.runs[i];
    double bad = i % 2 ? nan : infinity;
    run.accuracy = i % 3 ? run.accuracy : bad;
    run.madAccuracy = run.loss = run.seconds = run.chance = bad;
    run.axisValue = i % 5 ? run.axisValue : bad;
    run.flopsPerToken = bad;
    for (CurvePoint &point : run.curve)
      point.loss = point.accuracy = i % 4 ? point.accuracy : bad;
  }
  study.architectures[0].flopsPerToken = nan;
  soundPage(study);
}

TEST(Report, BearsHugeNamesAndManyArchitectures) {
  Study study = makeStudy({.architectures = 2, .sweeps = false});
  rename(study, 0, std::string(5000, 'W'));
  rename(study, 1, std::string(20000, '<'));
  std::string text = soundPage(study);
  EXPECT_TRUE(has(text, "<h1>WWWW"));
  EXPECT_FALSE(has(text, "<h1>" + std::string(100, 'W')));

  study = makeStudy({.architectures = 1, .sweeps = false});
  std::vector<StudyRun> runs = study.runs;
  for (size_t copy = 1; copy < 70; ++copy) { // more than there are styles
    Architecture each = study.architectures[0];
    each.name += std::to_string(copy);
    for (StudyRun run : runs) {
      run.id += static_cast<int64_t>(copy) * 1000;
      run.architecture = each.name;
      study.runs.push_back(run);
    }
    study.architectures.push_back(each);
  }
  soundPage(study);
}

TEST(Report, TellsTheScatterOfSeeds) {
  std::string text = soundPage(makeStudy({.architectures = 2, .sweeps = false, .seeds = 3}));
  EXPECT_TRUE(has(text, ">±<"));
  EXPECT_TRUE(has(text, "12345, 12346, 12347"));
}

TEST(Report, IsWrittenWholeOrNotAtAll) {
  auto folder = std::filesystem::temp_directory_path() / "hybrid-report-test";
  std::filesystem::remove_all(folder);
  Study study = makeStudy({.architectures = 1, .sweeps = false});
  std::string path = (folder / "report.html").string();
  auto written = writeReport(study, scoreStudy(study), path);
  ASSERT_FALSE(written);
  EXPECT_TRUE(has(written.error().message, path)) << written.error().message;
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(writeReport(study, scoreStudy(study), path));
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  EXPECT_EQ(content.str(), pageOf(study));
  std::filesystem::remove_all(folder);
}

} // namespace
