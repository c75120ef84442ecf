//===- Progress.cpp - how a run is going, for the person watching ------------===//
#include "training/record/Progress.h"
#include "runtime/files/Print.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace hybrid::rt {

std::string clockText(double seconds) {
  if (!(seconds >= 0) || seconds > 1e8)
    return "?";
  auto whole = static_cast<int64_t>(std::lround(seconds));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string progressLine(const ProgressReport &report, int width) {
  std::string numbers = fmt::format("loss {:.4f}  accuracy {:.4f}  {:.0f} tokens/s", report.loss,
                                    report.accuracy, report.tokensPerSecond);
  if (report.secondsLeft >= 0)
    numbers += "  " + clockText(report.secondsLeft) + " left";
  std::string head = report.steps ? fmt::format("step {}/{} ", report.step, report.steps)
                                  : fmt::format("step {} ", report.step);
  // Width 0: not a terminal, no bar and no limit.
  int room = width - static_cast<int>(head.size() + numbers.size()) - 4;
  if (report.steps && room >= 8) {
    int cells = std::min(room, 30);
    int full = static_cast<int>(cells * std::min(1.0, static_cast<double>(report.step) /
                                                          static_cast<double>(report.steps)));
    head += "[" + std::string(static_cast<size_t>(full), '#') +
            std::string(static_cast<size_t>(cells - full), '.') + "] ";
  }
  std::string line = head + " " + numbers;
  if (width > 0 && line.size() > static_cast<size_t>(width))
    line.resize(static_cast<size_t>(width));
  return line;
}

static int terminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

Progress::Progress(bool quiet) : quiet(quiet) {
  const char *term = std::getenv("TERM"), *noColour = std::getenv("NO_COLOR");
  terminal = isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb";
  colour = terminal && !(noColour && *noColour);
}

Progress::~Progress() {
  if (drawn)
    std::fputc('\n', stderr);
}

void Progress::clear() {
  if (drawn)
    std::fputs("\r\033[K", stderr);
  drawn = false;
}

void Progress::update(const ProgressReport &report) {
  if (quiet)
    return;
  if (!terminal) {
    say(stderr, "{}\n", progressLine(report, 0));
    return;
  }
  clear();
  std::string line = progressLine(report, terminalWidth() - 1);
  say(stderr, "{}{}{}", colour ? "\033[36m" : "", line, colour ? "\033[0m" : "");
  std::fflush(stderr);
  drawn = true;
}

void Progress::note(const std::string &text) {
  if (quiet)
    return;
  clear();
  say(stderr, "{}\n", text);
}

} // namespace hybrid::rt
