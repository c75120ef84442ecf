//===- RecomputePlanTests.cpp - what to keep and what to compute again -------------===//
#include "passes/RecomputePlan.h"
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace hybrid;

namespace {

/// A graph of one storage and one unit a node.
struct Builder {
  RecomputeGraph graph;

  int32_t add(std::vector<int32_t> producers, int64_t bytes, double cost = 1) {
    RecomputeGraph::Node node;
    for (int32_t producer : producers) {
      node.producers.push_back(producer);
      node.reads.push_back(graph.nodes[producer].writes.front());
    }
    node.writes.push_back(static_cast<int32_t>(graph.storages.size()));
    graph.storages.push_back({bytes, false, false});
    node.unit = graph.units++;
    node.cost = cost;
    graph.nodes.push_back(node);
    return static_cast<int32_t>(graph.nodes.size()) - 1;
  }
  void finish(int32_t last) {
    add({last}, 1);
    graph.nodes.back().required = true;
  }
};

/// `layers` nodes forward, then back: the backward node of a layer reads what went into it.
RecomputeGraph chain(int32_t layers) {
  Builder builder;
  int32_t gradient = -1;
  std::vector<int32_t> values{builder.add({}, 100)};
  for (int32_t i = 0; i < layers; ++i)
    values.push_back(builder.add({values.back()}, 100));
  gradient = values.back();
  for (int32_t i = layers; i-- > 0;)
    gradient = builder.add({gradient, values[i]}, 100);
  builder.finish(gradient);
  return builder.graph;
}

/// Every step finds what it reads, every original that is left stands in order, and the peak is the
/// one of these steps.
void check(const RecomputeGraph &graph, const RecomputePlan &plan) {
  std::map<std::pair<int32_t, int32_t>, std::pair<int64_t, int64_t>> lives; // node, version
  int32_t lastOriginal = -1;
  double cost = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(plan.steps().size()); ++i) {
    const RecomputeStep &step = plan.steps()[i];
    const RecomputeGraph::Node &node = graph.nodes[step.node];
    cost += node.cost;
    for (size_t j = 0; j < node.producers.size(); ++j) {
      auto life = lives.find({node.producers[j], step.producerVersions[j]});
      ASSERT_NE(life, lives.end()) << "step " << i << " reads what is not there";
      life->second.second = i;
    }
    ASSERT_TRUE(lives.insert({{step.node, step.version}, {i, i}}).second);
    if (step.version == 0) {
      EXPECT_GT(step.node, lastOriginal);
      EXPECT_EQ(step.at, step.node);
      lastOriginal = step.node;
    }
  }
  int64_t peak = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(plan.steps().size()); ++i) {
    int64_t live = 0;
    for (auto &[key, life] : lives)
      if (life.first <= i && i <= life.second)
        live += graph.storages[graph.nodes[key.first].writes.front()].bytes;
    peak = std::max(peak, live);
  }
  EXPECT_EQ(plan.peakBytes(), peak);
  EXPECT_DOUBLE_EQ(plan.cost(), cost);
  EXPECT_TRUE(graph.nodes[plan.steps().back().node].required);
}

TEST(RecomputePlan, KeepsAllWithinTheBudget) {
  RecomputeGraph graph = chain(16);
  RecomputePlan plan(graph);
  int64_t before = plan.peakBytes();
  plan.reduce(before);
  EXPECT_EQ(plan.steps().size(), graph.nodes.size());
  EXPECT_EQ(plan.peakBytes(), before);
}

TEST(RecomputePlan, ChainFitsIntoFarLessThanItsLength) {
  RecomputeGraph graph = chain(64);
  RecomputePlan plan(graph);
  EXPECT_EQ(plan.peakBytes(), 6600);
  double cost = plan.cost();
  plan.reduce(2500);
  check(graph, plan);
  EXPECT_LE(plan.peakBytes(), 2500);
  EXPECT_LE(plan.cost(), 1.6 * cost); // the forward part once more is half of all
}

TEST(RecomputePlan, GivesUpTheCheapOfTwo) {
  Builder builder;
  int32_t source = builder.add({}, 10), cheap = builder.add({source}, 100, 1),
          dear = builder.add({source}, 100, 50), wide = builder.add({cheap, dear}, 500),
          narrow = builder.add({wide}, 10);
  builder.finish(builder.add({narrow, cheap, dear, source}, 10));
  RecomputePlan plan(builder.graph);
  plan.reduce(plan.peakBytes() - 1);
  check(builder.graph, plan);
  int again = 0;
  for (const RecomputeStep &step : plan.steps())
    if (step.version > 0) {
      EXPECT_EQ(step.node, cheap);
      ++again;
    }
  EXPECT_LE(again, 1);
}

TEST(RecomputePlan, IsAProgramForAnyGraphAndBudget) {
  std::mt19937 engine(7);
  for (int round = 0; round < 60; ++round) {
    Builder builder;
    builder.add({}, 64);
    int count = 5 + static_cast<int>(engine() % 40);
    for (int i = 1; i < count; ++i) {
      std::vector<int32_t> producers{i - 1};
      for (unsigned more = engine() % 3; more > 0; --more)
        producers.push_back(static_cast<int32_t>(engine() % static_cast<unsigned>(i)));
      builder.add(producers, 64 * (1 + static_cast<int64_t>(engine() % 20)),
                  1 + static_cast<double>(engine() % 100));
    }
    builder.finish(count - 1);
    int64_t all = RecomputePlan(builder.graph).peakBytes();
    for (int64_t budget : {all, all * 3 / 4, all / 2, int64_t(0)}) {
      RecomputePlan plan(builder.graph), again(builder.graph);
      plan.reduce(budget);
      check(builder.graph, plan);
      EXPECT_LE(plan.peakBytes(), all);
      again.reduce(budget); // deterministic
      EXPECT_EQ(plan.peakBytes(), again.peakBytes());
      EXPECT_EQ(plan.steps().size(), again.steps().size());
    }
  }
}

} // namespace
