//===- Comparison.cpp - two studies side by side as data and a page -----------------===//
#include "laboratory/Compare.h"
#include "laboratory/Names.h"
#include "laboratory/report/Page.h"
#include "laboratory/report/Report.h"
#include "runtime/files/AtomicFile.h"
#include <fmt/format.h>

namespace hybrid::rt::lab {
using json = nlohmann::ordered_json;
using report::page;

json comparisonJson(const Study &a, const Study &b, const std::string &first,
                    const std::string &second) {
  const Comparison comparison = compare(a, b);
  json studies = json::array(), tasks = json::array(), architectures = json::array(),
       settings = json::array();
  for (const Study *study : {&a, &b})
    studies.push_back({{"name", study == &a ? first : second},
                       {"convention", study->convention},
                       {"suite", study->suite},
                       {"version", study->version},
                       {"command", study->command}});
  for (const std::string &task : comparison.tasks)
    tasks.push_back({{"name", task}, {"title", taskTitle(task)}, {"word", taskWord(task)}});
  int64_t shared = 0, up = 0, down = 0;
  for (const ComparedArchitecture &row : comparison.architectures) {
    shared += row.settings > 0;
    json scores = json::array();
    for (const Both &task : row.tasks)
      scores.push_back(task.value);
    architectures.push_back({{"architecture", row.name},
                             {"settings", row.settings},
                             {"overall", row.overall.value},
                             {"tasks", std::move(scores)}});
  }
  for (const ComparedSetting &each : comparison.settings) {
    up += each.score.difference() >= 0.0005;
    down += each.score.difference() <= -0.0005;
    settings.push_back({{"architecture", each.architecture},
                        {"task", taskTitle(each.task)},
                        {"setting", each.setting},
                        {"title", each.title},
                        {"score", each.score.value}});
  }
  return {{"kind", "comparison"},
          {"title", "A and B side by side"},
          {"text", fmt::format("{} in both, over {} that both have done: B is better in {}, worse "
                               "in {}.",
                               counted(shared, "architecture"),
                               counted(static_cast<int64_t>(comparison.settings.size()), "setting"),
                               up, down)},
          {"measure", comparison.measure},
          {"studies", std::move(studies)},
          {"unlike", comparison.unlike},
          {"differences", comparison.differences},
          {"tasks", std::move(tasks)},
          {"architectures", std::move(architectures)},
          {"settings", std::move(settings)}};
}

Result<void> writeComparison(const Study &a, const Study &b, const std::string &path,
                             const std::string &first, const std::string &second) {
  return writeFileAtomically(path, page(comparisonJson(a, b, first, second)));
}

} // namespace hybrid::rt::lab
