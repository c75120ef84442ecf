// The properties that every instance of the recall tasks has, checked by a solver that reads the
// inputs from left to right and remembers pairs.
#include "TaskInstance.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <thread>

using namespace hybrid::rt;
using namespace hybrid::test;

namespace {

/// What a test instance must ask: the value of every key seen before, and nothing else.
std::vector<int32_t> solve(const std::vector<int32_t> &inputs, int32_t keys, int32_t values,
                           bool multiQuery) {
  std::vector<int32_t> answers(inputs.size(), ignoredTarget);
  std::map<int32_t, int32_t> map;
  for (size_t t = 0; t < inputs.size(); ++t) {
    int32_t token = inputs[t];
    bool isKey = token < keys;
    if (!isKey)
      continue;
    bool last = t + 1 == inputs.size();
    if (map.count(token) && (multiQuery || last))
      answers[t] = map[token];
    if (!last && inputs[t + 1] >= keys && inputs[t + 1] < keys + values)
      map[token] = inputs[t + 1];
  }
  return answers;
}

} // namespace

TEST(Recall, BaselineHasTheStatedShape) {
  auto task = make("in-context-recall");
  EXPECT_EQ(task->vocabulary(), 16);
  EXPECT_EQ(task->positions(), 127);
  int complete = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    Drawn instance = draw(*task, Split::Test, i);
    std::set<int32_t> keys;
    for (size_t t = 0; t < 127; ++t) {
      ASSERT_TRUE(t % 2 ? instance.inputs[t] >= 8 && instance.inputs[t] < 16
                        : instance.inputs[t] >= 0 && instance.inputs[t] < 8);
      if (t % 2 == 0)
        keys.insert(instance.inputs[t]);
    }
    // 64 pairs less the first occurrences: 56 where all eight keys appear, as in all but one of 560
    // sequences.
    EXPECT_EQ(scored(instance), 64 - keys.size());
    complete += keys.size() == 8;
    EXPECT_NE(instance.targets.back(), ignoredTarget);
  }
  EXPECT_GE(complete, 295);
}

TEST(Recall, ACausalSolverAnswersEveryTestInstance) {
  struct Case {
    const char *spec;
    int32_t keys, values;
    bool multiQuery;
  };
  for (const Case &c : {Case{"in-context-recall", 8, 8, true},
                        {"in-context-recall:vocab=17,length=40", 8, 9, true},
                        {"in-context-recall:vocab=128", 64, 64, true},
                        {"in-context-recall:multi_query=false", 7, 8, false},
                        {"in-context-recall:vocab=2,length=4", 1, 1, true},
                        {"noisy-in-context-recall", 8, 8, true},
                        {"noisy-in-context-recall:frac_noise=0.8", 8, 8, true}}) {
    auto task = make(c.spec);
    for (uint64_t i = 0; i < 200; ++i) {
      Drawn instance = draw(*task, Split::Test, i);
      EXPECT_EQ(instance.targets, solve(instance.inputs, c.keys, c.values, c.multiQuery))
          << c.spec << " instance " << i;
      EXPECT_GE(scored(instance), 1u);
    }
  }
}

TEST(Recall, SingleQueryHasOnePrefixAndOneAnswer) {
  auto task = make("in-context-recall:multi_query=false");
  EXPECT_EQ(task->positions(), 128);
  Drawn instance = draw(*task, Split::Test, 0);
  EXPECT_EQ(scored(instance), 1u);
  EXPECT_EQ(std::count(instance.inputs.begin(), instance.inputs.end(), 15), 1);
  EXPECT_EQ(instance.inputs[126], 15);
}

TEST(Recall, ConventionsDecideTheTrainingTargets) {
  auto paper = make("in-context-recall:noise=pairs,map=drawn,train_targets=values");
  auto lab = make("in-context-recall", Convention::MadLab);
  auto masked = make("in-context-recall");
  for (uint64_t i = 0; i < 50; ++i) {
    Drawn a = draw(*paper, Split::Train, i), b = draw(*lab, Split::Train, i);
    Drawn c = draw(*masked, Split::Train, i);
    ASSERT_EQ(a.inputs, b.inputs);
    EXPECT_EQ(scored(a), 64u); // every value
    EXPECT_EQ(scored(b), 127u);
    EXPECT_EQ(c.targets, solve(c.inputs, 8, 8, true));
    for (size_t t = 0; t + 1 < a.inputs.size(); ++t) {
      EXPECT_EQ(b.targets[t], b.inputs[t + 1]);
      EXPECT_EQ(a.targets[t], t % 2 ? ignoredTarget : a.inputs[t + 1]);
    }
    EXPECT_EQ(draw(*paper, Split::Test, i).targets, draw(*lab, Split::Test, i).targets);
  }
}

TEST(Recall, NoiseComesInAlignedPairsAtItsShare) {
  for (double share : {0.2, 0.8}) {
    auto task =
        make("noisy-in-context-recall:frac_noise=" + std::to_string(share), Convention::MadLab);
    EXPECT_EQ(task->vocabulary(), 32);
    double noisePairs = 0, scoredTokens = 0;
    constexpr int instances = 2000;
    for (int i = 0; i < instances; ++i) {
      Drawn instance = draw(*task, Split::Test, static_cast<uint64_t>(i));
      for (size_t t = 0; t + 1 < instance.inputs.size(); t += 2) {
        bool first = instance.inputs[t] >= 16, second = instance.inputs[t + 1] >= 16;
        ASSERT_EQ(first, second);
        noisePairs += first;
        if (first) {
          EXPECT_EQ(instance.targets[t], ignoredTarget);
          EXPECT_EQ(instance.targets[t + 1], ignoredTarget);
        }
      }
      scoredTokens += static_cast<double>(scored(instance));
    }
    // 62 of the 63 ordinary slots may be noise, each with probability `share`.
    double expected = 62 * share, sigma = std::sqrt(62 * share * (1 - share) / instances);
    EXPECT_NEAR(noisePairs / instances, expected, 4 * sigma);
    EXPECT_NEAR(scoredTokens / instances, share < 0.5 ? 43.6 : 7.8, share < 0.5 ? 0.4 : 0.3);
  }
}

// As the paper has it: "noise tokens, from a separate vocabulary, are randomly inserted".
TEST(Recall, NoiseComesInSingleTokensBetweenPairs) {
  for (int share : {2, 8}) {
    auto task = make("noisy-in-context-recall:frac_noise=0." + std::to_string(share));
    std::vector<double> places(127);
    std::set<size_t> runs;
    for (uint64_t i = 0; i < 2000; ++i) {
      Drawn instance = draw(*task, Split::Test, i);
      int noise = 0;
      size_t run = 0;
      for (size_t t = 0; t < 127; ++t) {
        bool isNoise = instance.inputs[t] >= 16;
        noise += isNoise;
        places[t] += isNoise;
        run = isNoise ? run + 1 : 0;
        runs.insert(run);
        if (instance.inputs[t] < 8 && t < 126) { // no noise between a key and its value
          ASSERT_TRUE(instance.inputs[t + 1] >= 8 && instance.inputs[t + 1] < 16);
        }
      }
      EXPECT_EQ(noise, 2 * std::lround(0.1 * share * 63)); // of the 126 tokens before the probe
      EXPECT_LT(instance.inputs[126], 8);
    }
    EXPECT_TRUE(runs.count(1) && runs.count(3));
    EXPECT_GT(places[0], 0);
    EXPECT_GT(places[1], 0);
    EXPECT_EQ(places[126], 0);
  }
}

// "The mapping from keys to values is randomly shuffled between sequences": no value has two keys.
TEST(Recall, TheMapIsAShuffle) {
  auto paper = make("in-context-recall"), lab = make("in-context-recall", Convention::MadLab);
  auto shared = [](const Task &task) {
    int found = 0;
    for (uint64_t i = 0; i < 200; ++i) {
      Drawn instance = draw(task, Split::Test, i);
      std::map<int32_t, int32_t> keyOf;
      for (size_t t = 0; t + 1 < instance.inputs.size(); t += 2)
        found += keyOf.try_emplace(instance.inputs[t + 1], instance.inputs[t]).first->second !=
                 instance.inputs[t];
    }
    return found;
  };
  EXPECT_EQ(shared(*paper), 0);
  EXPECT_GT(shared(*lab), 1000);
}

TEST(Recall, KeysAndValuesAreUniform) {
  auto task = make("in-context-recall");
  double keys[8] = {}, values[8] = {};
  for (uint64_t i = 0; i < 2000; ++i) {
    Drawn instance = draw(*task, Split::Train, i);
    std::set<int32_t> seen;
    for (size_t t = 0; t + 1 < instance.inputs.size(); t += 2) {
      ++keys[instance.inputs[t]];
      if (seen.insert(instance.inputs[t]).second)
        ++values[instance.inputs[t + 1] - 8];
    }
  }
  EXPECT_LT(chiSquare(keys), 24.3); // seven degrees of freedom, one in a thousand
  EXPECT_LT(chiSquare(values), 24.3);
}

TEST(Recall, SameSeedSameInstancesForAnyWorkersAndSplitsAreDisjoint) {
  auto task = make("in-context-recall:length=64");
  std::vector<Drawn> alone, together(400);
  for (uint64_t i = 0; i < 400; ++i)
    alone.push_back(draw(*task, Split::Train, i));
  std::vector<std::thread> workers;
  for (uint64_t worker = 0; worker < 3; ++worker)
    workers.emplace_back([&, worker] {
      for (uint64_t i = worker; i < 400; i += 3)
        together[i] = draw(*task, Split::Train, i);
    });
  for (std::thread &worker : workers)
    worker.join();
  std::set<Drawn> train;
  for (size_t i = 0; i < 400; ++i) {
    EXPECT_EQ(alone[i].inputs, together[i].inputs);
    EXPECT_EQ(alone[i].targets, together[i].targets);
    train.insert(alone[i]);
  }
  EXPECT_EQ(train.size(), 400u);
  for (uint64_t i = 0; i < 400; ++i)
    EXPECT_EQ(train.count(draw(*task, Split::Test, i)), 0u);
  EXPECT_NE(draw(*task, Split::Train, 0, 1).inputs, draw(*task, Split::Train, 0, 2).inputs);
}

TEST(Recall, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("in-context-recall:length=127").find("length must be even"), std::string::npos);
  EXPECT_NE(refusal("in-context-recall:length=2").find("from 4"), std::string::npos);
  EXPECT_NE(refusal("in-context-recall:vocab=1").find("vocab"), std::string::npos);
  EXPECT_NE(refusal("in-context-recall:vocab=2,multi_query=false").find("vocab=2 leaves 1"),
            std::string::npos);
  EXPECT_NE(refusal("in-context-recall:vocab=16,noise_vocab=16").find("leaves 0"),
            std::string::npos);
  EXPECT_NE(refusal("in-context-recall:frac_noise=0.5").find("noise_vocab"), std::string::npos);
  EXPECT_NE(refusal("noisy-in-context-recall:frac_noise=1").find("below 1"), std::string::npos);
  EXPECT_NE(refusal("noisy-in-context-recall:frac_noise=nan").find("number"), std::string::npos);
  EXPECT_NE(refusal("in-context-recall:multi_query=maybe").find("true or false"),
            std::string::npos);
  EXPECT_NE(refusal("in-context-recall:lenght=128").find("did you mean 'length'"),
            std::string::npos);
  EXPECT_NE(refusal("in-context-recall:length").find("key=value"), std::string::npos);
  EXPECT_NE(refusal("in-context-recall:vocab=8,vocab=9").find("twice"), std::string::npos);
  EXPECT_NE(refusal("in-context-recal").find("did you mean 'in-context-recall'"),
            std::string::npos);
  EXPECT_NE(refusal("zzz").find("known: in-context-recall"), std::string::npos);
  EXPECT_NE(refusal("").find("NAME"), std::string::npos);
}

TEST(Recall, SpecMakesTheSameTaskAgain) {
  auto task = make("noisy-in-context-recall:vocab=40,length=20,frac_noise=0.3");
  auto again = make(task->spec());
  EXPECT_EQ(again->spec(), task->spec());
  EXPECT_EQ(draw(*again, Split::Test, 5).inputs, draw(*task, Split::Test, 5).inputs);
}
