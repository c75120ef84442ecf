//===- Paper.cpp - hybrid-run paper: a table or figure, printed beside measured ----===//
#include "laboratory/paper/Paper.h"
#include "laboratory/paper/Preset.h"
#include "runtime/files/Print.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {
namespace {

struct PaperArguments {
  rt::lab::PaperOptions paper;
  bool list = false, presets = false;
};

} // namespace

void addPaper(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "paper", "measure a table or figure of the papers, and show it beside what is printed");
  auto arguments = std::make_shared<PaperArguments>();
  rt::lab::PaperOptions &paper = arguments->paper;
  paper.version = version;
  verb->add_option("recipe", paper.recipe, "a name that --list shows, or a recipe's file (.json)");
  verb->add_flag("--list", arguments->list,
                 "every table and figure, and what can be done about it");
  verb->add_flag("--presets", arguments->presets,
                 "how the papers trained, by the names that `hybrid-run train --preset` takes");
  verb->add_option("--budget", paper.budget, "minutes, hours or full")
      ->check(CLI::IsMember({"minutes", "hours", "full"}))
      ->capture_default_str();
  verb->add_option("--rows", paper.rows, "measure only these of the recipe's models");
  verb->add_option("--seed", paper.seed, "of the trainings, the first where there are several");
  verb->add_option("--out", paper.out, "folder; one that is there is continued");
  addWorkers(*verb, paper.jobs, paper.threads);
  verb->add_flag("--json", paper.json, "for scripts");
  verb->add_flag("--quiet", paper.quiet, "no progress on standard error");
  verb->callback([arguments] {
    rt::lab::PaperOptions &paper = arguments->paper;
    paper.papers = papersFolder();
    if (arguments->presets)
      return rt::say("{}", rt::lab::presetTable(rt::lab::presets()));
    if (!arguments->list && paper.recipe.empty())
      throw Failure("which recipe? `hybrid-run paper --list` shows them");
    require(arguments->list ? rt::lab::listPapers(paper.papers, paper.json)
                            : rt::lab::runPaper(paper));
  });
}

} // namespace hybrid::tools
