//===- Threads.cpp - how many threads this process should use -----------------===//
#include "runtime/cpu/Threads.h"
#include "runtime/cpu/Team.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sched.h>
#include <sstream>
#include <string_view>

namespace hybrid::rt {
namespace {

int cpusOfAffinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  return 1;
}

/// The first number of OMP_NUM_THREADS; none where it is not set or is no such number.
std::optional<int> threadsOfOpenMp() {
  const char *value = std::getenv("OMP_NUM_THREADS");
  if (!value)
    return {};
  std::string_view text = value;
  text = text.substr(0, text.find(','));
  int threads = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (fault != std::errc() || end != text.data() + text.size() || threads < 1)
    return {};
  return std::min(threads, mostThreads);
}

/// "max 100000", "150000 100000"; a quota of -1 is none.
double quotaOf(const std::string &quota, const std::string &period) {
  const double used = std::strtod(quota.c_str(), nullptr),
               of = std::strtod(period.c_str(), nullptr);
  return used > 0 && of > 0 ? used / of : 0;
}

std::string wordOf(const std::filesystem::path &file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

double quotaOfFolder(const std::filesystem::path &folder, bool second) {
  if (!second)
    return quotaOf(wordOf(folder / "cpu.cfs_quota_us"), wordOf(folder / "cpu.cfs_period_us"));
  std::ifstream in(folder / "cpu.max");
  std::string quota, period;
  in >> quota >> period;
  return quotaOf(quota, period);
}

} // namespace

double quotaOfControlGroup(const std::string &root, const std::string &membership) {
  double least = 0;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    // "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
    const size_t first = line.find(':'), last = line.find(':', first + 1);
    if (last == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, last - first - 1);
    const bool second = controllers.empty();
    if (!second && ("," + controllers + ",").find(",cpu,") == std::string::npos)
      continue;
    const std::filesystem::path top =
        second ? std::filesystem::path(root) : std::filesystem::path(root) / controllers;
    auto path = std::filesystem::path(line.substr(last + 1)).relative_path();
    // In a container the path may be one that only the host sees: what is there is read.
    for (bool more = true; more; path = path.parent_path()) {
      if (const double quota = quotaOfFolder(top / path, second); quota > 0)
        least = least > 0 ? std::min(least, quota) : quota;
      more = !path.empty();
    }
  }
  return least;
}

ThreadChoice chooseThreads() {
  if (auto threads = threadsOfOpenMp())
    return {*threads, "OMP_NUM_THREADS"};
  const int cpus = cpusOfAffinity();
  std::ifstream in("/proc/self/cgroup");
  std::stringstream membership;
  membership << in.rdbuf();
  const double quota = quotaOfControlGroup("/sys/fs/cgroup", membership.str());
  if (quota > 0 && std::ceil(quota) < cpus)
    return {std::max(1, static_cast<int>(std::ceil(quota))), "CPU quota of its control group"};
  return {cpus, "CPUs it may run on"};
}

int availableThreads() { return chooseThreads().threads; }

} // namespace hybrid::rt
