//===- Search.cpp - hybrid-run search: the best points of a space ------------------===//
#include "laboratory/search/Search.h"
#include "laboratory/Columns.h"
#include "laboratory/TrainRuns.h"
#include "laboratory/database/RunStore.h"
#include "laboratory/report/Report.h"
#include "runtime/files/AtomicFile.h"
#include "tools/hybrid-run/LabModels.h"
#include "tools/hybrid-run/LabWorkers.h"
#include "tools/hybrid-run/Process.h"
#include "tools/hybrid-run/ProtocolArgument.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/Signals.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <unistd.h>

namespace hybrid::tools {
namespace lab = rt::lab;
namespace fs = std::filesystem;
namespace {

struct SearchArguments {
  std::string path, out, promote = "score";
  std::vector<std::string> settings;
  ProtocolArgument protocol;
  lab::Constraints constraints;
  lab::HalvingOptions halving;
  std::optional<double> budgetFlops, budgetSeconds;
  int64_t points = 0;
  int threads = 0, jobs = 1;
  bool noFinish = false, dryRun = false, json = false, quiet = false;
};

/// Points beyond which a search without a budget asks for one.
constexpr uint64_t mostUnasked = 100;

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    throw Failure(fmt::format("cannot read '{}'", path));
  return text.str();
}

/// "90", "90s", "10min", "1.5h".
double parseSeconds(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  std::string unit = end;
  double factor = unit.empty() || unit == "s" ? 1 : unit == "min" ? 60 : unit == "h" ? 3600 : 0;
  if (end == text.c_str() || factor == 0 || !(value > 0) || !std::isfinite(value))
    throw CLI::ValidationError("--budget-time", "'" + text +
                                                    "' is no time: expected a number and s, min or "
                                                    "h, as in 10min");
  return value * factor;
}

/// "1.2 PFLOP", "35 s": an amount of the budget.
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

class SearchRun {
public:
  explicit SearchRun(SearchArguments &arguments)
      : arguments(arguments), compiler(findCompiler()),
        models(chooseProtocol(arguments, plan).precision, plan.protocol.device) {}

  void run() {
    readSpace();
    choosePoints();
    if (arguments.dryRun)
      return printPlan();
    lab::SearchTools tools;
    tools.train = [this](const std::string &database, const std::function<bool()> &stop) {
      return train(database, stop);
    };
    tools.begun = [this](const lab::Rung &rung, size_t runs) {
      say(rung.finishing
              ? fmt::format("the front: {} more {} trained for the whole length, {} runs",
                            rung.candidates.size(),
                            rung.candidates.size() == 1 ? "point" : "points", runs)
              : fmt::format("rung {} of {}: {} {} for {} of the length, {} runs", rung.rung + 1,
                            plan.halving.rungs, rung.candidates.size(),
                            rung.candidates.size() == 1 ? "point" : "points", lengthOf(rung.rung),
                            runs));
    };
    tools.done = [this](const lab::RungOutcome &rung) { sayBest(rung); };
    auto outcome = lab::runSearch(plan, tools);
    if (!outcome && outcome.error().message == lab::stoppedMessage)
      throw Failure("stopped: the same command goes on");
    write(valueOf(std::move(outcome)));
  }

private:
  static const lab::Protocol &chooseProtocol(const SearchArguments &arguments,
                                             lab::SearchPlan &plan) {
    plan.protocol = arguments.protocol.protocol();
    return plan.protocol;
  }

  void say(const std::string &text) const {
    if (!arguments.quiet)
      fmt::print(stderr, "{}\n", text);
  }

  std::string lengthOf(size_t rung) const {
    double share = lab::rungLength(rung, plan.halving);
    return share == 1 ? "all" : fmt::format("1/{:.0f}", 1 / share);
  }

  rt::Result<bool> train(const std::string &database, const std::function<bool()> &stop) const {
    auto store = lab::RunStore::open(database, lab::workerName());
    if (!store)
      return store.error();
    valueOf(store->reclaim());
    // Whatever made runs fail may have been put right; but a rung that was decided stays so.
    if (valueOf(store->left()) > 0)
      valueOf(store->retryFailed());
    int64_t last = -1;
    auto show = [&] {
      int64_t left = valueOf(store->left());
      if (isTerminal() && std::exchange(last, left) != left)
        fmt::print(stderr, "\r\033[K  {} runs left ", left);
    };
    std::string signal = superviseWorkers(
        {database, arguments.jobs, arguments.threads, runsTogether(plan.protocol)}, show, stop);
    if (isTerminal())
      fmt::print(stderr, "\r\033[K");
    return !signal.empty();
  }

  bool isTerminal() const { return isatty(STDERR_FILENO) && !arguments.quiet; }

  void readSpace() {
    plan.path = arguments.path;
    plan.source = readText(arguments.path);
    plan.version = "hybrid-run " HYBRID_VERSION ", " + compilerVersion(compiler);
    plan.command = commandLine();
    plan.suite = valueOf(plan.protocol.settings());
    plan.halving = arguments.halving;
    plan.halving.finish = !arguments.noFinish;
    plan.halving.promotion =
        arguments.promote == "front" ? lab::Promotion::Front : lab::Promotion::Score;
    plan.halving.mostPoints = static_cast<size_t>(arguments.points);
    std::vector<std::string> words{arguments.path, "--choices=json"};
    for (const std::string &setting : arguments.settings) {
      size_t equals = setting.find('=');
      if (equals == std::string::npos || equals == 0)
        throw Failure(fmt::format("--set {}: expected NAME=VALUE", setting));
      plan.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
      words.insert(words.end(), {"--set", setting});
    }
    ProgramOutput output = runForOutput(compiler, words);
    if (output.status != 0) {
      std::fputs(output.err.c_str(), stderr);
      throw Failure(fmt::format("{} is no space that can be searched", arguments.path));
    }
    plan.space = valueOf(lab::Space::parse(nlohmann::json::parse(output.out, nullptr, false)));
    if (plan.space.points == 1)
      throw Failure(fmt::format("{} has nothing to choose: give a parameter of its model a default "
                                "such as one_of(64, 128), and see `hybridc {} --choices`",
                                arguments.path, shellWord(arguments.path)));
    for (const lab::Choice &choice : plan.space.choices)
      if (choice.name == "vocab" || choice.name == "l_max" || choice.name == "readout")
        throw Failure(
            fmt::format("'{}' is no choice: the laboratory sets it for each task", choice.name));
    // Says what the laboratory needs of a model, before anything is measured.
    models.add(arguments.path, arguments.settings, plan.suite);
    if (arguments.out.empty())
      arguments.out = "runs/search-" + fs::path(arguments.path).stem().string();
    plan.folder = arguments.out;
  }

  /// The architecture of a point, made known to the models when it is asked for first.
  std::string architectureOf(uint64_t point) {
    std::string name = plan.space.nameOf(point);
    if (known.insert(name).second) {
      std::map<std::string, std::string> settings = plan.space.settingsAt(point);
      settings.insert(plan.settings.begin(), plan.settings.end());
      lab::Architecture architecture;
      architecture.name = name;
      architecture.path = plan.path;
      architecture.source = plan.source;
      architecture.settings = std::move(settings);
      models.add(architecture);
    }
    return name;
  }

  nlohmann::json identity() const {
    nlohmann::json settings = nlohmann::json::array();
    for (const lab::Setting &setting : plan.suite)
      settings.push_back(setting.key());
    auto optional = [](const auto &value) {
      return value ? nlohmann::json(*value) : nlohmann::json();
    };
    return {{"model", plan.source},
            {"set", plan.settings},
            {"settings", std::move(settings)},
            {"protocol", plan.protocol.toJson()},
            {"max_parameters", optional(arguments.constraints.maxParameters)},
            {"max_flops", optional(arguments.constraints.maxFlops)},
            {"iso_state", optional(arguments.constraints.isoState)},
            {"tolerance", arguments.constraints.tolerance},
            {"budget_flops", optional(arguments.budgetFlops)},
            {"budget_seconds", optional(arguments.budgetSeconds)},
            {"points", arguments.points},
            {"rungs", plan.halving.rungs},
            {"eta", plan.halving.eta},
            {"promote", arguments.promote},
            {"finish", plan.halving.finish}};
  }

  void choosePoints() {
    bool unlimited = !arguments.budgetFlops && !arguments.budgetSeconds && arguments.points == 0;
    if (unlimited && plan.space.points > mostUnasked)
      throw Failure(fmt::format("the space has {} points: say how many are trained with --points, "
                                "--budget-flops or --budget-time",
                                plan.space.points));
    std::error_code error;
    fs::create_directories(plan.folder, error);
    if (error)
      throw Failure(fmt::format("cannot make '{}': {}", plan.folder, error.message()));
    auto book = valueOf(lab::PointBook::open(plan.folder + "/points.jsonl", identity()));
    lab::PointSearch search;
    search.seed = plan.protocol.seed;
    search.constraints = arguments.constraints;
    rt::StopSignals signals;
    search.stop = [&signals] { return signals.received() != nullptr; };
    search.enough = [this](const std::vector<lab::PointRecord> &points) { return enough(points); };
    size_t looked = 0;
    search.progress = [&](const lab::PointRecord &) {
      if (++looked % 8 == 0 && isTerminal())
        fmt::print(stderr, "\rlooked at {} of {} points", looked, plan.space.points);
    };
    auto found = valueOf(lab::findPoints(plan.space, plan.suite, search, book,
                                         [this](uint64_t point, const lab::Setting &setting) {
                                           return models.count(architectureOf(point), setting);
                                         }));
    if (isTerminal() && looked >= 8)
      fmt::print(stderr, "\r\033[K");
    if (found.stopped)
      throw Failure("stopped: the same command goes on");
    for (const lab::PointRecord &point : found.accepted)
      architectureOf(point.point);
    plan.points = std::move(found.accepted);
    tell(found);
    if (plan.points.empty())
      throw Failure("no point is left: loosen the constraints, or see what does not compile with "
                    "`hybridc --set`");
  }

  /// Whether the points so far are all that the search can pay for.
  bool enough(const std::vector<lab::PointRecord> &points) {
    if (arguments.points > 0 && points.size() >= static_cast<size_t>(arguments.points))
      return true;
    plan.points = points;
    setBudget();
    if (!std::isfinite(plan.halving.budget))
      return false;
    lab::HalvingOptions unbounded = plan.halving;
    return lab::affordable(lab::candidatesOf(plan), unbounded) < points.size();
  }

  void setBudget() {
    if (arguments.budgetFlops)
      plan.halving.budget = *arguments.budgetFlops;
    if (!arguments.budgetSeconds || plan.secondsPerFlop > 0)
      return;
    plan.halving.budget = *arguments.budgetSeconds;
    // How fast this machine is, from a few steps of the first point; kept, so that a search that is
    // started again has the same plan.
    std::string path = plan.folder + "/speed.json";
    if (fs::exists(path)) {
      auto json = nlohmann::json::parse(readText(path), nullptr, false);
      plan.secondsPerFlop = json.is_object() ? json.value("seconds_per_flop", 0.0) : 0;
    }
    if (plan.secondsPerFlop > 0)
      return;
    lab::TrainContext context;
    context.protocol = plan.protocol;
    context.provider = [this](const lab::ModelRequest &request) { return models.load(request); };
    context.threads = arguments.threads;
    double seconds = 0;
    for (const lab::Setting &setting : plan.suite)
      seconds += lab::runSeconds(
          plan.protocol, setting,
          valueOf(lab::measureSteps(context, {architectureOf(plan.points[0].point), setting,
                                              plan.protocol.batch, /*replicas=*/1})));
    seconds *= static_cast<double>(runsOfSetting()) / arguments.jobs;
    plan.secondsPerFlop = seconds / lab::pointFlops(plan.points[0], plan.protocol, plan.suite);
    require(rt::writeFileAtomically(
        path, nlohmann::json{{"seconds_per_flop", plan.secondsPerFlop}}.dump() + "\n"));
  }

  size_t runsOfSetting() const {
    return plan.protocol.learningRates.size() * plan.protocol.weightDecays.size() *
           static_cast<size_t>(plan.protocol.seeds);
  }

  void tell(const lab::PointsFound &found) {
    setBudget();
    std::string text = fmt::format("{}: {} points, {} of them looked at", plan.space.model,
                                   plan.space.points, plan.points.size() + found.refused.size());
    if (!found.refused.empty())
      text += fmt::format(", {} left out", found.refused.size());
    say(text);
    std::map<std::string, size_t> reasons;
    for (const lab::PointRecord &record : found.refused) {
      std::string reason = record.costs.empty() ? record.refused
                           : record.refused.starts_with("the same program")
                               ? "the same program as another point"
                               : "breaks a constraint";
      ++reasons[reason];
    }
    for (const auto &[reason, count] : reasons)
      say(fmt::format("  {} x {}", count, reason));
  }

  void printPlan() {
    std::vector<lab::Candidate> candidates = lab::candidatesOf(plan);
    size_t points = lab::affordable(candidates, plan.halving);
    bool isTime = plan.secondsPerFlop > 0;
    fmt::print("{} points compete, {} enter the first rung\n", plan.points.size(), points);
    std::vector<size_t> sizes = lab::rungSizes(points, plan.halving);
    size_t runs = runsOfSetting() * plan.suite.size();
    for (size_t rung = 0; rung < sizes.size(); ++rung)
      fmt::print("  rung {}: {} x {} runs for {} of the length\n", rung + 1, sizes[rung], runs,
                 lengthOf(rung));
    fmt::print("at most {}", amount(lab::largestCost(candidates, points, plan.halving), isTime));
    if (std::isfinite(plan.halving.budget))
      fmt::print(" of {}", amount(plan.halving.budget, isTime));
    fmt::print(", and what finishing the front takes\n");
  }

  void sayBest(const lab::RungOutcome &rung) const {
    std::vector<std::pair<double, size_t>> best;
    for (size_t i = 0; i < rung.candidates.size(); ++i)
      if (rung.evaluations[i].score)
        best.emplace_back(*rung.evaluations[i].score, rung.candidates[i]);
    std::sort(best.begin(), best.end(), [](const auto &a, const auto &b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    best.resize(std::min<size_t>(best.size(), 3));
    for (const auto &[score, index] : best)
      say(fmt::format("  {:5.1f} %  {}", 100 * score, plan.space.nameOf(plan.points[index].point)));
  }

  //===-- what is written ----------------------------------------------------===//

  /// "1-HA-16": what a file may be called.
  std::string fileName(size_t place, uint64_t point) const {
    std::string name = std::to_string(place);
    std::vector<size_t> options = plan.space.optionsAt(point);
    for (size_t i = 0; i < options.size(); ++i) {
      const lab::Choice &choice = plan.space.choices[i];
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

  std::string modelText(size_t index, const lab::SearchOutcome &outcome) const {
    const lab::PointRecord &point = plan.points[index];
    std::string header = fmt::format("// Found by hybrid-run search in {}: {}.\n// ", plan.path,
                                     plan.space.nameOf(point.point));
    const auto &scores = outcome.halving.measured[index].scores;
    for (size_t rung = scores.size(); rung-- > 0;)
      if (scores[rung]) {
        header += fmt::format("Score {:.4f} on the {} suite ({}), trained for {} of its length; ",
                              *scores[rung], plan.protocol.suite,
                              rt::nameOf(plan.protocol.convention), lengthOf(rung));
        break;
      }
    header += fmt::format("{} parameters, {:.0f} FLOPs a token, a state of {}.\n",
                          point.costs[0].parameters, point.costs[0].flopsPerToken,
                          point.costs[0].stateElements);
    return header + valueOf(plan.space.fillIn(plan.source, point.point));
  }

  void write(const lab::SearchOutcome &outcome) {
    std::vector<size_t> front = outcome.halving.front;
    auto faulty = std::find_if(outcome.errors.begin(), outcome.errors.end(),
                               [](const std::string &error) { return !error.empty(); });
    if (front.empty() && faulty == outcome.errors.end())
      throw Failure("no point was trained to a score within the budget");
    if (faulty != outcome.errors.end()) {
      size_t index = static_cast<size_t>(faulty - outcome.errors.begin());
      std::string first =
          fmt::format("{}: {}", plan.space.nameOf(plan.points[index].point), *faulty);
      if (front.empty())
        throw Failure("every point failed; " + first);
      say(fmt::format("{} points failed or diverged in a run; {}",
                      outcome.errors.size() -
                          static_cast<size_t>(std::count(outcome.errors.begin(),
                                                         outcome.errors.end(), std::string())),
                      first));
    }
    auto scoreOf = [&](size_t index) {
      const auto &scores = outcome.halving.measured[index].scores;
      size_t rung = scores.size();
      while (rung > 0 && !scores[rung - 1])
        --rung;
      return rung > 0 ? *scores[rung - 1] : 0;
    };
    std::sort(front.begin(), front.end(), [&](size_t a, size_t b) {
      double left = scoreOf(a), right = scoreOf(b);
      return left != right ? left > right : a < b;
    });
    std::string folder = plan.folder + "/front";
    std::error_code error;
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    if (error)
      throw Failure(fmt::format("cannot make '{}': {}", folder, error.message()));
    nlohmann::json description = lab::describeSearch(plan, outcome);
    nlohmann::json files = nlohmann::json::array();
    std::vector<std::string> names;
    for (size_t place = 0; place < front.size(); ++place) {
      names.push_back(fileName(place + 1, plan.points[front[place]].point));
      std::string path = folder + "/" + names.back();
      require(rt::writeFileAtomically(path, modelText(front[place], outcome)));
      files.push_back({{"file", "front/" + names.back()},
                       {"name", plan.space.nameOf(plan.points[front[place]].point)}});
      checkCompiles(path);
    }
    description["front"] = std::move(files);
    require(rt::writeFileAtomically(plan.folder + "/search.json", description.dump(2) + "\n"));
    require(lab::writeReport(outcome.front, lab::scoreStudy(outcome.front),
                             plan.folder + "/report.html"));
    if (arguments.json)
      std::cout << description.dump(2) << "\n";
    else
      printFront(outcome, front, names);
  }

  /// What the space uses from its own folder is not there in that of the front.
  void checkCompiles(const std::string &path) const {
    std::vector<std::string> words{path, "--emit=hybrid", "-o", "/dev/null"};
    ProgramOutput output = runForOutput(compiler, words);
    if (output.status != 0)
      fmt::print(stderr,
                 "warning: {} does not compile where it is; move it beside {}, whose files it "
                 "uses\n{}",
                 path, plan.path, output.err);
  }

  void printFront(const lab::SearchOutcome &outcome, const std::vector<size_t> &front,
                  const std::vector<std::string> &names) const {
    std::vector<std::vector<std::string>> rows{
        {"front/", "score", "length", "FLOPs/token", "state", "parameters"}};
    if (!front.empty())
      for (const lab::TaskScore &task : outcome.scores[front[0]].tasks)
        rows[0].push_back(task.task);
    for (size_t place = 0; place < front.size(); ++place) {
      size_t index = front[place];
      const lab::PointCost &cost = plan.points[index].costs[0];
      const auto &scores = outcome.halving.measured[index].scores;
      size_t rung = scores.size() - 1;
      while (rung > 0 && !scores[rung])
        --rung;
      rows.push_back({names[place], fmt::format("{:.1f}", 100 * *scores[rung]), lengthOf(rung),
                      fmt::format("{:.0f}", cost.flopsPerToken), std::to_string(cost.stateElements),
                      std::to_string(cost.parameters)});
      for (const lab::TaskScore &task : outcome.scores[index].tasks)
        rows.back().push_back(
            fmt::format("{:.1f}", 100 * (plan.protocol.macro ? task.madAccuracy : task.accuracy)));
    }
    fmt::print("{}", lab::alignColumns(rows, 0));
    bool isTime = plan.secondsPerFlop > 0;
    size_t trained = 0;
    for (const lab::Measured &measured : outcome.halving.measured)
      trained += std::any_of(measured.scores.begin(), measured.scores.end(),
                             [](const auto &score) { return score.has_value(); });
    fmt::print("{} of {} points trained, {}{}\n{}\n", trained, plan.space.points,
               amount(outcome.halving.spent, isTime),
               std::isfinite(plan.halving.budget) ? " of " + amount(plan.halving.budget, isTime)
                                                  : "",
               plan.folder);
  }

  SearchArguments &arguments;
  std::string compiler;
  lab::SearchPlan plan;
  LabModels models;
  std::set<std::string> known;
};

} // namespace

void addSearch(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "search",
      "train the points of a space of models and keep the best of score, FLOPs and state");
  auto arguments = std::make_shared<SearchArguments>();
  SearchArguments &a = *arguments;
  verb->add_option("space", a.path,
                   "a model (.hyb) with choices: parameters whose default is one_of")
      ->required();
  const CLI::Range count(int64_t{1}, int64_t{1} << 40);
  const CLI::Range positive(1e-12, 1e30);
  auto *budget = verb->add_option_group("Budget");
  auto *flops = budget
                    ->add_option("--budget-flops", a.budgetFlops,
                                 "FLOPs of training and evaluation that the search may take, as "
                                 "in 5e15; never more")
                    ->check(positive);
  budget
      ->add_option_function<std::string>(
          "--budget-time", [&a](const std::string &text) { a.budgetSeconds = parseSeconds(text); },
          "time that it may take: 90s, 10min, 2h")
      ->type_name("TIME")
      ->excludes(flops);
  budget->add_option("--points", a.points, "points of the first rung, at most")->check(count);
  auto *halving = verb->add_option_group("Halving");
  halving->add_option("--rungs", a.halving.rungs, "lengths of training")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  halving
      ->add_option("--eta", a.halving.eta,
                   "one point in so many is promoted, and trained so many times as long")
      ->check(CLI::Range(2, 16))
      ->capture_default_str();
  halving
      ->add_option("--promote", a.promote,
                   "who is promoted: the best by score, or by front of score, FLOPs and state")
      ->check(CLI::IsMember({"score", "front"}))
      ->capture_default_str();
  halving->add_flag("--no-finish", a.noFinish,
                    "leave members of the front that fell out early at the length they reached");
  auto *limits = verb->add_option_group("Constraints (on the suite's first task)");
  limits->add_option("--max-parameters", a.constraints.maxParameters, "parameters")->check(count);
  limits->add_option("--max-flops", a.constraints.maxFlops, "forward FLOPs a token")
      ->check(positive);
  limits
      ->add_option("--iso-state", a.constraints.isoState,
                   "elements of state that a point must have")
      ->check(count);
  limits->add_option("--tolerance", a.constraints.tolerance, "how far the state may be off")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  a.protocol.addTo(*verb);
  verb->add_option("--set", a.settings,
                   "NAME=VALUE: a model parameter, or a choice that is not left open")
      ->allow_extra_args(false);
  verb->add_option("--out", a.out,
                   "folder of the search (default runs/search-NAME); the same command goes "
                   "on where it was");
  verb->add_option("--jobs", a.jobs, "processes that train")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  verb->add_option("--threads", a.threads, "threads of each; 0: an equal share")
      ->check(CLI::Range(0, 4096));
  verb->add_flag("--dry-run", a.dryRun, "look at the points and print the plan, but train nothing");
  verb->add_flag("--json", a.json, "print search.json");
  verb->add_flag("--quiet", a.quiet, "no progress on standard error");
  verb->callback([arguments] { SearchRun(*arguments).run(); });
}

} // namespace hybrid::tools
