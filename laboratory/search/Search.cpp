//===- Search.cpp - a search, rung by rung as studies -------------------------===//
#include "laboratory/search/Search.h"
#include "laboratory/database/RunStore.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace hybrid::rt::lab {
namespace {

double flopsOfRun(const PointCost &cost, const Protocol &protocol, const Setting &setting,
                  int64_t steps, int64_t evaluations) {
  auto tokens = static_cast<double>(setting.positions);
  return static_cast<double>(steps * protocol.batch) * tokens * cost.trainingFlopsPerToken +
         static_cast<double>(evaluations) * static_cast<double>(protocol.testExamples) * tokens *
             cost.flopsPerToken;
}

int64_t evaluationsOf(const Protocol &protocol, const Setting &setting, int64_t steps) {
  int64_t every = protocol.evalEveryOf(setting);
  return (steps + every - 1) / every + 1;
}

/// Seconds that rungs took, in a file of the search: what was broken off is in no database.
class Clock {
public:
  Clock(std::string folder, std::string rung)
      : path(folder + "/times.json"), rung(std::move(rung)) {
    if (auto text = readText(path))
      times = parseJsonOrNull(*text);
    if (!times.is_object())
      times = nlohmann::json::object();
    before = jsonField<double>(times, this->rung).value_or(0.0);
  }
  double seconds() const {
    std::chrono::duration<double> now = std::chrono::steady_clock::now() - start;
    return before + now.count();
  }
  double secondsBefore() const { return before; }
  Result<void> save() {
    times[rung] = seconds();
    return writeFileAtomically(path, jsonText(times) + "\n");
  }

private:
  std::string path, rung;
  nlohmann::json times;
  double before = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

class Searcher {
public:
  Searcher(const SearchPlan &plan, const SearchTools &tools) : plan(plan), tools(tools) {
    outcome.scores.resize(plan.points.size());
    outcome.errors.resize(plan.points.size());
    reached.resize(plan.points.size());
  }

  Result<SearchOutcome> run() {
    auto halving = halve(candidatesOf(plan), plan.halving, [this](const Rung &rung) {
      auto evaluations = train(rung);
      if (evaluations && tools.done)
        tools.done({rung, *evaluations, {}});
      return evaluations;
    });
    if (!halving)
      return halving.error();
    outcome.halving = std::move(*halving);
    if (auto done = collectFront(); !done)
      return done.error();
    return std::move(outcome);
  }

private:
  static std::string databaseOf(const Rung &rung) {
    return rung.finishing ? "front.db" : fmt::format("rung-{}.db", rung.rung + 1);
  }

  Study studyOf(const Rung &rung, const Protocol &protocol) const {
    Study study;
    study.convention = nameOf(protocol.convention);
    study.suite = protocol.suite;
    study.version = plan.version;
    study.command = plan.command;
    study.seed = protocol.seed;
    study.options = protocol.options();
    study.protocol = jsonLine(protocol.toJson());
    for (size_t index : rung.candidates) {
      const PointRecord &point = plan.points[index];
      std::map<std::string, std::string> settings = plan.space.settingsAt(point.point);
      settings.insert(plan.settings.begin(), plan.settings.end());
      study.architectures.push_back({plan.space.nameOf(point.point), plan.path, plan.source,
                                     std::move(settings), point.costs[0].parameters,
                                     point.costs[0].flopsPerToken, point.costs[0].state,
                                     point.costs[0].countedState});
    }
    for (size_t s = 0; s < plan.suite.size(); ++s)
      for (size_t index : rung.candidates)
        for (double rate : protocol.learningRates)
          for (double decay : protocol.weightDecays)
            for (int64_t seed = 0; seed < protocol.seeds; ++seed)
              study.runs.push_back(runOf(index, s, protocol, rate, decay,
                                         protocol.seed + static_cast<uint64_t>(seed)));
    return study;
  }

  Run runOf(size_t index, size_t s, const Protocol &protocol, double rate, double decay,
            uint64_t seed) const {
    const Setting &setting = plan.suite[s];
    const PointCost &cost = plan.points[index].costs[s];
    Run run = protocol.plannedRun(setting, rate, decay, seed);
    run.architecture = plan.space.nameOf(plan.points[index].point);
    run.parameters = cost.parameters;
    run.flopsPerToken = cost.flopsPerToken;
    run.stateElements = cost.stateElements();
    return run;
  }

  Result<std::vector<Evaluation>> train(const Rung &rung) {
    Protocol protocol = rungProtocol(plan, rung.rung);
    Study wanted = studyOf(rung, protocol);
    std::string path = plan.folder + "/" + databaseOf(rung);
    {
      auto database = openStudy(path, Database::Mode::Create);
      if (!database)
        return database.error();
      if (auto done = storeStudy(**database, wanted); !done)
        return done.error();
      auto stored = loadStudy(**database, /*curves=*/false);
      if (!stored)
        return stored.error();
      if (!isSame(wanted, *stored))
        return Error{
            fmt::format("'{}' holds other runs than this search makes: give another --out", path)};
    }
    if (tools.begun)
      tools.begun(rung, wanted.runs.size());
    Clock clock(plan.folder, databaseOf(rung));
    bool isTime = plan.secondsPerFlop > 0;
    double limit = isTime ? rung.budget : INFINITY;
    bool wasDone = isDone(path);
    auto stopped = tools.train(path, [&] { return clock.seconds() >= limit; });
    if (!stopped)
      return stopped.error();
    if (!wasDone)
      if (auto saved = clock.save(); !saved)
        return saved.error();
    if (*stopped)
      return Error{stoppedMessage};
    auto study = readStudy(path);
    if (!study)
      return study.error();
    return evaluate(rung, protocol, *study, wasDone ? clock.secondsBefore() : clock.seconds());
  }

  /// Whether nothing is left to train: the time such a rung took is known.
  static bool isDone(const std::string &path) {
    auto store = RunStore::open(path, workerName());
    if (!store)
      return false;
    auto left = store->left();
    return left && *left == 0;
  }

  static bool isSame(const Study &wanted, const Study &stored) {
    auto key = [](const Run &run) {
      return fmt::format("{};{};{};{};{};{}", run.architecture, run.setting, run.learningRate,
                         run.weightDecay, run.seed, run.steps);
    };
    return std::equal(wanted.runs.begin(), wanted.runs.end(), stored.runs.begin(),
                      stored.runs.end(),
                      [&](const Run &a, const Run &b) { return key(a) == key(b); });
  }

  Result<std::vector<Evaluation>> evaluate(const Rung &rung, const Protocol &protocol,
                                           const Study &study, double seconds) {
    Scoreboard board = scoreStudy(study);
    std::map<std::string, double> flops, times;
    double allTimes = 0;
    std::map<std::string, size_t> settings;
    for (size_t s = 0; s < plan.suite.size(); ++s)
      settings[plan.suite[s].key()] = s;
    std::map<std::string, size_t> places;
    for (size_t index : rung.candidates)
      places[plan.space.nameOf(plan.points[index].point)] = index;
    for (const Run &run : study.runs) {
      size_t s = settings[run.setting];
      if (run.status == "failed" && outcome.errors[places[run.architecture]].empty())
        outcome.errors[places[run.architecture]] = run.error;
      const PointCost &cost = plan.points[places[run.architecture]].costs[s];
      // A run that failed or diverged has at most been trained in full.
      bool whole = run.status == "failed";
      int64_t steps = run.status == "pending" ? 0 : whole ? run.steps : run.stepsDone;
      int64_t evaluations = whole ? evaluationsOf(protocol, plan.suite[s], run.steps)
                                  : static_cast<int64_t>(run.curve.size()) + (steps > 0);
      flops[run.architecture] += flopsOfRun(cost, protocol, plan.suite[s], steps, evaluations);
      double took = std::isfinite(run.seconds) ? run.seconds : 0;
      times[run.architecture] += took;
      allTimes += took;
    }
    // Compiling and waiting is shared out as training is.
    double overhead = allTimes > 0 ? std::max(1.0, seconds / allTimes) : 1;
    std::vector<Evaluation> evaluations;
    for (const ArchitectureScore &score : board.architectures) {
      bool failed = !score.complete;
      for (const TaskScore &task : score.tasks)
        failed |= task.failed > 0 || task.done == 0 || task.scored < task.settings;
      Evaluation each;
      each.cost = plan.secondsPerFlop > 0 ? overhead * times[score.architecture]
                                          : flops[score.architecture];
      if (!failed)
        each.score = protocol.macro ? score.madAccuracy : score.accuracy;
      size_t index = places[score.architecture];
      if (each.score) {
        outcome.scores[index] = score;
        reached[index] = databaseOf(rung);
      }
      evaluations.push_back(each);
    }
    studies[databaseOf(rung)] = study;
    if (evaluations.size() != rung.candidates.size())
      return Error{fmt::format("'{}' lacks points: give another --out", databaseOf(rung))};
    return evaluations;
  }

  /// With the choices filled into the texts, so that they stand for themselves.
  Result<void> collectFront() {
    Study &front = outcome.front;
    std::set<std::string> taken;
    for (size_t index : outcome.halving.front) {
      const Study &study = studies[reached[index]];
      std::string name = plan.space.nameOf(plan.points[index].point);
      if (front.architectures.empty()) {
        front = study;
        front.architectures.clear();
        front.runs.clear();
      }
      for (const Architecture &each : study.architectures)
        if (each.name == name) {
          auto text = plan.space.fillIn(plan.source, plan.points[index].point);
          if (!text)
            return text.error();
          front.architectures.push_back(each);
          front.architectures.back().source = std::move(*text);
        }
      for (const Run &run : study.runs)
        if (run.architecture == name) {
          front.runs.push_back(run);
          front.runs.back().id = static_cast<int64_t>(front.runs.size());
        }
    }
    return {};
  }

  const SearchPlan &plan;
  const SearchTools &tools;
  SearchOutcome outcome;
  std::vector<std::string> reached; // the database of each point's longest training
  std::map<std::string, Study> studies;
};

} // namespace

double pointFlops(const PointRecord &point, const Protocol &protocol,
                  const std::vector<Setting> &suite) {
  double flops = 0;
  auto grid = static_cast<double>(protocol.learningRates.size() * protocol.weightDecays.size()) *
              static_cast<double>(protocol.seeds);
  for (size_t s = 0; s < suite.size(); ++s) {
    int64_t steps = protocol.stepsOf(suite[s]);
    flops += grid * flopsOfRun(point.costs[s], protocol, suite[s], steps,
                               evaluationsOf(protocol, suite[s], steps));
  }
  return flops;
}

Protocol rungProtocol(const SearchPlan &plan, size_t rung) {
  Protocol protocol = plan.protocol;
  protocol.share *= rungLength(rung, plan.halving);
  return protocol;
}

std::vector<Candidate> candidatesOf(const SearchPlan &plan) {
  std::vector<Candidate> candidates;
  for (const PointRecord &point : plan.points) {
    Candidate candidate{{}, point.costs[0].flopsPerToken, point.costs[0].comparedState()};
    for (size_t rung = 0; rung < plan.halving.rungs; ++rung)
      candidate.costs.push_back(pointFlops(point, rungProtocol(plan, rung), plan.suite) *
                                (plan.secondsPerFlop > 0 ? plan.secondsPerFlop : 1));
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

Result<SearchOutcome> runSearch(const SearchPlan &plan, const SearchTools &tools) {
  return Searcher(plan, tools).run();
}

nlohmann::json describeSearch(const SearchPlan &plan, const SearchOutcome &outcome) {
  nlohmann::json points = nlohmann::json::array(), rungs = nlohmann::json::array();
  const HalvingOutcome &halving = outcome.halving;
  std::vector<bool> isFront(plan.points.size());
  for (size_t index : halving.front)
    isFront[index] = true;
  auto elements = [](const std::optional<StateSize> &state) {
    return state ? nlohmann::json(state->total()) : nlohmann::json();
  };
  auto nameOf = [&](size_t index) { return plan.space.nameOf(plan.points[index].point); };
  for (const RungOutcome &rung : halving.rungs) {
    nlohmann::json entered = nlohmann::json::array(), promoted = nlohmann::json::array();
    for (size_t index : rung.candidates)
      entered.push_back(nameOf(index));
    for (size_t index : rung.promoted)
      promoted.push_back(nameOf(index));
    double cost = 0;
    for (const Evaluation &each : rung.evaluations)
      cost += each.cost;
    nlohmann::json entry{{"length", rungLength(rung.rung, plan.halving)},
                         {"finishing", rung.finishing},
                         {"points", std::move(entered)},
                         {"promoted", std::move(promoted)}};
    entry[plan.secondsPerFlop > 0 ? "seconds" : "flops"] = cost;
    rungs.push_back(std::move(entry));
  }
  for (size_t i = 0; i < plan.points.size(); ++i) {
    const Measured &measured = halving.measured[i];
    nlohmann::json scores = nlohmann::json::array(), tasks = nlohmann::json::object();
    bool trained = false;
    for (const auto &score : measured.scores) {
      scores.push_back(score ? nlohmann::json(*score) : nlohmann::json());
      trained |= score.has_value();
    }
    if (!trained && outcome.errors[i].empty())
      continue;
    for (const TaskScore &task : outcome.scores[i].tasks)
      tasks[task.task] = plan.protocol.macro ? task.madAccuracy : task.accuracy;
    points.push_back({{"point", plan.points[i].point},
                      {"name", nameOf(i)},
                      {"settings", plan.space.settingsAt(plan.points[i].point)},
                      {"scores", std::move(scores)},
                      {"tasks", std::move(tasks)},
                      {"parameters", plan.points[i].costs[0].parameters},
                      {"flops_per_token", measured.flopsPerToken},
                      {"state_elements", elements(plan.points[i].costs[0].state)},
                      {"counted_state_elements", elements(plan.points[i].costs[0].countedState)},
                      {"front", bool(isFront[i])}});
    if (!outcome.errors[i].empty())
      points.back()["error"] = outcome.errors[i];
  }
  nlohmann::json options = nlohmann::json::object();
  for (const auto &[name, value] : plan.protocol.options())
    options[name] = value;
  nlohmann::json result{{"model", plan.space.model},      {"path", plan.path},
                        {"settings", plan.settings},      {"points_in_space", plan.space.points},
                        {"protocol", std::move(options)}, {"eta", plan.halving.eta},
                        {"rungs", std::move(rungs)},      {"points", std::move(points)}};
  if (std::isfinite(plan.halving.budget)) {
    result[plan.secondsPerFlop > 0 ? "budget_seconds" : "budget_flops"] = plan.halving.budget;
    result["spent"] = halving.spent;
  }
  return result;
}

} // namespace hybrid::rt::lab
