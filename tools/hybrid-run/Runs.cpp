//===- Runs.cpp - hybrid-run watch and compare: what run folders show ------------------===//
#include "laboratory/RunView.h"
#include "laboratory/StudyWatch.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/Signals.h"
#include <algorithm>
#include <chrono>
#include <thread>
#include <unistd.h>

namespace hybrid::tools {
namespace {

std::vector<rt::lab::RunView> readRuns(const std::vector<std::string> &paths) {
  std::vector<rt::lab::RunView> runs;
  for (const std::string &path : paths)
    runs.push_back(valueOf(rt::lab::readRun(path)));
  return runs;
}

/// Shows the runs anew every second until all have ended or somebody has seen enough.
void watch(const std::vector<std::string> &paths, bool once) {
  const bool isTerminal = isatty(STDOUT_FILENO);
  rt::StopSignals signals;
  for (int64_t lines = 0;;) {
    const std::vector<rt::lab::RunView> runs = readRuns(paths);
    const std::string text = watchText(runs, rt::lab::terminalWidth(STDOUT_FILENO));
    if (lines > 0)
      rt::say("\033[{}A\033[J", lines);
    rt::say("{}", text);
    std::fflush(stdout);
    lines = std::count(text.begin(), text.end(), '\n');
    if (once || !isTerminal || std::ranges::all_of(runs, &rt::lab::RunView::isFinished))
      return;
    for (int i = 0; i < 10; ++i) {
      if (signals.received())
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

} // namespace

void addRuns(CLI::App &app) {
  struct Arguments {
    std::vector<std::string> runs;
    bool once = false, json = false, csv = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto *watching = app.add_subcommand("watch", "see how runs are going, while they go on");
  watching->add_option("run", arguments->runs, "folders of runs")->required();
  watching->add_flag("--once", arguments->once, "show it once, as it is off a terminal");
  watching->callback([arguments] { watch(arguments->runs, arguments->once); });

  auto *comparing =
      app.add_subcommand("compare", "losses and speed of runs, and the settings that differ");
  comparing->add_option("run", arguments->runs, "folders of runs")->required();
  auto *json = comparing->add_flag("--json", arguments->json, "as JSON");
  comparing->add_flag("--csv", arguments->csv, "as CSV, a line a run")->excludes(json);
  comparing->callback([arguments] {
    const std::vector<rt::lab::RunView> runs = readRuns(arguments->runs);
    if (arguments->json)
      rt::say("{}\n", rt::jsonText(compareJson(runs)));
    else if (arguments->csv)
      rt::say("{}", compareCsv(runs));
    else
      rt::say("{}", compareText(runs, rt::lab::terminalWidth(STDOUT_FILENO)));
  });
}

} // namespace hybrid::tools
