//===- StudyWatch.cpp - how a study is doing, for the person watching ---------------===//
#include "laboratory/StudyWatch.h"
#include "laboratory/Table.h"
#include "runtime/files/Print.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace hybrid::rt::lab {

static bool isOver(const Run &run) { return run.status == "done" || run.status == "failed"; }

int terminalWidth(int descriptor) {
  winsize size{};
  return isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

StudyWatch::StudyWatch(RunStore store, bool quiet) : store(std::move(store)), quiet(quiet) {
  const char *term = std::getenv("TERM");
  terminal = isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb";
}

Result<StudyWatch> StudyWatch::open(const std::string &database, bool quiet) {
  auto store = RunStore::open(database, workerName());
  if (!store)
    return store.error();
  StudyWatch watch(std::move(*store), quiet);
  auto study = watch.store.study(/*curves=*/false);
  if (!study)
    return study.error();
  for (const Run &run : study->runs)
    if (isOver(run))
      watch.told.insert(run.id);
  return watch;
}

Result<void> StudyWatch::show() {
  auto now = std::chrono::steady_clock::now();
  if (quiet || (shown && now - *shown < std::chrono::milliseconds(900)))
    return {};
  shown = now;
  auto study = store.study(/*curves=*/false);
  if (!study)
    return study.error();
  if (terminal) {
    clear();
    const std::string table = progressTable(*study, terminalWidth(STDERR_FILENO));
    lines = std::count(table.begin(), table.end(), '\n');
    say(stderr, "{}", table);
  } else {
    for (const Run &run : study->runs)
      if (isOver(run) && told.insert(run.id).second)
        say(stderr, "{}\n", runLine(*study, run, told.size()));
  }
  std::fflush(stderr);
  return {};
}

Result<void> StudyWatch::last() {
  shown.reset();
  auto done = show();
  if (terminal)
    clear();
  return done;
}

void StudyWatch::clear() {
  if (lines > 0)
    say(stderr, "\033[{}A\033[J", lines);
  lines = 0;
}

} // namespace hybrid::rt::lab
