//===- Search.cpp - hybrid-run search: the best points of a space ------------------===//
#include "laboratory/search/SearchRun.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/ProtocolArgument.h"
#include <cmath>

namespace hybrid::tools {
namespace {

struct SearchArguments {
  rt::lab::SearchOptions search;
  ProtocolArgument protocol;
  std::string promote = "score";
  bool noFinish = false;
};

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

} // namespace

void addSearch(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "search",
      "train the points of a space of models and keep the best of score, FLOPs and state");
  auto arguments = std::make_shared<SearchArguments>();
  rt::lab::SearchOptions &a = arguments->search;
  a.version = version;
  verb->add_option("space", a.path,
                   "a model (.hyb) with choices: parameters whose default is one_of")
      ->required();
  const Range count(int64_t{1}, int64_t{1} << 40);
  const Range positive(1e-12, 1e30);
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
      ->check(Range(1, 8))
      ->capture_default_str();
  halving
      ->add_option("--eta", a.halving.eta,
                   "one point in so many is promoted, and trained so many times as long")
      ->check(Range(2, 16))
      ->capture_default_str();
  halving
      ->add_option("--promote", arguments->promote,
                   "who is promoted: the best by score, or by front of score, FLOPs and state")
      ->check(CLI::IsMember({"score", "front"}))
      ->capture_default_str();
  halving->add_flag("--no-finish", arguments->noFinish,
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
      ->check(Range(0.0, 10.0))
      ->capture_default_str();
  arguments->protocol.addTo(*verb);
  verb->add_option("--set", a.settings,
                   "NAME=VALUE: a model parameter, or a choice that is not left open")
      ->allow_extra_args(false);
  verb->add_option("--out", a.out,
                   "folder of the search (default runs/search-NAME); the same command goes "
                   "on where it was");
  addWorkers(*verb, a.jobs, a.threads);
  verb->add_flag("--dry-run", a.dryRun, "look at the points and print the plan, but train nothing");
  verb->add_flag("--json", a.json, "print search.json");
  verb->add_flag("--quiet", a.quiet, "no progress on standard error");
  verb->callback([arguments] {
    rt::lab::SearchOptions &search = arguments->search;
    search.protocol = arguments->protocol.protocol();
    search.halving.finish = !arguments->noFinish;
    search.halving.promotion =
        arguments->promote == "front" ? rt::lab::Promotion::Front : rt::lab::Promotion::Score;
    require(rt::lab::searchSpace(search));
  });
}

} // namespace hybrid::tools
