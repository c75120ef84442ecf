// Memorization: one map for everything that has the same seed, and nothing of it in the inputs.
#include "TaskInstance.h"
#include "training/data/Source.h"
#include <set>

using namespace hybrid::rt;
using namespace hybrid::test;

namespace {

/// The map as instances of a split tell it; every key's answers must agree.
std::map<int32_t, int32_t> learn(const Task &task, Split split, uint64_t instances,
                                 uint64_t seed = defaultDataSeed) {
  std::map<int32_t, int32_t> map;
  for (uint64_t i = 0; i < instances; ++i) {
    Drawn instance = draw(task, split, i, seed);
    for (size_t t = 0; t < instance.inputs.size(); t += 2) {
      auto [fact, fresh] = map.try_emplace(instance.inputs[t], instance.targets[t + 1]);
      EXPECT_EQ(fact->second, instance.targets[t + 1]) << "key " << fact->first;
    }
  }
  return map;
}

} // namespace

TEST(Memorization, KeysAndInsertTokensTakeTurns) {
  for (const auto &[spec, vocab, length] : {std::tuple{"memorization", 256, 32},
                                            {"memorization:vocab=9,length=8", 9, 8},
                                            {"memorization:vocab=8192", 8192, 32},
                                            {"memorization:vocab=3,length=2", 3, 2}}) {
    auto task = make(spec);
    EXPECT_EQ(task->vocabulary(), vocab);
    EXPECT_EQ(task->positions(), length);
    expectWellFormed(*task);
    int32_t keys = (vocab - 1) / 2;
    for (uint64_t i = 0; i < 100; ++i) {
      Drawn instance = draw(*task, Split::Train, i);
      for (size_t t = 0; t < instance.inputs.size(); t += 2) {
        EXPECT_TRUE(instance.inputs[t] >= 0 && instance.inputs[t] < keys);
        EXPECT_EQ(instance.targets[t], ignoredTarget);
        EXPECT_EQ(instance.inputs[t + 1], vocab - 1);
        EXPECT_TRUE(instance.targets[t + 1] >= keys && instance.targets[t + 1] < vocab - 1);
      }
    }
  }
}

TEST(Memorization, OneInjectiveMapForBothSplits) {
  auto task = make("memorization");
  auto train = learn(*task, Split::Train, 256), test = learn(*task, Split::Test, 1280);
  EXPECT_EQ(train.size(), 127u); // all that there are are shown
  EXPECT_EQ(train, test);
  std::set<int32_t> values;
  for (const auto &[key, value] : train)
    values.insert(value);
  EXPECT_EQ(values.size(), 127u); // 128 ids, one is never used
  // Longer instances ask the same facts; another seed has another map.
  EXPECT_EQ(learn(*make("memorization:length=64"), Split::Train, 256), train);
  auto other = learn(*task, Split::Train, 256, 1);
  EXPECT_NE(other, train);
  int agree = 0;
  for (const auto &[key, value] : train)
    agree += other[key] == value;
  EXPECT_LT(agree, 9); // one is expected
}

TEST(Memorization, EveryMapIsEquallyLikely) {
  auto task = make("memorization:vocab=8,length=40"); // keys 0-2, values 3-6
  std::map<std::vector<int32_t>, double> maps;
  constexpr int seeds = 12000;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    auto map = learn(*task, Split::Test, 1, seed);
    if (map.size() == 3)
      ++maps[{map[0], map[1], map[2]}];
  }
  EXPECT_EQ(maps.size(), 24u);
  std::vector<double> counts;
  counts.reserve(maps.size());
  for (const auto &[map, count] : maps)
    counts.push_back(count);
  EXPECT_LT(chiSquare(counts), 60); // 23 degrees of freedom, well under one in a thousand
}

TEST(Memorization, KeysAreUniform) {
  auto task = make("memorization:vocab=21");
  std::vector<double> counts(10);
  for (uint64_t i = 0; i < 1000; ++i) {
    Drawn instance = draw(*task, Split::Train, i);
    for (size_t t = 0; t < instance.inputs.size(); t += 2)
      ++counts[static_cast<size_t>(instance.inputs[t])];
  }
  EXPECT_LT(chiSquare(counts), 27.9); // nine degrees of freedom, one in a thousand
}

TEST(Memorization, RunsShareTheMapAndAnEpochIsMads) {
  std::vector<int32_t> inputs(32), targets(32);
  auto facts = learn(*make("memorization"), Split::Test, 1280);
  for (uint64_t runSeed : {0, 7}) {
    auto source = makeTaskSource(make("memorization"), Convention::Paper, {runSeed});
    EXPECT_EQ(source->epochExamples(), 256u);
    source->train(3, inputs, targets);
    for (size_t t = 0; t < 32; t += 2)
      EXPECT_EQ(facts[inputs[t]], targets[t + 1]);
  }
}

TEST(Memorization, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("memorization:length=31").find("length must be even"), std::string::npos);
  EXPECT_NE(refusal("memorization:vocab=2").find("from 3"), std::string::npos);
  EXPECT_NE(refusal("memorization:length=0").find("from 2"), std::string::npos);
  EXPECT_NE(refusal("memorisation").find("did you mean 'memorization'"), std::string::npos);
}
