//===- Process.cpp - other programs, run without a shell --------------------------===//
#include "training/compile/Process.h"
#include "training/Signals.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace hybrid::rt {
namespace {

Result<pid_t> spawn(const std::string &program, const std::vector<std::string> &arguments,
                    const posix_spawn_file_actions_t *actions) {
  std::vector<char *> argv{const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (int error = posix_spawn(&child, program.c_str(), actions, nullptr, argv.data(), environ))
    return Error{fmt::format("cannot run '{}': {}", program, std::strerror(error))};
  return child;
}

/// Passes on that this process is asked to stop.
class StopPassedOn {
public:
  StopPassedOn(std::string program, pid_t child) : program(std::move(program)), child(child) {}
  void look() {
    if (const char *signal = StopSignals::pending(); signal && !told) {
      told = signal;
      kill(child, SIGTERM);
    }
  }
  std::optional<Error> error() const {
    if (!told)
      return std::nullopt;
    return Error{fmt::format("{} was stopped by {}", program, told)};
  }

private:
  std::string program;
  pid_t child;
  const char *told = nullptr;
};

/// Waits for a child's end.
Result<ProgramEnd> endOf(const std::string &program, pid_t child, StopPassedOn &stop) {
  int status = 0;
  for (int milliseconds = 1;; milliseconds = std::min(50, 2 * milliseconds)) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR)
      return Error{fmt::format("lost '{}': {}", program, std::strerror(errno))};
    if (ended == child)
      break;
    stop.look();
    poll(nullptr, 0, milliseconds);
  }
  if (auto stopped = stop.error())
    return *stopped;
  return WIFEXITED(status) ? ProgramEnd{WEXITSTATUS(status), 0} : ProgramEnd{-1, WTERMSIG(status)};
}

/// Both ends of a pipe, closed with it; a child does not inherit them.
struct Pipe {
  int ends[2] = {-1, -1};
  Result<void> open() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      return Error{fmt::format("cannot make a pipe: {}", std::strerror(errno))};
    return {};
  }
  ~Pipe() {
    shut(0);
    shut(1);
  }
  void shut(int end) {
    if (ends[end] >= 0)
      close(ends[end]);
    ends[end] = -1;
  }
};

} // namespace

Result<ProgramOutput> runForOutput(const std::string &program,
                                   const std::vector<std::string> &arguments) {
  Pipe out, err;
  for (Pipe *pipe : {&out, &err})
    if (auto done = pipe->open(); !done)
      return done.error();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  auto child = spawn(program, arguments, &actions);
  posix_spawn_file_actions_destroy(&actions);
  if (!child)
    return child.error();
  out.shut(1);
  err.shut(1);
  ProgramOutput output;
  pollfd watched[2] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
  std::string *texts[2] = {&output.out, &output.err};
  char buffer[1 << 14];
  StopPassedOn stop(program, *child);
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    stop.look();
    int ready = poll(watched, 2, 200);
    if (ready < 0 && errno != EINTR)
      break;
    if (ready <= 0)
      continue;
    for (int i = 0; i < 2; ++i) {
      if (watched[i].fd < 0 || !watched[i].revents)
        continue;
      ssize_t got = read(watched[i].fd, buffer, sizeof buffer);
      if (got > 0)
        texts[i]->append(buffer, static_cast<size_t>(got));
      else if (got == 0 || errno != EINTR)
        watched[i].fd = -1;
    }
  }
  auto end = endOf(program, *child, stop);
  if (!end)
    return end.error();
  static_cast<ProgramEnd &>(output) = *end;
  return output;
}

Result<ProgramEnd> runProgram(const std::string &program,
                              const std::vector<std::string> &arguments) {
  auto child = spawn(program, arguments, nullptr);
  if (!child)
    return child.error();
  StopPassedOn stop(program, *child);
  return endOf(program, *child, stop);
}

std::string ProgramEnd::text() const {
  if (signal == 0)
    return fmt::format("exit status {}", status);
  const char *name = sigabbrev_np(signal);
  std::string text = name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
  if (signal == SIGKILL)
    text += ", likely because memory ran out";
  return text;
}

Result<pid_t> startProgram(const std::string &program, const std::vector<std::string> &arguments) {
  return spawn(program, arguments, nullptr);
}

std::string shellWord(const std::string &word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$*?;&|<>()[]{}") == std::string::npos)
    return word;
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string commandLine() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string word, text;
  while (std::getline(file, word, '\0'))
    text += (text.empty() ? "" : " ") + shellWord(word);
  return text;
}

} // namespace hybrid::rt
