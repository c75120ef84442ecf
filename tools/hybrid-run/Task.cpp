//===- Task.cpp - hybrid-run task: look at a synthetic task ------------------------===//
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/tasks/View.h"

namespace hybrid::tools {

void addTask(CLI::App &app) {
  auto *verb = app.add_subcommand("task", "show or export instances of a synthetic task");
  auto arguments = std::make_shared<rt::TaskView>();
  verb->add_option("name", arguments->spec, "NAME[:key=value,...]")->required();
  verb->add_option_function<std::string>(
          "--split",
          [arguments](const std::string &name) {
            arguments->split = name == "train" ? rt::Split::Train : rt::Split::Test;
          },
          "train or test")
      ->check(CLI::IsMember({"train", "test"}))
      ->default_str("test");
  auto *count = verb->add_option("--count", arguments->count, "instances to export")
                    ->check(Range(int64_t{1}, int64_t{1} << 32))
                    ->capture_default_str();
  verb->add_option("--seed", arguments->seed, "of the data")->capture_default_str();
  addConvention(*verb, arguments->convention);
  auto *show = verb->add_option("--show", arguments->show, "print this many instances (default 3)")
                   ->check(Range(int64_t{1}, int64_t{1000000}));
  auto *stats = verb->add_option("--stats", arguments->stats,
                                 "tell what this many instances are like, instead of printing them")
                    ->check(Range(int64_t{1}, int64_t{1} << 32));
  auto *exports =
      verb->add_option("--export", arguments->out, "folder for inputs.npy and targets.npy")
          ->excludes(show)
          ->excludes(stats);
  verb->add_flag("--json", arguments->json, "print --stats as JSON")->needs(stats)->excludes(show);
  verb->callback([arguments, count, show, stats, exports] {
    if (show->empty() && stats->empty() && exports->empty())
      arguments->show = count->empty() ? 3 : arguments->count;
    require(rt::viewTask(*arguments));
  });
}

} // namespace hybrid::tools
