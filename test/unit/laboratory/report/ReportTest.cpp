//===- ReportTest.cpp - a study as data and a page ---------------------------------===//
#include "laboratory/report/Report.h"
#include "laboratory/report/Page.h"
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
using hybrid::rt::lab::report::page;
using hybrid::rt::lab::test::makeStudy;
using hybrid::rt::lab::test::markupFault;
using json = nlohmann::ordered_json;

namespace {

using StudyRun = hybrid::rt::lab::Run; // a test has a Run of its own

json dataOf(const Study &study) { return studyJson(study, scoreStudy(study)); }

/// What a page of the study says of it, read back from a page that is sound.
json pageData(const Study &study) {
  const std::string text = page(dataOf(study));
  EXPECT_EQ(markupFault(text), "");
  const std::string_view begin = R"(<script type="application/json" id="data">)";
  const size_t from = text.find(begin) + begin.size(), to = text.find("</script>", from);
  return json::parse(text.substr(from, to - from));
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

TEST(Report, HoldsTheWholeStudy) {
  Study study = makeStudy();
  json data = pageData(study);
  EXPECT_EQ(data["kind"], "study");
  EXPECT_EQ(data["tasks"].size(), 6u);
  EXPECT_EQ(data["architectures"].size(), 10u);
  EXPECT_EQ(data["grid"].size(), 6u);
  size_t settings = 0;
  for (const auto &[name, task] : data["architectures"][3]["tasks"].items())
    settings += task["settings"].size();
  EXPECT_EQ(settings, 66u);
  const json &first = data["architectures"][0]["tasks"]["in-context-recall"]["settings"][0];
  EXPECT_EQ(first["title"], "baseline");
  EXPECT_EQ(first["curve"]["step"].size(), 100u);
  EXPECT_EQ(first["curve"]["step"].size(), first["curve"]["mad_accuracy"].size());
  Scoreboard board = scoreStudy(study);
  EXPECT_DOUBLE_EQ(data["architectures"][2]["accuracy"].get<double>(),
                   board.architectures[2].accuracy);
  EXPECT_EQ(data["architectures"][8]["cost"]["parameters"], 1216000);
  bool failed = false;
  for (const json &each : data["failures"])
    failed = failed || each["error"] == "out of memory: 12.4 GB are needed and 11.9 GB are free";
  EXPECT_TRUE(failed);
  EXPECT_GT(data["counts"]["open"], 0);
}

TEST(Report, LoadsNothing) {
  std::string text = page(dataOf(makeStudy()));
  EXPECT_TRUE(has(text, "default-src 'none'"));
  EXPECT_EQ(text.find("<script src"), std::string::npos);
  EXPECT_EQ(text.find("@import"), std::string::npos);
  EXPECT_TRUE(has(text, "'sha256-"));
  EXPECT_FALSE(has(text, "{{"));
}

TEST(Report, IsTheSameForEqualStudiesButForSeconds) {
  Study first = makeStudy({.seed = 3, .architectures = 3}), second = first;
  EXPECT_EQ(page(dataOf(first)), page(dataOf(second)));
  for (StudyRun &run : second.runs)
    run.seconds = run.seconds * 7 + 1;
  EXPECT_NE(dataOf(first).dump(), dataOf(second).dump());
  const std::regex seconds(R"("seconds":[^,}]*)");
  auto without = [&](const Study &study) {
    return std::regex_replace(dataOf(study).dump(), seconds, "");
  };
  EXPECT_EQ(without(first), without(second));
}

TEST(Report, NamesAreTextWhateverTheyAre) {
  Study study = makeStudy({.architectures = 4});
  rename(study, 0, "</title></style></script><script>alert(1)</script>");
  rename(study, 1, "\" onmouseover='alert(1)' x=\"");
  rename(study, 2, "{{data}}{{script}}&amp;");
  rename(study, 3, std::string("\x00\x1b[31m\xff\xc0\xaf\xe2\x80\xae", 13));
  study.architectures[0].source = "</code></pre></details><script>alert(2)</script>";
  study.command = "</code><!--<script>alert(3)</script>";
  const std::string text = page(dataOf(study));
  EXPECT_EQ(markupFault(text), "");
  EXPECT_FALSE(has(text, "<script>alert"));
  EXPECT_FALSE(has(text, "<!--"));
  json data = pageData(study);
  EXPECT_EQ(data["architectures"][0]["architecture"], study.architectures[0].name);
  EXPECT_EQ(data["architectures"][2]["architecture"], "{{data}}{{script}}&amp;");
  EXPECT_EQ(data["command"], study.command);
}

TEST(Report, BeforeAnythingIsDone) {
  Study study = makeStudy({.architectures = 2});
  for (StudyRun &run : study.runs) {
    run.status = "pending";
    run.curve.clear();
    run.accuracy = run.madAccuracy = run.loss = run.seconds = 0;
    run.diverged = false;
  }
  json data = pageData(study);
  EXPECT_EQ(data["title"], "No score yet");
  EXPECT_TRUE(data["verdict"]["standing"][0]["score"].is_null());
  EXPECT_EQ(data["counts"]["open"], data["counts"]["runs"]);
  EXPECT_EQ(pageData({})["title"], "Nothing was studied");
}

TEST(Report, TheHeadlineIsThereWithoutAScript) {
  Study study = makeStudy({.architectures = 1, .failures = false});
  EXPECT_TRUE(has(page(dataOf(study)), "<h1>attention-swiglu scores "));
}

TEST(Report, ScoresByWhatTheConventionSays) {
  Study study = makeStudy({.architectures = 2, .sweeps = false, .failures = false});
  for (StudyRun &run : study.runs) { // by micro the first is better, by macro the second
    bool first = run.architecture == study.architectures[0].name;
    run.accuracy = first ? 0.9 : 0.8;
    run.madAccuracy = first ? 0.3 : 0.4;
  }
  EXPECT_EQ(pageData(study)["title"], "attention-swiglu leads with 90.0 %");
  study.convention = "mad-lab";
  EXPECT_EQ(pageData(study)["title"], "hyena-swiglu leads with 40.0 %");
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
  pageData(study); // what cannot be said in JSON is null
}

TEST(Report, BearsHugeNames) {
  Study study = makeStudy({.architectures = 2, .sweeps = false});
  rename(study, 0, std::string(5000, 'W'));
  rename(study, 1, std::string(20000, '<'));
  const std::string title = pageData(study)["title"];
  EXPECT_TRUE(has(title, "WWWW"));
  EXPECT_FALSE(has(title, std::string(100, 'W')));
}

TEST(Report, TellsTheScatterOfSeeds) {
  json data = pageData(makeStudy({.architectures = 2, .sweeps = false, .seeds = 3}));
  EXPECT_EQ(data["seeds"], json::array({12345, 12346, 12347}));
  EXPECT_TRUE(
      data["architectures"][0]["tasks"]["compression"]["settings"][0]["deviation"].is_number());
}

TEST(Report, IsWrittenWholeOrNotAtAll) {
  auto folder = std::filesystem::temp_directory_path() / "hybrid-report-test";
  std::filesystem::remove_all(folder);
  Study study = makeStudy({.architectures = 1, .sweeps = false});
  auto written = writeReport(study, scoreStudy(study), folder.string());
  ASSERT_FALSE(written);
  EXPECT_TRUE(has(written.error().message, folder.string())) << written.error().message;
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(writeReport(study, scoreStudy(study), folder.string()));
  auto contentOf = [&](const char *name) {
    std::ifstream file(folder / name, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
  };
  EXPECT_EQ(contentOf("report.html"), page(dataOf(study)));
  EXPECT_EQ(json::parse(contentOf("study.json")), pageData(study));
  std::filesystem::remove_all(folder);
}

} // namespace
