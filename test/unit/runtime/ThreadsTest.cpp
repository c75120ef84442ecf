//===- ThreadsTest.cpp - how many threads are right here ----------------------===//
#include "runtime/cpu/Threads.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>

namespace hybrid::rt {
namespace {

class ControlGroups : public testing::Test {
protected:
  ControlGroups() : root(std::filesystem::path(testing::TempDir()) / "control-groups") {
    std::filesystem::remove_all(root);
  }
  ~ControlGroups() override { std::filesystem::remove_all(root); }
  void write(const std::string &file, const std::string &text) {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  double quota(const std::string &membership) {
    return quotaOfControlGroup(root.string(), membership);
  }
  std::filesystem::path root;
};

/// OMP_NUM_THREADS for the length of a test.
struct Environment {
  explicit Environment(const char *value) {
    if (const char *set = std::getenv(name))
      before = set;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { before.empty() ? unsetenv(name) : setenv(name, before.c_str(), 1); }
  static constexpr const char *name = "OMP_NUM_THREADS";
  std::string before;
};

} // namespace

TEST_F(ControlGroups, TheLeastQuotaAboveCounts) {
  write("cpu.max", "max 100000\n");
  write("jobs/cpu.max", "150000 100000\n");
  write("jobs/mine/cpu.max", "800000 200000\n");
  EXPECT_DOUBLE_EQ(quota("0::/jobs/mine\n"), 1.5);
  EXPECT_DOUBLE_EQ(quota("0::/jobs\n"), 1.5);
  EXPECT_DOUBLE_EQ(quota("0::/\n"), 0);
}

TEST_F(ControlGroups, APathOfTheHostLeavesTheRoot) {
  write("cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(quota("0::/docker/4711\n"), 0.5);
}

TEST_F(ControlGroups, FirstVersion) {
  write("cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n");
  write("cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(quota("5:memory:/a\n4:cpu,cpuacct:/a\n"), 2.5);
}

TEST_F(ControlGroups, NonsenseIsNoLimit) {
  write("cpu.max", "nonsense");
  EXPECT_DOUBLE_EQ(quota("0::/\n"), 0);
  EXPECT_DOUBLE_EQ(quota("rubbish\n::\n\n"), 0);
  EXPECT_DOUBLE_EQ(quota(""), 0);
}

TEST(Threads, OpenMpsVariableDecides) {
  for (const auto &[value, threads] : {std::pair("3", 3), {"5,2", 5}}) {
    Environment environment(value);
    EXPECT_EQ(chooseThreads().threads, threads);
    EXPECT_EQ(chooseThreads().reason, "OMP_NUM_THREADS");
  }
  for (const char *value : {"0", "-1", "many", "", "2x"}) {
    Environment environment(value);
    EXPECT_NE(chooseThreads().reason, "OMP_NUM_THREADS") << value;
    EXPECT_GE(chooseThreads().threads, 1);
  }
}

TEST(Threads, NoMoreThanTheCpusItMayRunOn) {
  Environment environment(nullptr);
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(availableThreads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

} // namespace hybrid::rt
