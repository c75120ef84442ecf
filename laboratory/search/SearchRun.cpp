//===- SearchRun.cpp - a search from its space to its front -------------------------===//
#include "laboratory/search/SearchRun.h"
#include "laboratory/Models.h"
#include "laboratory/WorkerProcesses.h"
#include "laboratory/database/RunStore.h"
#include "laboratory/search/SearchFront.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/Signals.h"
#include "training/compile/ModelSpec.h"
#include "training/compile/Process.h"
#include "training/record/FolderLock.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

namespace hybrid::rt::lab {
namespace fs = std::filesystem;
namespace {

/// Points beyond which a search without a budget asks for one.
constexpr uint64_t mostUnasked = 100;

class SearchRun {
public:
  SearchRun(const SearchOptions &options, std::string compiler, Models models)
      : options(options), compiler(std::move(compiler)), models(std::move(models)) {}

  Result<void> run();

private:
  void tell(const std::string &text) const {
    if (!options.quiet)
      say(stderr, "{}\n", text);
  }

  Result<bool> train(const std::string &database, const std::function<bool()> &stop) const {
    auto store = RunStore::open(database, workerName());
    if (!store)
      return store.error();
    if (auto freed = store->reclaim(); !freed)
      return freed.error();
    auto left = store->left();
    if (!left)
      return left.error();
    // Whatever made runs fail may have been put right; but a rung that was decided stays so.
    if (*left > 0)
      if (auto again = store->retryFailed(); !again)
        return again.error();
    int64_t last = -1;
    auto show = [&]() -> Result<void> {
      auto left = store->left();
      if (!left)
        return left.error();
      if (isTerminal() && std::exchange(last, *left) != *left)
        say(stderr, "\r\033[K  {} runs left ", *left);
      return {};
    };
    auto signal = superviseWorkers(
        {database, options.jobs, options.threads, runsTogether(plan.protocol)}, show, stop);
    if (isTerminal())
      say(stderr, "\r\033[K");
    if (!signal)
      return signal.error();
    return !signal->empty();
  }

  bool isTerminal() const { return isatty(STDERR_FILENO) && !options.quiet; }

  Result<void> readSpace() {
    plan.path = options.path;
    auto source = readText(options.path);
    if (!source)
      return source.error();
    plan.source = std::move(*source);
    plan.version = options.version + ", " + compilerVersion(compiler);
    plan.command = commandLine();
    plan.protocol = options.protocol;
    auto suite = plan.protocol.settings();
    if (!suite)
      return suite.error();
    plan.suite = std::move(*suite);
    plan.halving = options.halving;
    plan.halving.mostPoints = static_cast<size_t>(options.points);
    std::vector<std::string> words{options.path, "--choices=json"};
    for (const std::string &setting : options.settings) {
      auto split = splitSetting(setting);
      if (!split)
        return split.error();
      plan.settings[split->first] = split->second;
      words.insert(words.end(), {"--set", setting});
    }
    auto output = runForOutput(compiler, words);
    if (!output)
      return output.error();
    if (output->signal != 0)
      return Error{fmt::format("hybridc was ended by {}", output->text())};
    if (output->status != 0) {
      std::fputs(output->err.c_str(), stderr);
      return Error{fmt::format("{} is no space that can be searched", options.path)};
    }
    auto space = Space::parse(parseJsonOrNull(output->out));
    if (!space)
      return space.error();
    plan.space = std::move(*space);
    if (plan.space.points == 1)
      return Error{fmt::format("{} has nothing to choose: give a parameter of its model a default "
                               "such as one_of(64, 128), and see `hybridc {} --choices`",
                               options.path, shellWord(options.path))};
    for (const Choice &choice : plan.space.choices)
      if (isLaboratorys(choice.name))
        return Error{
            fmt::format("'{}' is no choice: the laboratory sets it for each task", choice.name)};
    // Says what the laboratory needs of a model, before anything is measured.
    const std::string name = fs::path(options.path).stem().string();
    if (auto added = models.add({options.path, name, options.settings}, plan.suite); !added)
      return added.error();
    plan.folder =
        options.out.empty() ? "runs/search-" + fs::path(options.path).stem().string() : options.out;
    return {};
  }

  /// The architecture of a point, made known to the models when it is asked for first.
  Result<std::string> architectureOf(uint64_t point) {
    std::string name = plan.space.nameOf(point);
    if (!known.insert(name).second)
      return name;
    Architecture architecture;
    architecture.name = name;
    architecture.path = plan.path;
    architecture.source = plan.source;
    architecture.settings = plan.space.settingsAt(point);
    architecture.settings.insert(plan.settings.begin(), plan.settings.end());
    if (auto done = models.add(architecture); !done)
      return done.error();
    return name;
  }

  /// What a point costs; an error is the compiler's first one.
  Result<PointCost> costOf(const std::string &architecture, const Setting &setting) {
    auto cost = models.cost(architecture, setting);
    if (cost)
      return cost;
    const std::string &told = cost.error().message;
    constexpr std::string_view mark = "error: ";
    size_t start = told.find(mark);
    start = start == std::string::npos ? 0 : start + mark.size();
    return Error{told.substr(start, told.find('\n', start) - start)};
  }

  nlohmann::json identity() const {
    nlohmann::json settings = nlohmann::json::array();
    for (const Setting &setting : plan.suite)
      settings.push_back(setting.key());
    auto optional = [](const auto &value) {
      return value ? nlohmann::json(*value) : nlohmann::json();
    };
    return {{"model", plan.source},
            {"set", plan.settings},
            {"settings", std::move(settings)},
            {"protocol", plan.protocol.toJson()},
            {"max_parameters", optional(options.constraints.maxParameters)},
            {"max_flops", optional(options.constraints.maxFlops)},
            {"iso_state", optional(options.constraints.isoState)},
            {"tolerance", options.constraints.tolerance},
            {"budget_flops", optional(options.budgetFlops)},
            {"budget_seconds", optional(options.budgetSeconds)},
            {"points", options.points},
            {"rungs", plan.halving.rungs},
            {"eta", plan.halving.eta},
            {"promote", plan.halving.promotion == Promotion::Front ? "front" : "score"},
            {"finish", plan.halving.finish}};
  }

  Result<void> choosePoints() {
    const bool unlimited = !options.budgetFlops && !options.budgetSeconds && options.points == 0;
    if (unlimited && plan.space.points > mostUnasked)
      return Error{fmt::format("the space has {} points: say how many are trained with --points, "
                               "--budget-flops or --budget-time",
                               plan.space.points)};
    if (auto done = makeFolder(plan.folder); !done)
      return done;
    auto taken = FolderLock::take(plan.folder);
    if (!taken)
      return taken.error();
    lock.emplace(std::move(*taken));
    auto book = PointBook::open(plan.folder + "/points.jsonl", identity());
    if (!book)
      return book.error();
    PointSearch search;
    search.seed = plan.protocol.seed;
    search.constraints = options.constraints;
    StopSignals signals;
    Result<void> fault;
    search.stop = [&] { return signals.received() != nullptr || !fault; };
    search.enough = [&](const std::vector<PointRecord> &points) {
      auto is = enough(points);
      if (!is)
        fault = is.error();
      return !is || *is;
    };
    size_t looked = 0;
    search.progress = [&](const PointRecord &) {
      ++looked;
      if (looked % 8 == 0 && isTerminal())
        say(stderr, "\rlooked at {} of {} points", looked, plan.space.points);
      else if (looked % 64 == 0 && !options.quiet)
        say(stderr, "looked at {} of {} points\n", looked, plan.space.points);
    };
    auto found = findPoints(plan.space, plan.suite, search, *book,
                            [&](uint64_t point, const Setting &setting) -> Result<PointCost> {
                              auto architecture = architectureOf(point);
                              if (architecture)
                                return costOf(*architecture, setting);
                              fault = architecture.error();
                              return architecture.error();
                            });
    if (!found)
      return found.error();
    if (!fault)
      return fault;
    if (isTerminal() && looked >= 8)
      say(stderr, "\r\033[K");
    if (found->stopped)
      return Error{"stopped: the same command goes on"};
    for (const PointRecord &point : found->accepted)
      if (auto known = architectureOf(point.point); !known)
        return known.error();
    plan.points = std::move(found->accepted);
    if (auto done = setBudget(); !done)
      return done;
    tell(*found);
    if (plan.points.empty())
      return Error{"no point is left: loosen the constraints, or see what does not compile with "
                   "`hybridc --set`"};
    return {};
  }

  /// Whether the points so far are all that the search can pay for.
  Result<bool> enough(const std::vector<PointRecord> &points) {
    if (options.points > 0 && points.size() >= static_cast<size_t>(options.points))
      return true;
    plan.points = points;
    if (auto done = setBudget(); !done)
      return done.error();
    if (!std::isfinite(plan.halving.budget))
      return false;
    HalvingOptions unbounded = plan.halving;
    return affordable(candidatesOf(plan), unbounded) < points.size();
  }

  Result<void> setBudget() {
    if (options.budgetFlops)
      plan.halving.budget = *options.budgetFlops;
    if (!options.budgetSeconds || plan.secondsPerFlop > 0 || plan.points.empty())
      return {};
    plan.halving.budget = *options.budgetSeconds;
    // How fast this machine is, from a few steps of the first point; kept, so that a search that is
    // started again has the same plan.
    std::string path = plan.folder + "/speed.json";
    if (auto text = readText(path))
      plan.secondsPerFlop =
          jsonField<double>(parseJsonOrNull(*text), "seconds_per_flop").value_or(0.0);
    if (plan.secondsPerFlop > 0)
      return {};
    TrainContext context;
    context.protocol = plan.protocol;
    context.provider = [this](const ModelRequest &request) { return models.load(request); };
    context.threads = options.threads;
    double seconds = 0;
    auto architecture = architectureOf(plan.points[0].point);
    if (!architecture)
      return architecture.error();
    for (const Setting &setting : plan.suite) {
      auto times =
          measureSteps(context, {*architecture, setting, plan.protocol.batch, /*replicas=*/1});
      if (!times)
        return times.error();
      seconds += runSeconds(plan.protocol, setting, *times);
    }
    seconds *= static_cast<double>(runsOfSetting()) / options.jobs;
    plan.secondsPerFlop = seconds / pointFlops(plan.points[0], plan.protocol, plan.suite);
    return writeFileAtomically(
        path, nlohmann::json{{"seconds_per_flop", plan.secondsPerFlop}}.dump() + "\n");
  }

  size_t runsOfSetting() const {
    return plan.protocol.learningRates.size() * plan.protocol.weightDecays.size() *
           static_cast<size_t>(plan.protocol.seeds);
  }

  void tell(const PointsFound &found) const {
    std::string text = fmt::format("{}: {} points, {} of them looked at", plan.space.model,
                                   plan.space.points, plan.points.size() + found.refused.size());
    if (!found.refused.empty())
      text += fmt::format(", {} left out", found.refused.size());
    tell(text);
    std::map<std::string, size_t> reasons;
    for (const PointRecord &record : found.refused) {
      std::string reason = record.costs.empty() ? record.refused
                           : record.refused.starts_with("the same program")
                               ? "the same program as another point"
                               : "breaks a constraint";
      ++reasons[reason];
    }
    for (const auto &[reason, count] : reasons)
      tell(fmt::format("  {} x {}", count, reason));
  }

  void printPlan() {
    std::vector<Candidate> candidates = candidatesOf(plan);
    size_t points = affordable(candidates, plan.halving);
    bool isTime = plan.secondsPerFlop > 0;
    say("{} points compete, {} enter the first rung\n", plan.points.size(), points);
    std::vector<size_t> sizes = rungSizes(points, plan.halving);
    size_t runs = runsOfSetting() * plan.suite.size();
    for (size_t rung = 0; rung < sizes.size(); ++rung)
      say("  rung {}: {} x {} runs for {} of the length\n", rung + 1, sizes[rung], runs,
          rungText(rung, plan.halving));
    say("at most {}", amount(largestCost(candidates, points, plan.halving), isTime));
    if (std::isfinite(plan.halving.budget))
      say(" of {}", amount(plan.halving.budget, isTime));
    say(", and what finishing the front takes\n");
  }

  void sayBest(const RungOutcome &rung) const {
    std::vector<std::pair<double, size_t>> best;
    for (size_t i = 0; i < rung.candidates.size(); ++i)
      if (rung.evaluations[i].score)
        best.emplace_back(*rung.evaluations[i].score, rung.candidates[i]);
    std::sort(best.begin(), best.end(), [](const auto &a, const auto &b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    best.resize(std::min<size_t>(best.size(), 3));
    for (const auto &[score, index] : best)
      tell(
          fmt::format("  {:5.1f} %  {}", 100 * score, plan.space.nameOf(plan.points[index].point)));
  }

  const SearchOptions &options;
  std::string compiler;
  SearchPlan plan;
  Models models;
  std::set<std::string> known;
  std::optional<FolderLock> lock; // of the search's folder
};

Result<void> SearchRun::run() {
  if (auto done = readSpace(); !done)
    return done;
  if (auto done = choosePoints(); !done)
    return done;
  if (options.dryRun) {
    printPlan();
    return {};
  }
  SearchTools tools;
  tools.train = [this](const std::string &database, const std::function<bool()> &stop) {
    return train(database, stop);
  };
  tools.begun = [this](const Rung &rung, size_t runs) {
    const char *points = rung.candidates.size() == 1 ? "point" : "points";
    tell(rung.finishing ? fmt::format("the front: {} more {} trained for the whole length, {} runs",
                                      rung.candidates.size(), points, runs)
                        : fmt::format("rung {} of {}: {} {} for {} of the length, {} runs",
                                      rung.rung + 1, plan.halving.rungs, rung.candidates.size(),
                                      points, rungText(rung.rung, plan.halving), runs));
  };
  tools.done = [this](const RungOutcome &rung) { sayBest(rung); };
  auto outcome = runSearch(plan, tools);
  if (!outcome)
    return outcome.error().message == stoppedMessage ? Error{"stopped: the same command goes on"}
                                                     : outcome.error();
  auto files = writeFront(plan, *outcome, compiler, options.quiet);
  if (!files)
    return files.error();
  if (options.json)
    say("{}\n", jsonText(files->description));
  else
    printFront(plan, *outcome, *files);
  return {};
}

} // namespace

Result<void> searchSpace(const SearchOptions &options) {
  auto models = Models::create(options.protocol.precision, options.protocol.device);
  if (!models)
    return models.error();
  return SearchRun(options, findCompiler(), std::move(*models)).run();
}

} // namespace hybrid::rt::lab
