//===- Charts.cpp - the figures of a page, as static SVG ----------------------===//
#include "laboratory/report/Charts.h"
#include "laboratory/report/Text.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <numbers>
#include <utility>

namespace hybrid::rt::lab::report {
namespace {

constexpr size_t colours = 8;

/// A coordinate: a tenth of a unit is finer than any screen needs.
std::string at(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0"))
    text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string marker(size_t style, double x, double y, double size) {
  auto polygon = [&](std::initializer_list<std::array<double, 2>> corners) {
    std::string path = "<path d=\"";
    char command = 'M';
    for (auto [cx, cy] : corners) {
      path += fmt::format("{}{} {}", command, at(x + cx * size), at(y + cy * size));
      command = 'L';
    }
    return path + "Z\"/>";
  };
  switch ((style + style / colours) % 8) {
  case 0:
    return fmt::format(R"(<circle cx="{}" cy="{}" r="{}"/>)", at(x), at(y), at(size));
  case 1:
    return polygon({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
  case 2:
    return polygon({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
  case 3:
    return polygon({{0, -1.3}, {1.2, 0}, {0, 1.3}, {-1.2, 0}});
  case 4:
    return polygon({{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}});
  case 5: // a plus
    return polygon({{-0.4, -1.2},
                    {0.4, -1.2},
                    {0.4, -0.4},
                    {1.2, -0.4},
                    {1.2, 0.4},
                    {0.4, 0.4},
                    {0.4, 1.2},
                    {-0.4, 1.2},
                    {-0.4, 0.4},
                    {-1.2, 0.4},
                    {-1.2, -0.4},
                    {-0.4, -0.4}});
  case 6: // a pentagon
    return polygon({{0, -1.2}, {1.14, -0.37}, {0.7, 0.97}, {-0.7, 0.97}, {-1.14, -0.37}});
  default: // a cross
    return polygon({{-1.1, -0.6},
                    {-0.6, -1.1},
                    {0, -0.5},
                    {0.6, -1.1},
                    {1.1, -0.6},
                    {0.5, 0},
                    {1.1, 0.6},
                    {0.6, 1.1},
                    {0, 0.5},
                    {-0.6, 1.1},
                    {-1.1, 0.6},
                    {-0.5, 0}});
  }
}

std::string styleClass(size_t style) {
  return fmt::format("c{} d{}", style % colours, style / colours % 4);
}

/// 1, 2 or 5 times a power of ten: about `count` of them to cover `range`.
double niceStep(double range, int count) {
  double raw = range / count, power = std::pow(10, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power * 1.0001)
      return factor * power;
  return 10 * power;
}

struct Axis {
  Scale scale = Scale::Linear;
  double low = 0, high = 1, from = 0, to = 1; // from, to: coordinates
  double operator()(double value) const {
    double a = low, b = high;
    if (scale == Scale::Log) {
      a = std::log(a);
      b = std::log(b);
      value = std::log(value);
    }
    return b > a ? from + (value - a) / (b - a) * (to - from) : (from + to) / 2;
  }
};

bool drawable(const Point &point, Scale xScale) {
  return std::isfinite(point.x) && std::isfinite(point.y) && (xScale != Scale::Log || point.x > 0);
}

std::vector<double> ticksOf(double low, double high, Scale scale) {
  std::vector<double> ticks;
  if (!(high > low))
    return {low};
  if (scale == Scale::Log) {
    if (high / low < 4) // too little for powers
      return ticksOf(low, high, Scale::Linear);
    bool wide = high / low > 30;
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
      for (double factor : {1.0, 2.0, 5.0})
        if ((!wide || factor == 1) && power * factor >= low * 0.999 &&
            power * factor <= high * 1.001)
          ticks.push_back(power * factor);
    if (ticks.size() < 2)
      return {low, high};
    return ticks;
  }
  double step = niceStep(high - low, 4);
  for (int64_t i = static_cast<int64_t>(std::ceil(low / step - 1e-9));
       i * step <= high + 1e-9 * step; ++i)
    ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

/// A number at the vertical axis, where there is room for five characters.
std::string rowText(double value) {
  if (value != 0 && std::fabs(value) < 0.01) {
    double exponent = std::floor(std::log10(std::fabs(value)) + 1e-9);
    return fmt::format("{:.2g}e{:.0f}", value / std::pow(10, exponent), exponent);
  }
  return std::fabs(value) >= 1000 ? compact(value) : plain(std::round(value * 1e6) / 1e6);
}

/// The upper end of an axis that begins at 0. A few numbers that explode must not flatten all
/// others: what is far above the rest is drawn at the top.
double topOf(const LineChart &chart) {
  std::vector<double> starts, all;
  for (const Series &series : chart.series) {
    bool first = true;
    for (const Point &point : series.points)
      if (drawable(point, chart.xScale)) {
        if (std::exchange(first, false))
          starts.push_back(point.y);
        all.push_back(point.y);
      }
  }
  std::sort(starts.begin(), starts.end());
  std::sort(all.begin(), all.end());
  double most = all.empty() ? 0 : all.back();
  if (!(most > 0))
    return 1;
  double sound =
      chart.descends ? 1.5 * starts[starts.size() / 2] : 1.5 * all[(all.size() - 1) * 98 / 100];
  return sound > 0 ? std::min(most, sound) : most;
}

/// The line of a series. Steps are relative and rounded to what was drawn before, so that a page
/// with thousands of curves stays small and no error adds up.
template <typename Row>
std::string linePath(const Series &series, Scale xScale, const Axis &x, const Row &row) {
  auto tenths = [](int64_t value) {
    std::string text = fmt::format("{}{}", value < 0 ? "-" : "", std::abs(value) / 10);
    if (std::abs(value) < 10 && value != 0)
      text.pop_back();
    return value % 10 ? text + fmt::format(".{}", std::abs(value) % 10) : text;
  };
  std::string path;
  bool connected = false, alone = false; // a point alone still shows, by a line of no length
  int64_t lastX = 0, lastY = 0;
  for (const Point &point : series.points) {
    if (!drawable(point, xScale)) {
      path += alone ? "h0" : "";
      connected = alone = false;
      continue;
    }
    int64_t nowX = std::llround(x(point.x) * 10), nowY = std::llround(row(point) * 10);
    if (!connected) {
      path += fmt::format("M{} {}", tenths(nowX), tenths(nowY));
    } else {
      std::string down = tenths(nowY - lastY);
      path += "l" + tenths(nowX - lastX) + (down.starts_with('-') ? "" : " ") + down;
    }
    alone = !std::exchange(connected, true);
    lastX = nowX;
    lastY = nowY;
  }
  return path + (alone ? "h0" : "");
}

} // namespace

std::string drawKey(size_t style) {
  return fmt::format(
      R"(<svg class="key {}" width="26" height="12" viewBox="0 0 26 12" aria-hidden="true">)"
      R"(<path class="line" d="M1 6H25"/><g class="mark">{}</g></svg>)",
      styleClass(style), marker(style, 13, 6, 3.6));
}

std::string drawLines(const LineChart &chart) {
  constexpr double right = 12, top = 10, bottom = 38;
  double low = INFINITY, high = -INFINITY;
  size_t drawn = 0;
  for (const Series &series : chart.series)
    for (const Point &point : series.points)
      if (drawable(point, chart.xScale)) {
        low = std::min(low, point.x);
        high = std::max(high, point.x);
        ++drawn;
      }
  std::string out =
      fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
                  at(chart.width), at(chart.height), escaped(chart.label));
  auto append = std::back_inserter(out);
  if (drawn == 0) {
    fmt::format_to(
        append,
        R"(<text class="none" x="{}" y="{}" text-anchor="middle">no evaluations</text></svg>)",
        at(chart.width / 2), at(chart.height / 2));
    return out;
  }
  std::vector<double> ticks = chart.xTicks;
  std::erase_if(ticks, [&](double tick) {
    return !std::isfinite(tick) || (chart.xScale == Scale::Log && tick <= 0);
  });
  if (ticks.empty()) {
    if (!chart.lines && chart.xScale == Scale::Log) { // room around points
      low /= 1.15;
      high *= 1.15;
    }
    ticks = ticksOf(low, high, chart.xScale);
  }
  low = std::min(low, ticks.front());
  high = std::max(high, ticks.back());
  double most = chart.share ? 1 : topOf(chart), least = 0;
  double yStep = chart.share ? 0.25 : niceStep(most, 4);
  if (!chart.lines) {
    least = INFINITY;
    most = -INFINITY;
    for (const Series &series : chart.series)
      for (const Point &point : series.points)
        if (drawable(point, chart.xScale)) {
          least = std::min(least, point.y);
          most = std::max(most, point.y);
        }
    yStep = niceStep(std::max(most - least, 0.04), 4);
    most = std::max(most, least + yStep);
  }
  double yLow = std::floor(least / yStep + 1e-9) * yStep;
  double yHigh = chart.share && chart.lines ? 1 : std::ceil(most / yStep - 1e-9) * yStep;
  // Room for the numbers, also where a style sheet has larger ones for a phone.
  size_t widest = 3;
  if (!chart.share)
    for (int i = 0; yLow + i * yStep <= yHigh + yStep * 0.001; ++i)
      widest = std::max(widest, rowText(yLow + i * yStep).size());
  double left =
      (chart.width > 400 ? 26 : 21) + (chart.width > 400 ? 8.0 : 6.2) * static_cast<double>(widest);
  Axis x{chart.xScale, low, high, left + 6, chart.width - right - 6};
  if (chart.falling)
    std::swap(x.from, x.to);
  Axis y{Scale::Linear, yLow, yHigh, chart.height - bottom, top};

  // The grid, with numbers where there is room for them.
  for (int i = 0; yLow + i * yStep <= yHigh + yStep * 0.001; ++i) {
    double value = yLow + i * yStep, row = y(value);
    fmt::format_to(append, R"(<path class="{}" d="M{} {}H{}"/>)", i ? "grid" : "axis", at(left),
                   at(row), at(chart.width - right));
    fmt::format_to(append, R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", at(left - 5),
                   at(row + 3.5),
                   chart.share ? fmt::format("{:.0f}", value * 100) : rowText(value));
  }
  if (chart.falling)
    std::reverse(ticks.begin(), ticks.end());
  bool thousands = std::all_of(ticks.begin(), ticks.end(),
                               [](double tick) { return std::fmod(tick, 1000) == 0; });
  double free = -INFINITY; // where the next label may begin
  for (double tick : ticks) {
    std::string text = tick != 0 && std::fabs(tick) < 1 ? plain(std::round(tick * 1e6) / 1e6)
                       : thousands && std::fabs(tick) < 1e6 && tick != 0
                           ? fmt::format("{:.0f}k", tick / 1000)
                           : compact(tick);
    double column = x(tick), half = 3.2 * static_cast<double>(text.size()) + 3;
    // The last label may lie near the edge of the picture: there it ends at it.
    double centre = std::min(column, chart.width - half + 2);
    fmt::format_to(append, R"(<path class="tick" d="M{} {}v4"/>)", at(column),
                   at(chart.height - bottom));
    if (centre - half < free)
      continue;
    fmt::format_to(append, R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)", at(centre),
                   at(chart.height - bottom + 16), text);
    free = centre + half;
  }
  fmt::format_to(append, R"(<text class="name" x="{}" y="{}" text-anchor="middle">{}</text>)",
                 at((left + chart.width - right) / 2), at(chart.height - 5), escaped(chart.xLabel));
  fmt::format_to(
      append,
      R"~(<text class="name" transform="translate(10 {}) rotate(-90)" text-anchor="middle">{}</text>)~",
      at((top + chart.height - bottom) / 2), escaped(chart.yLabel));

  if (!chart.reference.empty()) {
    std::string path;
    for (const Point &point : chart.reference)
      if (drawable(point, chart.xScale))
        path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', at(x(point.x)),
                            at(y(std::clamp(point.y, yLow, yHigh))));
    if (!path.empty())
      fmt::format_to(append, R"(<g><path class="reference" d="{}"/><title>{}</title></g>)", path,
                     escaped(chart.reference.front().title));
  }
  for (const Series &series : chart.series) {
    fmt::format_to(append, R"(<g class="series {}" data-series="{}">)", styleClass(series.style),
                   series.style);
    if (!series.title.empty())
      fmt::format_to(append, "<title>{}</title>", escaped(series.title));
    auto row = [&](const Point &point) { return y(std::clamp(point.y, yLow, yHigh)); };
    if (chart.lines)
      if (std::string path = linePath(series, chart.xScale, x, row); !path.empty())
        fmt::format_to(append, R"(<path class="line" d="{}"/>)", path);
    for (const Point &point : series.points) {
      if (!point.marked || !drawable(point, chart.xScale))
        continue;
      fmt::format_to(append, R"(<g class="mark">{})",
                     marker(series.style, x(point.x), row(point), chart.lines ? 3.2 : 5));
      if (!point.title.empty())
        fmt::format_to(append, "<title>{}</title>", escaped(point.title));
      out += "</g>";
    }
    out += "</g>";
  }
  return out + "</svg>";
}

std::string drawRadar(const Radar &radar) {
  constexpr double width = 220, height = 178, cx = 110, cy = 90, radius = 58;
  size_t count = radar.spokes.size();
  std::string out =
      fmt::format(R"(<svg class="radar {}" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
                  styleClass(radar.style), width, height, escaped(radar.label));
  auto append = std::back_inserter(out);
  auto corner = [&](size_t spoke, double share) {
    double angle = 2 * std::numbers::pi * static_cast<double>(spoke) / static_cast<double>(count);
    return std::array{cx + std::sin(angle) * radius * share, cy - std::cos(angle) * radius * share};
  };
  auto polygon = [&](auto share) {
    std::string path;
    for (size_t i = 0; i < count; ++i) {
      double value = share(i);
      auto [px, py] = corner(i, std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0);
      path += fmt::format("{}{} {}", i ? 'L' : 'M', at(px), at(py));
    }
    return path + "Z";
  };
  for (double ring : {0.25, 0.5, 0.75, 1.0})
    fmt::format_to(append, R"(<path class="grid" d="{}"/>)", polygon([&](size_t) { return ring; }));
  for (size_t i = 0; i < count; ++i) {
    auto [px, py] = corner(i, 1);
    auto [tx, ty] = corner(i, 1.14);
    fmt::format_to(append, R"(<path class="grid" d="M{} {}L{} {}"/>)", cx, cy, at(px), at(py));
    const char *anchor = tx > cx + 4 ? "start" : tx < cx - 4 ? "end" : "middle";
    fmt::format_to(append, R"(<text x="{}" y="{}" text-anchor="{}">{}</text>)", at(tx),
                   at(ty + (ty > cy + 4   ? 7
                            : ty < cy - 4 ? 1
                                          : 4)),
                   anchor, escaped(radar.spokes[i]));
  }
  if (!radar.best.empty())
    fmt::format_to(append, R"(<path class="best" d="{}"/>)",
                   polygon([&](size_t i) { return radar.best[i]; }));
  fmt::format_to(append, R"(<path class="area" d="{}"/>)",
                 polygon([&](size_t i) { return radar.values[i]; }));
  for (size_t i = 0; i < count; ++i)
    if (std::isfinite(radar.values[i])) {
      auto [px, py] = corner(i, std::clamp(radar.values[i], 0.0, 1.0));
      fmt::format_to(
          append, R"(<g class="mark"><circle cx="{}" cy="{}" r="2.6"/><title>{}: {} %</title></g>)",
          at(px), at(py), escaped(radar.spokes[i]), percent(radar.values[i]));
    }
  return out + "</svg>";
}

std::vector<Point> thinned(const std::vector<Point> &points, size_t most) {
  if (points.size() <= most || most < 3)
    return points;
  std::vector<Point> kept{points.front()};
  double bucket = static_cast<double>(points.size() - 2) / static_cast<double>(most - 2);
  auto begin = [&](size_t i) {
    return std::min(points.size() - 1, 1 + static_cast<size_t>(static_cast<double>(i) * bucket));
  };
  for (size_t i = 0; i + 2 < most; ++i) {
    size_t from = begin(i), to = begin(i + 1), next = i + 3 < most ? begin(i + 2) : points.size();
    double meanX = 0, meanY = 0, count = 0;
    for (size_t k = to; k < next; ++k)
      if (std::isfinite(points[k].y)) {
        meanX += points[k].x;
        meanY += points[k].y;
        ++count;
      }
    if (count > 0) {
      meanX /= count;
      meanY /= count;
    }
    const Point &last = kept.back();
    size_t chosen = from;
    double largest = -1;
    for (size_t k = from; k < to; ++k) {
      double area = std::fabs((last.x - meanX) * (points[k].y - last.y) -
                              (last.x - points[k].x) * (meanY - last.y));
      if (area > largest) {
        largest = area;
        chosen = k;
      }
    }
    for (size_t k = from; k < to; ++k)
      if (k == chosen || points[k].marked || !std::isfinite(points[k].y))
        kept.push_back(points[k]);
  }
  kept.push_back(points.back());
  return kept;
}

} // namespace hybrid::rt::lab::report
