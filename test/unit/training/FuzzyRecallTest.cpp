// Fuzzy recall, read by a solver that cuts a sequence where keys turn into values and back.
#include "TaskInstance.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace hybrid::rt;
using namespace hybrid::test;

namespace {

using Tuple = std::vector<int32_t>;

struct Layout {
  int32_t keys, values;
  bool multiQuery = true;
  int32_t pad() const { return keys + values; }
};

struct Fact {
  Tuple key, value;
  size_t at; // of the value's first token
};

/// The whole sequence: the inputs and the last target.
Tuple sequenceOf(const Drawn &instance) {
  Tuple sequence = instance.inputs;
  sequence.push_back(instance.targets.back());
  return sequence;
}

/// The pairs of a sequence; specials only where the layout has them.
std::vector<Fact> factsOf(const Tuple &sequence, const Layout &layout) {
  std::vector<Fact> facts;
  size_t t = 0;
  while (sequence[t] == layout.pad())
    ++t;
  while (t < sequence.size()) {
    Fact fact;
    if (sequence[t] > layout.pad()) {
      EXPECT_FALSE(layout.multiQuery);
      ++t;
    }
    while (t < sequence.size() && sequence[t] < layout.keys)
      fact.key.push_back(sequence[t++]);
    fact.at = t;
    while (t < sequence.size() && sequence[t] >= layout.keys && sequence[t] < layout.pad())
      fact.value.push_back(sequence[t++]);
    if (fact.key.empty() || fact.value.empty()) {
      ADD_FAILURE() << "no pair before place " << t;
      return facts;
    }
    facts.push_back(fact);
  }
  return facts;
}

bool distinct(const Tuple &tuple) {
  return std::set<int32_t>(tuple.begin(), tuple.end()).size() == tuple.size();
}

} // namespace

TEST(FuzzyRecall, BaselineHasTheStatedShape) {
  auto task = make("fuzzy-in-context-recall");
  EXPECT_EQ(task->vocabulary(), 16);
  EXPECT_EQ(task->positions(), 128);
  double count = 0;
  std::set<size_t> pads;
  constexpr int instances = 4000;
  for (int i = 0; i < instances; ++i) {
    Drawn instance = draw(*task, Split::Test, static_cast<uint64_t>(i));
    count += static_cast<double>(scored(instance));
    pads.insert(static_cast<size_t>(std::find_if(instance.inputs.begin(), instance.inputs.end(),
                                                 [](int32_t x) { return x < 15; }) -
                                    instance.inputs.begin()));
    EXPECT_NE(instance.targets.back(), ignoredTarget);
  }
  EXPECT_NEAR(count / instances, 4.5, 0.2);
  EXPECT_EQ(pads, (std::set<size_t>{2, 3, 4, 5, 6, 7}));
}

TEST(FuzzyRecall, ACausalSolverAnswersEveryTestInstance) {
  struct Case {
    const char *spec;
    Layout layout;
    size_t longestKey, longestValue;
  };
  for (const Case &c :
       {Case{"fuzzy-in-context-recall", {7, 8}, 3, 3},
        {"fuzzy-in-context-recall:multi_query=false", {7, 7, false}, 3, 3},
        {"fuzzy-in-context-recall:vocab=8,length=24,k_motif=2,v_motif=2", {3, 4}, 2, 2},
        {"fuzzy-in-context-recall:vocab=32,length=300,k_motif=1,v_motif=4", {15, 16}, 1, 4},
        {"fuzzy-in-context-recall:vocab=3,length=5,k_motif=1,v_motif=1", {1, 1}, 1, 1},
        {"fuzzy-in-context-recall:vocab=9,length=17,k_motif=4,v_motif=4", {4, 4}, 4, 4}}) {
    auto task = make(c.spec);
    expectWellFormed(*task);
    for (Split split : {Split::Test, Split::Train})
      for (uint64_t i = 0; i < 300; ++i) {
        Drawn instance = draw(*task, split, i);
        Tuple sequence = sequenceOf(instance);
        std::vector<Fact> facts = factsOf(sequence, c.layout);
        ASSERT_GE(facts.size(), 2u);
        Tuple answers(sequence.size(), ignoredTarget);
        std::map<Tuple, Tuple> map;
        for (const Fact &fact : facts) {
          EXPECT_TRUE(distinct(fact.key) && distinct(fact.value));
          EXPECT_LE(fact.key.size(), c.longestKey);
          EXPECT_LE(fact.value.size(), c.longestValue);
          if (split == Split::Test) {
            EXPECT_EQ(fact.key.size(), c.longestKey);
          }
          bool last = &fact == &facts.back(), known = map.count(fact.key);
          EXPECT_TRUE(known || !last) << "the probe was never shown";
          if (known) {
            EXPECT_EQ(map[fact.key], fact.value);
          }
          for (size_t j = 0; j < fact.value.size(); ++j)
            if (known && (c.layout.multiQuery || last))
              answers[fact.at + j] = map[fact.key][j];
          map[fact.key] = fact.value;
        }
        EXPECT_EQ(instance.targets, Tuple(answers.begin() + 1, answers.end()))
            << c.spec << " instance " << i;
      }
  }
}

TEST(FuzzyRecall, ConventionsDecideTheTrainingTargets) {
  auto lab = make("fuzzy-in-context-recall:always_planted=true", Convention::MadLab);
  auto paper = make("fuzzy-in-context-recall:train_targets=values");
  auto masked = make("fuzzy-in-context-recall");
  for (uint64_t i = 0; i < 50; ++i) {
    Drawn a = draw(*paper, Split::Train, i), b = draw(*lab, Split::Train, i);
    Drawn c = draw(*masked, Split::Train, i);
    ASSERT_EQ(a.inputs, b.inputs);
    EXPECT_EQ(scored(b), 128u);
    EXPECT_TRUE(std::equal(b.inputs.begin() + 1, b.inputs.end(), b.targets.begin()));
    EXPECT_LT(scored(c), scored(a));
    for (size_t t = 0; t < 128; ++t) {
      EXPECT_EQ(a.targets[t],
                b.targets[t] >= 7 && b.targets[t] < 15 ? b.targets[t] : ignoredTarget);
      EXPECT_TRUE(c.targets[t] == ignoredTarget || c.targets[t] == b.targets[t]);
    }
    EXPECT_EQ(draw(*paper, Split::Test, i).targets, draw(*lab, Split::Test, i).targets);
  }
}

// The public code plants the probe in all but 2.3 % of the test instances (29 of 1280).
TEST(FuzzyRecall, TheProbeMayStayUnplantedAsInThePublicCode) {
  auto task = make("fuzzy-in-context-recall", Convention::MadLab);
  EXPECT_EQ(make("fuzzy-in-context-recall:always_planted=false,train_targets=all")->spec(),
            task->spec());
  constexpr int instances = 5000;
  int unplanted = 0;
  for (int i = 0; i < instances; ++i) {
    std::vector<Fact> facts =
        factsOf(sequenceOf(draw(*task, Split::Test, static_cast<uint64_t>(i))), {7, 8});
    const Tuple &probe = facts.back().key;
    unplanted += std::none_of(facts.begin(), facts.end() - 1,
                              [&](const Fact &fact) { return fact.key == probe; });
  }
  EXPECT_NEAR(static_cast<double>(unplanted) / instances, 0.023, 0.012);
}

TEST(FuzzyRecall, TuplesAreUniform) {
  auto task = make("fuzzy-in-context-recall:vocab=8,length=60,k_motif=2,v_motif=2");
  std::map<Tuple, double> keys, values;
  std::map<size_t, double> valueSizes;
  for (uint64_t i = 0; i < 3000; ++i) {
    // The first pair may be the probe's, which is drawn the same way.
    Fact first = factsOf(sequenceOf(draw(*task, Split::Test, i)), {3, 4}).front();
    ++keys[first.key];
    ++valueSizes[first.value.size()];
    if (first.value.size() == 2)
      ++values[first.value];
  }
  auto counts = [](const auto &map) {
    std::vector<double> list;
    list.reserve(map.size());
    for (const auto &[tuple, count] : map)
      list.push_back(count);
    return list;
  };
  EXPECT_EQ(keys.size(), 6u);
  EXPECT_EQ(values.size(), 12u);
  EXPECT_LT(chiSquare(counts(keys)), 20.5);       // five degrees of freedom, one in a thousand
  EXPECT_LT(chiSquare(counts(values)), 31.3);     // eleven
  EXPECT_LT(chiSquare(counts(valueSizes)), 10.8); // one
}

TEST(FuzzyRecall, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("fuzzy-in-context-recall:length=12").find("need length >= 13"),
            std::string::npos);
  EXPECT_EQ(refusal("fuzzy-in-context-recall:length=13"), "accepted");
  EXPECT_NE(refusal("fuzzy-in-context-recall:vocab=6").find("leaves 2 keys and 3 values"),
            std::string::npos);
  EXPECT_NE(refusal("fuzzy-in-context-recall:vocab=7,multi_query=false").find("copy prefix"),
            std::string::npos);
  EXPECT_EQ(refusal("fuzzy-in-context-recall:vocab=7"), "accepted");
  EXPECT_NE(refusal("fuzzy-in-context-recall:k_motif=0").find("from 1"), std::string::npos);
  EXPECT_NE(refusal("fuzzy-in-context-recall:frac_noise=0.1").find("no parameter 'frac_noise'"),
            std::string::npos);
}
