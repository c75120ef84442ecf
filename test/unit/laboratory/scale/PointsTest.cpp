//===- PointsTest.cpp - tables of trainings, and what is wrong with them --------------===//
#include "laboratory/scale/Points.h"
#include <gtest/gtest.h>

namespace hybrid::rt::lab::scale {
namespace {

std::string faultOf(const std::string &text) {
  auto points = parsePoints(text, "t.csv");
  return points ? "" : points.error().message;
}

TEST(Points, ReadsColumnsInAnyOrder) {
  auto points = parsePoints("\xEF\xBB\xBFloss,\"group\",seconds,tokens,params,flops\r\n"
                            "3.5,\"a, \"\"b\"\"\",12,2e9,1e8,1.2e18\r\n\r\n"
                            "3.25, \"c\",,4e9,1e8,2.4e18",
                            "t.csv");
  ASSERT_TRUE(points) << points.error().message;
  ASSERT_EQ(points->size(), 2u);
  EXPECT_EQ((*points)[0].group, "a, \"b\"");
  EXPECT_EQ((*points)[0].flops, 1.2e18);
  EXPECT_EQ((*points)[0].params, 1e8);
  EXPECT_EQ((*points)[0].tokens, 2e9);
  EXPECT_EQ((*points)[0].loss, 3.5);
  EXPECT_EQ((*points)[1].group, "c");
}

TEST(Points, ErrorsSayLineAndColumn) {
  EXPECT_EQ(faultOf("flops,params,tokens,loss\n1e18,1e8,2e9,3.5\n1e18,  ,2e9,3.5\n"),
            "t.csv:3:6: params: '' is no number above 0");
  EXPECT_EQ(faultOf("flops,params,tokens,loss\n1e18,\t x,2e9,3.5\n"),
            "t.csv:2:8: params: 'x' is no number above 0");
  EXPECT_EQ(faultOf("flops,params,tokens,loss\n1e18,1e8,2e9,nan\n"),
            "t.csv:2:14: loss: 'nan' is no number above 0");
  EXPECT_EQ(faultOf(std::string("flops,params,tokens,loss\n\0x,1,2,3\n", 33)),
            "t.csv:2:1: flops: '\\x00x' is no number above 0");
  EXPECT_EQ(faultOf("flops,params,tokens,loss\n-1e18,1e8,2e9,3\n"),
            "t.csv:2:1: flops: '-1e18' is no number above 0");
  EXPECT_EQ(faultOf("group,flops,params,tokens,loss\n\"a\nb\",1,2,3,4\nc,1,2,x,4\n"),
            "t.csv:4:7: tokens: 'x' is no number above 0");
  EXPECT_EQ(faultOf("flops,params,tokens,loss\n1,2,3\n"),
            "t.csv:2:5: 3 cells where the first line names 4 columns");
  EXPECT_EQ(faultOf("flops,params,tokens,loss\n1,2,3,\"4\n"),
            "t.csv:2:7: the quote that begins here does not end");
  EXPECT_EQ(faultOf("flops,params,tokens,loss\n\"1\"2,2,3,4\n"),
            "t.csv:2:4: expected a comma behind the quoted cell");
  EXPECT_EQ(faultOf("flops,params,loss,tokens,loss\n"),
            "t.csv:1:26: the column 'loss' is there twice");
  EXPECT_EQ(faultOf("flops,params,token,loss\n"),
            "t.csv:1:1: no column is called 'tokens' ('token' is one): the first line names flops, "
            "params, tokens, loss and, if there are several, group");
  EXPECT_EQ(faultOf("\n"), "t.csv:1:1: the table is empty: its first line names its columns");
  EXPECT_EQ(faultOf("flops,params,tokens,loss\n"), "t.csv: names its columns, but has no points");
}

TEST(Points, GroupsKeepTheirOrder) {
  auto groups = byGroup({{"b", 1, 1, 1, 1}, {"a", 1, 1, 1, 1}, {"b", 2, 1, 1, 1}});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].front().group, "b");
  EXPECT_EQ(groups[0].size(), 2u);
}

} // namespace
} // namespace hybrid::rt::lab::scale
