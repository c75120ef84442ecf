//===- TrainingReportTest.cpp - the page of a single training ---------------------===//
#include "laboratory/report/TrainingReport.h"
#include "test/unit/laboratory/report/Markup.h"
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>

using namespace hybrid::rt;
using hybrid::rt::lab::test::badNumber;
using hybrid::rt::lab::test::markupFault;
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

std::string sound(const json &config, const std::vector<json> &metrics, const json &summary) {
  std::string text = trainingReportText(config, metrics, summary);
  EXPECT_EQ(markupFault(text), "");
  EXPECT_EQ(badNumber(text), "");
  return text;
}

TEST(TrainingReport, ShowsARun) {
  json summary = {{"steps", 200},
                  {"eval_loss", 0.25},
                  {"eval_accuracy", 0.912},
                  {"eval_mad_accuracy", 0.9},
                  {"train_seconds", 61.5}};
  std::string text = sound(configOf(), metricsOf(200), summary);
  EXPECT_TRUE(has(text, "<h1>striped-hyena-swiglu on compression: 91.2 %</h1>"));
  EXPECT_TRUE(has(text, "accuracy, %"));
  EXPECT_TRUE(has(text, "loss, nats"));
  EXPECT_TRUE(has(text, "norm of the gradient"));
  EXPECT_TRUE(has(text, "403 808"));
  EXPECT_TRUE(has(text, "--task compression"));
  EXPECT_TRUE(has(text, "a &lt; b"));
  EXPECT_TRUE(has(text, "1 min 2 s</time>"));
}

TEST(TrainingReport, SpeaksOfBytesWhereTheDataAre) {
  json summary = {
      {"steps", 200}, {"eval_loss", 1.0}, {"eval_accuracy", 0.5}, {"eval_bits_per_byte", 1.4427}};
  json config = configOf();
  config.erase("task");
  config["data"] = "text:bible.txt";
  std::string text = sound(config, metricsOf(100), summary);
  EXPECT_TRUE(has(text, "on text:bible.txt: 1.443 bits per byte"));
  EXPECT_FALSE(has(text, "loss, nats"));
}

TEST(TrainingReport, OfARunWithoutAnEnd) {
  EXPECT_TRUE(has(sound(configOf(), metricsOf(70), nullptr), "its last report is of step 70."));
  EXPECT_TRUE(has(sound(json::object(), {}, nullptr), "Training: not finished"));
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
  sound(config, metrics, {{"steps", nan}, {"eval_accuracy", "all"}, {"peak_bytes", 1e300}});
  sound(json::array(), {}, 5);
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
