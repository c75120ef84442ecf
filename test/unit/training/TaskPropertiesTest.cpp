// What every instance of every task must be like, whatever the task: shapes and ranges, something
// asked, answers that a solver finds without looking ahead, the same instances for any number of
// threads, and a training set that shares nothing with the test.
#include "TaskInstance.h"
#include "TaskOracles.h"
#include "training/data/Source.h"
#include <set>
#include <thread>

using namespace hybrid::rt;
using namespace hybrid::test;

namespace {

/// Besides its defaults, what a task is tried with: odd counts, the smallest there is, each
/// setting.
const std::map<std::string, std::vector<std::string>> variants = {
    {"in-context-recall",
     {"vocab=17,length=40", "vocab=128", "multi_query=false", "vocab=2,length=4",
      "vocab=20,noise_vocab=5,frac_noise=0.5,length=30,multi_query=false"}},
    {"noisy-in-context-recall", {"frac_noise=0.8", "vocab=144,length=256"}},
    {"fuzzy-in-context-recall",
     {"multi_query=false", "vocab=8,length=24,k_motif=2,v_motif=2", "vocab=128,length=200",
      "vocab=3,length=5,k_motif=1,v_motif=1", "vocab=9,length=17,k_motif=4,v_motif=4"}},
    {"selective-copying",
     {"tokens_to_copy=96", "vocab=3,length=4,tokens_to_copy=1", "vocab=128,length=512",
      "layout=paper", "layout=paper,vocab=3,length=4,tokens_to_copy=1"}},
    {"memorization", {"vocab=9,length=8", "vocab=512", "vocab=3,length=2"}},
    {"compression", {"vocab=128,length=64", "vocab=2,length=2"}},
    {"associative-recall",
     {"vocab=4,length=2", "vocab=41,length=64", "vocab=12,length=30,num_keys=2",
      "vocab=8,length=40,num_keys=3"}},
    {"majority", {"vocab=40,length=7", "vocab=3,length=2", "vocab=2,length=1", "vocab=5,length=4"}},
    {"counting",
     {"vocab=9,length=7,most=5", "vocab=4,length=1,most=1", "vocab=23,length=20,most=20"}},
    {"arithmetic", {"digits=1", "digits=2", "digits=16"}},
    {"safari-induction", {"vocab=3,length=3", "vocab=10,length=100"}},
    {"mamba-selective-copying",
     {"vocab=3,length=1,tokens_to_copy=1", "length=64,tokens_to_copy=8",
      "length=9,tokens_to_copy=9"}},
    {"induction-heads", {"vocab=2,length=4", "vocab=40,length=5", "length=64"}},
    {"multi-query-recall",
     {"vocab=12,length=16,pairs=2,distractors=false", "vocab=4,length=4,pairs=1",
      "vocab=64,length=128,pairs=31,power=1"}},
    {"joint-recall",
     {"vocab=6,contexts=1,keys=2", "contexts=1,keys=1", "vocab=100,contexts=7,keys=5"}},
    {"word-problem",
     {"group=Z2,length=9", "group=A4,length=40,train_length=10", "group=S4,swaps=true,length=33",
      "group=S5,length=20"}},
    {"parity", {"length=12,train_longest=6,test_shortest=7", "length=2"}},
    {"modular-arithmetic",
     {"brackets=true", "modulus=7,length=3", "modulus=3,brackets=true,length=30"}},
    {"mano", {"operators=1,modulus=11", "operators=40", "modulus=1000,operators=3"}},
    {"depo",
     {"nodes=3,letters=6,longest=1,hops=1,questions=1", "nodes=8,hops=30,questions=99",
      "nodes=40,hops=16,letters=3,shortest=5,longest=7"}},
};

std::vector<std::string> specsOf(const std::string &name) {
  std::vector<std::string> specs = {name};
  auto more = variants.find(name);
  EXPECT_NE(more, variants.end()) << name << " is tried with its defaults only";
  if (more != variants.end())
    for (const std::string &settings : more->second)
      specs.push_back(name + ":" + settings);
  return specs;
}

/// Instances that make the tests of long ones as quick as those of short ones.
uint64_t instancesOf(const Task &task) {
  return std::max<uint64_t>(10, 20000 / static_cast<uint64_t>(task.positions()));
}

/// Those of numbers have a test of their own: LinearFunctionsTest.cpp.
std::vector<std::string> tasksOfTokens() {
  std::vector<std::string> names = taskNames();
  std::erase_if(names, [](const std::string &name) { return make(name)->inputNumbers() > 0; });
  return names;
}

/// Tasks whose questions don't say that they are some: a solver answers everywhere.
bool asksUnmarked(const Task &task) {
  return task.name() == "parity" || task.name() == "multi-query-recall";
}

/// Sums of few digits and expressions of few tokens meet the same again.
bool repeatsItself(const Task &task) {
  static const std::set<std::string> names = {"arithmetic", "parity", "modular-arithmetic", "mano"};
  return names.contains(task.name());
}

class EveryTask : public testing::TestWithParam<std::string> {};

std::string testName(const testing::TestParamInfo<std::string> &info) {
  std::string name;
  for (char c : info.param)
    name += c == '-' ? '_' : c;
  return name;
}

} // namespace

TEST_P(EveryTask, ShapesRangesAndSomethingAsked) {
  for (const std::string &spec : specsOf(GetParam()))
    for (Convention convention : {Convention::Paper, Convention::MadLab}) {
      auto task = make(spec, convention);
      expectWellFormed(*task);
      // Its spec makes it again, with nothing left to the convention.
      EXPECT_EQ(make(task->spec())->spec(), task->spec());
      EXPECT_GE(task->epochExamples(), 1u);
      for (int32_t token = 0; token < std::min<int64_t>(task->vocabulary(), 50); ++token)
        EXPECT_FALSE(task->spell(token).empty());
    }
}

TEST_P(EveryTask, ASolverThatDoesNotLookAheadFindsEveryAnswer) {
  for (const std::string &spec : specsOf(GetParam())) {
    auto task = make(spec);
    Oracle oracle = oracleOf(*task, defaultDataSeed);
    ASSERT_TRUE(oracle) << "no solver of " << task->name();
    // A solver reads all that came before at every position.
    auto positions = static_cast<uint64_t>(task->positions());
    uint64_t instances =
        std::max<uint64_t>(2, std::min<uint64_t>(300, 3000000 / (positions * positions)));
    for (uint64_t i = 0; i < instances; ++i) {
      Drawn instance = draw(*task, Split::Test, i);
      for (size_t t = 0; t < positions; ++t)
        if (!asksUnmarked(*task) || instance.targets[t] != ignoredTarget)
          ASSERT_EQ(oracle(std::span(instance.inputs).first(t + 1)), instance.targets[t])
              << spec << " instance " << i << " position " << t;
    }
  }
}

TEST_P(EveryTask, SameSeedSameInstancesForAnyNumberOfThreads) {
  for (const std::string &spec : specsOf(GetParam())) {
    auto task = make(spec);
    uint64_t count = std::min<uint64_t>(200, instancesOf(*task));
    for (Split split : {Split::Train, Split::Test}) {
      std::vector<Drawn> together(count);
      std::vector<std::thread> workers;
      for (uint64_t worker = 0; worker < 3; ++worker)
        workers.emplace_back([&, worker] {
          for (uint64_t i = worker; i < count; i += 3)
            together[count - 1 - i] = draw(*task, split, count - 1 - i);
        });
      for (std::thread &worker : workers)
        worker.join();
      auto again = make(spec);
      for (uint64_t i = 0; i < count; ++i) {
        Drawn alone = draw(*again, split, i);
        ASSERT_EQ(alone.inputs, together[i].inputs) << spec;
        ASSERT_EQ(alone.targets, together[i].targets) << spec;
      }
    }
  }
}

TEST_P(EveryTask, SeedsAndSplitsShareNoInstances) {
  auto task = make(GetParam());
  uint64_t count = std::min<uint64_t>(2000, 4 * instancesOf(*task));
  std::set<std::vector<int32_t>> train;
  for (uint64_t i = 0; i < count; ++i)
    train.insert(draw(*task, Split::Train, i).inputs);
  if (!repeatsItself(*task)) {
    EXPECT_EQ(train.size(), count);
  }
  uint64_t shared = 0;
  for (uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(train.count(draw(*task, Split::Test, i).inputs), 0u);
    shared += train.count(draw(*task, Split::Train, i, 1).inputs);
  }
  if (!repeatsItself(*task)) {
    EXPECT_LE(shared, count / 100);
  }
}

TEST_P(EveryTask, UnknownSettingsAreRefusedByName) {
  std::string message = refusal(GetParam() + ":nonsense=1");
  EXPECT_NE(message.find("task " + GetParam() + ": it has no parameter 'nonsense'"),
            std::string::npos)
      << message;
  auto task = make(GetParam());
  for (const auto &[key, value] : task->settings())
    EXPECT_NE(message.find(key), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Tasks, EveryTask, testing::ValuesIn(tasksOfTokens()), testName);

TEST(TaskSource, EverySeedOfARunTrainsOnOtherExamples) {
  std::set<std::vector<int32_t>> seen;
  for (uint64_t seed :
       {uint64_t{0}, uint64_t{1}, uint64_t{1} << 24, uint64_t{1} << 40, UINT64_MAX}) {
    auto source = makeTaskSource(make("in-context-recall"), Convention::Paper, {seed});
    std::vector<int32_t> inputs(static_cast<size_t>(source->positions())), targets(inputs.size());
    source->train(0, inputs, targets);
    EXPECT_TRUE(seen.insert(inputs).second) << seed;
  }
}
