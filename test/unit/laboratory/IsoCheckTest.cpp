//===- IsoCheckTest.cpp - which architectures can be compared -------------------===//
#include "laboratory/IsoCheck.h"
#include <gtest/gtest.h>

namespace hybrid::rt::lab {
namespace {

Architecture architecture(const std::string &name, std::optional<StateSize> state,
                          std::optional<StateSize> counted) {
  Architecture made;
  made.name = name;
  made.parameters = 1000;
  made.state = state;
  made.countedState = counted;
  return made;
}

const StateSize fixed{4096, 0};

TEST(IsoCheck, ComparesTheStateThatThePaperCounts) {
  // Hyena's filter has no finite state; the paper counts its order.
  EXPECT_TRUE(isoDifferences({architecture("mamba", fixed, fixed),
                              architecture("hyena", StateSize{0, 130048}, fixed)},
                             0.25)
                  .ofState.empty());
  auto differences = isoDifferences({architecture("mamba", fixed, fixed),
                                     architecture("large", fixed, StateSize{8192, 0})},
                                    0.25)
                         .ofState;
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0], "large has 2.00 times the state of mamba (8192 and 4096)");
}

TEST(IsoCheck, AttentionIsNotComparedByState) {
  EXPECT_TRUE(
      isoDifferences({architecture("attention", StateSize{0, 32768}, StateSize{0, 32768}),
                      architecture("mamba", fixed, fixed),
                      architecture("striped", StateSize{2048, 16384}, StateSize{2048, 16384})},
                     0.25)
          .ofState.empty());
}

TEST(IsoCheck, ParametersAreAListOfTheirOwn) {
  // MAD's set is of one state and, with experts as narrow as printed, not of one size.
  Architecture experts = architecture("experts", fixed, fixed);
  experts.parameters = 450;
  auto differences = isoDifferences({architecture("mamba", fixed, fixed), experts}, 0.25);
  EXPECT_TRUE(differences.ofState.empty());
  ASSERT_EQ(differences.ofParameters.size(), 1U);
  EXPECT_EQ(differences.ofParameters[0],
            "experts has 0.45 times the parameters of mamba (450 and 1000)");
}

TEST(IsoCheck, AnUnknownStateIsADifference) {
  auto differences =
      isoDifferences({architecture("unrolled", {}, {}), architecture("mamba", fixed, fixed)}, 0.25)
          .ofState;
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0],
            "unrolled has a state that the compiler cannot tell (hybridc --cost says why)");
}

TEST(IsoCheck, TheTableShowsBothStates) {
  const std::string table = costTable({architecture("hyena", StateSize{0, 130048}, fixed),
                                       architecture("striped", StateSize{2048, 16384}, fixed),
                                       architecture("unrolled", {}, {})},
                                      0);
  for (const char *text : {"130048 growing", "4096", "2048 + 16384 growing", "unknown"})
    EXPECT_NE(table.find(text), std::string::npos) << text << " is not in\n" << table;
}

} // namespace
} // namespace hybrid::rt::lab
