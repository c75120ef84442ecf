//===- ChartTest.cpp - text and figures of the report -----------------------------===//
#include "laboratory/report/Charts.h"
#include "laboratory/report/Text.h"
#include "test/unit/laboratory/report/Markup.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

using namespace hybrid::rt::lab::report;
using hybrid::rt::lab::test::markupFault;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
const std::string replacement = "\xEF\xBF\xBD";

TEST(Text, EscapesMarkup) {
  EXPECT_EQ(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escaped("a\tb\nc\r\n"), "a\tb\nc\n");
  EXPECT_EQ(escaped("größe 数 🙂"), "größe 数 🙂");
}

TEST(Text, ReplacesWhatIsNoText) {
  EXPECT_EQ(escaped(std::string_view("\0\x1b\x7f", 3)), replacement + replacement + replacement);
  EXPECT_EQ(escaped("\xff"), replacement);
  EXPECT_EQ(escaped("\xc0\xaf"), replacement + replacement);                   // overlong
  EXPECT_EQ(escaped("\xed\xa0\x80"), replacement + replacement + replacement); // a surrogate
  EXPECT_EQ(escaped("a\xe2\x80"), "a" + replacement + replacement);            // cut short
  EXPECT_EQ(escaped("\xf4\x90\x80\x80").size(), 4 * replacement.size()); // behind the last plane
  EXPECT_EQ(escaped("\u202egnp.exe"), replacement + "gnp.exe");          // turns the direction
  EXPECT_EQ(escaped("\u0085"), replacement);
}

TEST(Text, FormatsNumbers) {
  EXPECT_EQ(percent(0.99837), "99.8");
  EXPECT_EQ(percent(nan), "–");
  EXPECT_EQ(points(0.0131), "+1.3");
  EXPECT_EQ(points(-0.0131), "−1.3");
  EXPECT_EQ(points(-0.0001), "±0.0");
  EXPECT_EQ(compact(0), "0");
  EXPECT_EQ(compact(4096), "4096");
  EXPECT_EQ(compact(12800), "12.8k");
  EXPECT_EQ(compact(999999), "1M");
  EXPECT_EQ(compact(1.234e9), "1.23G");
  EXPECT_EQ(compact(infinity), "–");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(-1234567), "-1 234 567");
  EXPECT_EQ(plain(0.001), "0.001");
  EXPECT_EQ(plain(1e-6), "1e-6");
  EXPECT_EQ(plain(0), "0");
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(1200, "run"), "1 200 runs");
  EXPECT_EQ(duration(3.21), "3.2 s");
  EXPECT_EQ(duration(59.9), "1 min 0 s");
  EXPECT_EQ(duration(7300), "2 h 1 min");
  EXPECT_EQ(duration(nan), "–");
  EXPECT_EQ(timeElement(12), "<time datetime=\"PT12.000S\">12 s</time>");
}

std::string sound(const std::string &figure) {
  EXPECT_EQ(markupFault(figure), "");
  EXPECT_EQ(hybrid::rt::lab::test::badNumber("<body>" + figure + "<script>"), "") << figure;
  return figure;
}

TEST(Charts, WithoutPointsSaySo) {
  EXPECT_NE(sound(drawLines({})).find("no evaluations"), std::string::npos);
  LineChart chart;
  chart.series = {{0, "a", {{1, nan, "", true}, {nan, 1, "", true}}}};
  EXPECT_NE(sound(drawLines(chart)).find("no evaluations"), std::string::npos);
  chart.xScale = Scale::Log;
  chart.series = {{0, "a", {{0, 1, "", true}, {-5, 1, "", true}}}};
  EXPECT_NE(sound(drawLines(chart)).find("no evaluations"), std::string::npos);
}

TEST(Charts, DrawOnePoint) {
  for (Scale scale : {Scale::Linear, Scale::Log})
    for (bool lines : {true, false})
      for (bool share : {true, false}) {
        LineChart chart;
        chart.xScale = scale;
        chart.lines = lines;
        chart.share = share;
        chart.series = {{3, "a", {{128, 0.5, "here", true}}}};
        EXPECT_NE(sound(drawLines(chart)).find("<title>here</title>"), std::string::npos);
      }
}

TEST(Charts, InterruptLinesWhereANumberIsNone) {
  LineChart chart;
  chart.series = {
      {0, "", {{1, 0.5}, {2, 0.6}, {3, nan}, {4, 0.7}, {5, infinity}, {6, 0.8}, {7, 0.9}}}};
  std::string text = sound(drawLines(chart));
  size_t at = text.find("class=\"line\" d=\"");
  std::string path = text.substr(at + 16, text.find('"', at + 16) - at - 16);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 3) << path;
  EXPECT_EQ(std::count(path.begin(), path.end(), 'h'), 1) << path; // the lonely fourth
}

TEST(Charts, ALossThatExplodesDoesNotFlattenTheOthers) {
  LineChart chart;
  chart.share = false;
  chart.descends = true;
  chart.series = {
      {0, "", {{0, 2}, {1, 1}}}, {1, "", {{0, 2}, {1, 1e30}}}, {2, "", {{0, 2}, {1, 0.5}}}};
  std::string text = sound(drawLines(chart));
  EXPECT_NE(text.find(">3</text>"), std::string::npos) << text;
  EXPECT_EQ(text.find("e+"), std::string::npos) << text;
}

TEST(Charts, BearAnyRange) {
  for (double size : {1e-300, 1e-9, 1.0, 1e9, 1e300}) {
    LineChart chart;
    chart.share = false;
    for (Scale scale : {Scale::Linear, Scale::Log}) {
      chart.xScale = scale;
      chart.series = {
          {0,
           "",
           {{size, size, "", true}, {size * 3, size / 2, "", true}, {size * 100, 0, "", true}}}};
      EXPECT_LT(sound(drawLines(chart)).size(), 10000u) << size;
    }
  }
}

TEST(Charts, NoTwoStylesAreAlike) {
  std::set<std::string> keys;
  for (size_t style = 0; style < 64; ++style)
    EXPECT_TRUE(keys.insert(drawKey(style)).second) << style;
  for (size_t style : {size_t{0}, size_t{63}, size_t{1000}})
    EXPECT_EQ(markupFault(drawKey(style)), "");
}

TEST(Charts, RadarsBearWhatIsMissing) {
  sound(drawRadar({"<label>", 2, {"a", "b<", "c"}, {0.5, nan, 1.7}, {1, nan, -1}}));
  sound(drawRadar({"", 0, {}, {}, {}}));
}

TEST(Charts, ThinningKeepsEndsMarksAndPeaks) {
  std::vector<Point> points;
  for (int i = 0; i < 1000; ++i)
    points.push_back({static_cast<double>(i), i == 500 ? 9.0 : 0.0});
  points[333].marked = true;
  points[700].y = nan;
  std::vector<Point> kept = thinned(points, 50);
  EXPECT_LE(kept.size(), 53u);
  EXPECT_EQ(kept.front().x, 0);
  EXPECT_EQ(kept.back().x, 999);
  auto holds = [&](double x) {
    return std::any_of(kept.begin(), kept.end(), [&](const Point &point) { return point.x == x; });
  };
  EXPECT_TRUE(holds(500));
  EXPECT_TRUE(holds(333));
  EXPECT_TRUE(holds(700));
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end(), [](auto &a, auto &b) { return a.x < b.x; }));
  EXPECT_EQ(thinned(kept, 1000).size(), kept.size());
}

} // namespace
