//===- Threads.h - how many threads this process should use -------------------===//
#pragma once
#include <string>

namespace hybrid::rt {

struct ThreadChoice {
  int threads = 1;
  /// What decided: "OMP_NUM_THREADS", "CPUs it may run on", "CPU quota of its control group".
  std::string reason;
};

/// OMP_NUM_THREADS where it is set to a number (or a list, of which the first counts); otherwise as
/// many as the CPUs this process may run on, and no more than its control group's quota of CPU
/// time pays for, rounded up.
ThreadChoice chooseThreads();

/// The number alone.
int availableThreads();

/// CPUs' worth of time that a control group below the folder `root` (/sys/fs/cgroup) may use, the
/// least of it and all around it; `membership` is the text of /proc/self/cgroup. 0: no limit.
/// Reads version 2 (cpu.max) and version 1 (cpu.cfs_quota_us).
double quotaOfControlGroup(const std::string &root, const std::string &membership);

} // namespace hybrid::rt
