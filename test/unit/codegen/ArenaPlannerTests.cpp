//===- ArenaPlannerTests.cpp - buffers that live at different times ----------------===//
#include "passes/schedule/ArenaPlanner.h"
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace hybrid;

namespace {

void expectDisjoint(const std::vector<Lifetime> &buffers, int64_t arenaBytes) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(buffers[i].offset % 64, 0);
    EXPECT_GE(buffers[i].offset, 0);
    EXPECT_LE(buffers[i].offset + buffers[i].bytes, arenaBytes);
    for (size_t j = 0; j < i; ++j) {
      bool sameTime = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      bool samePlace = buffers[i].offset < buffers[j].offset + buffers[j].bytes &&
                       buffers[j].offset < buffers[i].offset + buffers[i].bytes;
      EXPECT_FALSE(sameTime && samePlace) << "buffers " << i << " and " << j;
    }
  }
}

TEST(ArenaPlanner, ReusesMemoryOfDeadBuffers) {
  std::vector<Lifetime> chain{{1024, 0, 1}, {1024, 1, 2}, {1024, 2, 3}, {1024, 3, 4}};
  EXPECT_EQ(planArena(chain), 2048);
  expectDisjoint(chain, 2048);
}

TEST(ArenaPlanner, FillsAGapBelowALaterBuffer) {
  std::vector<Lifetime> buffers{{4096, 0, 1}, {2048, 0, 5}, {1024, 2, 3}};
  EXPECT_EQ(planArena(buffers), 4096 + 2048);
  expectDisjoint(buffers, 4096 + 2048);
}

TEST(ArenaPlanner, WhatMayMeetIsApartWhateverItsNumbersSay) {
  std::vector<Lifetime> buffers{{1024, 0, 1}, {1024, 2, 3}, {1024, 4, 5}};
  auto meet = [](size_t a, size_t b) { return a + b == 1; }; // the first two
  EXPECT_EQ(planArena(buffers, meet), 2048);
  EXPECT_NE(buffers[0].offset, buffers[1].offset);
  EXPECT_EQ(buffers[2].offset, 0);
}

TEST(ArenaPlanner, EmptyBuffersTakeAPlaceOfTheirOwn) {
  std::vector<Lifetime> buffers{{0, 0, 3}, {64, 0, 3}};
  int64_t bytes = planArena(buffers);
  EXPECT_EQ(bytes, 128);
}

TEST(ArenaPlanner, NeverOverlapsWhatLivesTogether) {
  std::mt19937 engine(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> buffers;
    for (int i = 0; i < 60; ++i) {
      int64_t first = static_cast<int64_t>(engine() % 100);
      buffers.push_back({static_cast<int64_t>(engine() % 5000), first,
                         first + static_cast<int64_t>(engine() % 30)});
    }
    std::vector<Lifetime> again = buffers;
    int64_t bytes = planArena(buffers);
    expectDisjoint(buffers, bytes);
    EXPECT_EQ(planArena(again), bytes); // deterministic
    for (size_t i = 0; i < buffers.size(); ++i)
      EXPECT_EQ(again[i].offset, buffers[i].offset);
  }
}

} // namespace
