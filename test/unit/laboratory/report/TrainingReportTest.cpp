//===- TrainingReportTest.cpp - the page of a single training ---------------------===//
#include "laboratory/report/TrainingReport.h"
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>

using namespace hybrid::rt;
using nlohmann::json;

namespace {

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

json configOf() {
  return {{"model", "models/mad/striped-hyena-swiglu.hyb"},
          {"model_source", "model m() { /* a < b */ }"},
          {"command", "hybrid-run train models/mad/striped-hyena-swiglu.hyb --task compression"},
          {"task", "compression:vocab=16,length=32"},
          {"parameters", 403808},
          {"batch", 128},
          {"lr", 5e-4},
          {"seed", 7},
          {"runtime", "hybrid-run 0.1.0"}};
}

std::vector<json> metricsOf(int steps) {
  std::vector<json> metrics;
  for (int step = 10; step <= steps; step += 10) {
    metrics.push_back({{"step", step},
                       {"split", "train"},
                       {"loss", 2.0 / step},
                       {"accuracy", 0.5},
                       {"lr", 5e-4},
                       {"grad_norm", 1.5},
                       {"seconds", step}});
    if (step % 50 == 0)
      metrics.push_back({{"step", step},
                         {"split", "eval"},
                         {"loss", 3.0 / step},
                         {"accuracy", 0.4},
                         {"mad_accuracy", 0.3},
                         {"examples", 256},
                         {"seconds", step}});
  }
  return metrics;
}

TEST(TrainingReport, ShowsARun) {
  json summary = {{"steps", 200},
                  {"eval_loss", 0.25},
                  {"eval_accuracy", 0.912},
                  {"eval_mad_accuracy", 0.9},
                  {"train_seconds", 61.5}};
  auto data = trainingJson(configOf(), metricsOf(200), summary);
  EXPECT_EQ(data["title"], "striped-hyena-swiglu on compression: 91.2 %");
  EXPECT_EQ(data["text"],
            "After 200 steps the evaluation gives an accuracy of 91.2 % and a loss of "
            "0.2500 nats (macro accuracy, as MAD has it: 90.0 %).");
  EXPECT_EQ(data["train"]["step"].size(), 20u);
  EXPECT_EQ(data["train"]["grad_norm"][3], 1.5);
  EXPECT_EQ(data["eval"]["accuracy"], json::array({0.4, 0.4, 0.4, 0.4}));
  EXPECT_EQ(data["config"]["model_source"], "model m() { /* a < b */ }");
  EXPECT_FALSE(data["train"].contains("bits_per_byte"));
}

TEST(TrainingReport, SpeaksOfBytesWhereTheDataAre) {
  json summary = {
      {"steps", 200}, {"eval_loss", 1.0}, {"eval_accuracy", 0.5}, {"eval_bits_per_byte", 1.4427}};
  json config = configOf();
  config.erase("task");
  config["data"] = "text:bible.txt";
  EXPECT_EQ(trainingJson(config, metricsOf(100), summary)["title"],
            "striped-hyena-swiglu on text:bible.txt: 1.443 bits per byte");
}

TEST(TrainingReport, OfARunWithoutAnEnd) {
  EXPECT_EQ(trainingJson(configOf(), metricsOf(70), nullptr)["text"],
            "The run has not come to its end; its last report is of step 70.");
  EXPECT_EQ(trainingJson(json::object(), {}, nullptr)["title"], "Training: not finished");
}

TEST(TrainingReport, KeepsTheEndsOfALongRun) {
  auto data = trainingJson(configOf(), metricsOf(100000), nullptr);
  const auto &steps = data["train"]["step"];
  EXPECT_LE(steps.size(), 2001u);
  EXPECT_EQ(steps.front(), 10);
  EXPECT_EQ(steps.back(), 100000);
  EXPECT_EQ(data["train"]["loss"].size(), steps.size());
}

TEST(TrainingReport, BearsWhatIsNotAsExpected) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<json> metrics = metricsOf(30);
  metrics.push_back({{"step", "ten"}, {"split", 3}, {"loss", nullptr}});
  metrics.push_back({{"step", nan}, {"split", "eval"}, {"loss", nan}});
  metrics.push_back({{"step", 40}, {"split", "eval"}, {"loss", INFINITY}, {"accuracy", nan}});
  metrics.push_back(json::array({1, 2}));
  json config = {{"model", 3},
                 {"task", nullptr},
                 {"lr", "fast"},
                 {"</code><script>", "<script>"},
                 {"command", json::array()}};
  auto data = trainingJson(config, metrics,
                           {{"steps", nan}, {"eval_accuracy", "all"}, {"peak_bytes", 1e300}});
  EXPECT_EQ(data["eval"]["step"], json::array({40}));
  EXPECT_EQ(trainingJson(json::array(), {}, 5)["title"], "Training: not finished");
}

TEST(TrainingReport, IsWrittenIntoTheFolder) {
  auto folder = std::filesystem::temp_directory_path() / "hybrid-training-report-test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  auto missing = writeTrainingReport(folder.string());
  ASSERT_FALSE(missing);
  EXPECT_TRUE(has(missing.error().message, "config.json"));
  std::ofstream(folder / "config.json") << configOf().dump();
  std::ofstream metrics(folder / "metrics.jsonl");
  for (const json &line : metricsOf(50))
    metrics << line.dump() << "\n";
  metrics << "{\"step\":60,\"spl"; // cut short
  metrics.close();
  ASSERT_TRUE(writeTrainingReport(folder.string()));
  std::ifstream file(folder / "report.html", std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  EXPECT_TRUE(has(content.str(), "its last report is of step 50."));
  std::filesystem::remove_all(folder);
}

} // namespace
