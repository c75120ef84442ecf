//===- IsoCheck.cpp - whether architectures can be compared -------------------===//
#include "laboratory/IsoCheck.h"
#include "laboratory/Columns.h"
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab {

std::string costTable(const std::vector<Architecture> &architectures, int width) {
  std::vector<std::vector<std::string>> rows{
      {"architecture", "parameters", "state", "FLOPs/token"}};
  for (const Architecture &each : architectures)
    rows.push_back({each.name, std::to_string(each.parameters), std::to_string(each.stateElements),
                    fmt::format("{:.0f}", each.flopsPerToken)});
  return alignColumns(rows, width);
}

std::vector<std::string> isoDifferences(const std::vector<Architecture> &architectures,
                                        double tolerance) {
  std::vector<std::string> differences;
  for (const Architecture &each : architectures) {
    const Architecture &first = architectures.front();
    auto compare = [&](const char *what, int64_t ours, int64_t theirs) {
      if (ours == theirs)
        return;
      double ratio = static_cast<double>(ours) / static_cast<double>(theirs);
      if (theirs > 0 && ratio <= 1 + tolerance && ratio >= 1 / (1 + tolerance))
        return;
      differences.push_back(
          theirs > 0 ? fmt::format("{} has {:.2f} times the {} of {} ({} and {})", each.name, ratio,
                                   what, first.name, ours, theirs)
                     : fmt::format("{} has {} of {}, {} none", each.name, ours, what, first.name));
    };
    compare("parameters", each.parameters, first.parameters);
    compare("state", each.stateElements, first.stateElements);
  }
  return differences;
}

} // namespace hybrid::rt::lab
