//===- SearchFront.cpp - the front of a search as files and as a table --------------===//
#include "laboratory/search/SearchFront.h"
#include "laboratory/Columns.h"
#include "laboratory/IsoCheck.h"
#include "laboratory/report/Report.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/compile/Process.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt::lab {
namespace fs = std::filesystem;

std::string amount(double value, bool isTime) {
  if (isTime)
    return value < 120 ? fmt::format("{:.0f} s", value) : fmt::format("{:.1f} min", value / 60);
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < std::size(prefixes)) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{:.3g} {}FLOP", value, prefixes[prefix]);
}

std::string rungText(size_t rung, const HalvingOptions &halving) {
  const double share = rungLength(rung, halving);
  return share == 1 ? "all" : fmt::format("1/{:.0f}", 1 / share);
}

namespace {

/// "1-HA-16": what a file may be called.
std::string fileName(const Space &space, size_t place, uint64_t point) {
  std::string name = std::to_string(place);
  std::vector<size_t> options = space.optionsAt(point);
  for (size_t i = 0; i < options.size(); ++i) {
    const Choice &choice = space.choices[i];
    if (choice.options.size() < 2)
      continue;
    // A layer's name tells enough of it.
    const std::string &setting = choice.options[options[i]].setting;
    std::string word = setting.substr(0, setting.find(" with "));
    name += "-";
    for (char c : word)
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_')
        name += c;
  }
  return name.substr(0, 60) + ".hyb";
}

Result<std::string> modelText(const SearchPlan &plan, size_t index, const SearchOutcome &outcome) {
  const PointRecord &point = plan.points[index];
  std::string header = fmt::format("// Found by hybrid-run search in {}: {}.\n// ", plan.path,
                                   plan.space.nameOf(point.point));
  const auto &scores = outcome.halving.measured[index].scores;
  for (size_t rung = scores.size(); rung-- > 0;)
    if (scores[rung]) {
      header += fmt::format("Score {:.4f} on the {} suite ({}), trained for {} of its length; ",
                            *scores[rung], plan.protocol.suite, nameOf(plan.protocol.convention),
                            rungText(rung, plan.halving));
      break;
    }
  header += fmt::format("{} parameters, {:.0f} FLOPs a token, {}.\n", point.costs[0].parameters,
                        point.costs[0].flopsPerToken,
                        point.costs[0].countedState
                            ? fmt::format("a state of {}", point.costs[0].countedState->total())
                            : "a state that is not known");
  auto text = plan.space.fillIn(plan.source, point.point);
  if (!text)
    return text;
  return header + *text;
}

/// What the space uses from its own folder is not there in that of the front.
Result<void> checkCompiles(const SearchPlan &plan, const std::string &path,
                           const std::string &compiler) {
  std::vector<std::string> words{path, "--emit=hybrid", "-o", "/dev/null"};
  auto output = runForOutput(compiler, words);
  if (!output)
    return output.error();
  if (output->status != 0)
    say(stderr,
        "warning: {} does not compile where it is; move it beside {}, whose files it "
        "uses\n{}",
        path, plan.path, output->err);
  return {};
}

/// Points that failed: told, unless nothing else is left.
Result<void> tellFaults(const SearchPlan &plan, const SearchOutcome &outcome, bool quiet) {
  const bool none = outcome.halving.front.empty();
  auto faulty = std::find_if(outcome.errors.begin(), outcome.errors.end(),
                             [](const std::string &error) { return !error.empty(); });
  if (faulty == outcome.errors.end())
    return none ? Error{"no point was trained to a score within the budget"} : Result<void>();
  const auto index = static_cast<size_t>(faulty - outcome.errors.begin());
  const std::string first =
      fmt::format("{}: {}", plan.space.nameOf(plan.points[index].point), *faulty);
  if (none)
    return Error{"every point failed; " + first};
  const auto faults = static_cast<ptrdiff_t>(outcome.errors.size()) -
                      std::count(outcome.errors.begin(), outcome.errors.end(), std::string());
  if (!quiet)
    say(stderr, "{} points failed or diverged in a run; {}\n", faults, first);
  return {};
}

/// The best score first.
std::vector<size_t> sortedFront(const SearchOutcome &outcome) {
  auto scoreOf = [&](size_t index) {
    const auto &scores = outcome.halving.measured[index].scores;
    size_t rung = scores.size();
    while (rung > 0 && !scores[rung - 1])
      --rung;
    return rung > 0 ? *scores[rung - 1] : 0;
  };
  std::vector<size_t> front = outcome.halving.front;
  std::sort(front.begin(), front.end(), [&](size_t a, size_t b) {
    double left = scoreOf(a), right = scoreOf(b);
    return left != right ? left > right : a < b;
  });
  return front;
}

} // namespace

Result<FrontFiles> writeFront(const SearchPlan &plan, const SearchOutcome &outcome,
                              const std::string &compiler, bool quiet) {
  if (auto done = tellFaults(plan, outcome, quiet); !done)
    return done.error();
  FrontFiles files{sortedFront(outcome), {}, describeSearch(plan, outcome)};
  const std::string folder = plan.folder + "/front";
  std::error_code error;
  fs::remove_all(folder, error);
  if (auto done = makeFolder(folder); !done)
    return done.error();
  nlohmann::json members = nlohmann::json::array();
  for (size_t index : files.points) {
    const uint64_t point = plan.points[index].point;
    files.names.push_back(fileName(plan.space, files.names.size() + 1, point));
    const std::string path = folder + "/" + files.names.back();
    auto text = modelText(plan, index, outcome);
    if (!text)
      return text.error();
    if (auto done = writeFileAtomically(path, *text); !done)
      return done.error();
    members.push_back(
        {{"file", "front/" + files.names.back()}, {"name", plan.space.nameOf(point)}});
    if (auto done = checkCompiles(plan, path, compiler); !done)
      return done.error();
  }
  files.description["front"] = std::move(members);
  if (auto done =
          writeFileAtomically(plan.folder + "/search.json", jsonText(files.description) + "\n");
      !done)
    return done.error();
  if (auto done = writeReport(outcome.front, scoreStudy(outcome.front), plan.folder); !done)
    return done.error();
  return files;
}

void printFront(const SearchPlan &plan, const SearchOutcome &outcome, const FrontFiles &files) {
  const std::vector<size_t> &front = files.points;
  std::vector<std::vector<std::string>> rows{
      {"front/", "score", "length", "FLOPs/token", "state (MAD)", "parameters"}};
  if (!front.empty())
    for (const TaskScore &task : outcome.scores[front[0]].tasks)
      rows[0].push_back(task.task);
  for (size_t place = 0; place < front.size(); ++place) {
    size_t index = front[place];
    const PointCost &cost = plan.points[index].costs[0];
    const auto &scores = outcome.halving.measured[index].scores;
    size_t rung = scores.size() - 1;
    while (rung > 0 && !scores[rung])
      --rung;
    rows.push_back({files.names[place], fmt::format("{:.1f}", 100 * *scores[rung]),
                    rungText(rung, plan.halving), fmt::format("{:.0f}", cost.flopsPerToken),
                    stateText(cost.countedState), std::to_string(cost.parameters)});
    for (const TaskScore &task : outcome.scores[index].tasks)
      rows.back().push_back(
          fmt::format("{:.1f}", 100 * (plan.protocol.macro ? task.madAccuracy : task.accuracy)));
  }
  say("{}", alignColumns(rows, 0));
  bool isTime = plan.secondsPerFlop > 0;
  size_t trained = 0;
  for (const Measured &measured : outcome.halving.measured)
    trained += std::any_of(measured.scores.begin(), measured.scores.end(),
                           [](const auto &score) { return score.has_value(); });
  say("{} of {} points trained, {}{}\n{}\n", trained, plan.space.points,
      amount(outcome.halving.spent, isTime),
      std::isfinite(plan.halving.budget) ? " of " + amount(plan.halving.budget, isTime) : "",
      plan.folder);
}

} // namespace hybrid::rt::lab
