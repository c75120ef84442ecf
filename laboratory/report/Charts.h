//===- Charts.h - the figures of a page, as static SVG ------------------------===//
//
// Drawn here and not by a script, so that a page also shows them in print and with scripts off.
// Series have a style by number: colour (eight that the common kinds of colour blindness tell
// apart), marker and dash, so no two of the first 64 look alike even in black and white. Colours
// are classes; the style sheet has them for light and dark. The group of a series says its number
// in data-series, which is what the script needs to single one out. Titles inside are what a
// pointer shows.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <string>
#include <vector>

namespace hybrid::rt::lab::report {

struct Point {
  double x = 0, y = 0;
  std::string title = ""; // plain text
  bool marked = false;    // whether a marker shows it; otherwise it only bends the line
};

struct Series {
  size_t style = 0;
  std::string title;         // plain text
  std::vector<Point> points; // by x; one with a y that is no number interrupts the line
};

enum class Scale { Linear, Log };

struct LineChart {
  std::string label; // for those who cannot see it: what it shows and what it found
  std::string xLabel, yLabel;
  Scale xScale = Scale::Linear;
  bool falling = false;       // x falls to the right
  std::vector<double> xTicks; // empty: chosen
  bool share = true;          // y is a share, shown as percent from 0 to 100
  bool descends = false;      // y is a loss: where sound runs begin is its top
  bool lines = true;          // false: points alone, and y only where they are
  double width = 320, height = 220;
  std::vector<Series> series;
  std::vector<Point> reference; // a level to beat, dotted; the first title tells of it
};
std::string drawLines(const LineChart &chart);

/// One polygon on spokes from 0 to 1, the best of all behind it.
struct Radar {
  std::string label;
  size_t style = 0;
  std::vector<std::string> spokes; // plain text, short
  std::vector<double> values, best;
};
std::string drawRadar(const Radar &radar);

/// The marker of a series with a piece of its line, for legends and tables; hidden from readers of
/// the page's text, since the name stands beside it.
std::string drawKey(size_t style);

/// At most `most` points that keep the shape (largest triangles; Steinarsson 2013), ends included.
/// Points that are marked and those that are no numbers are all kept.
std::vector<Point> thinned(const std::vector<Point> &points, size_t most);

} // namespace hybrid::rt::lab::report
