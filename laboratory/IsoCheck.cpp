//===- IsoCheck.cpp - whether architectures can be compared -------------------===//
#include "laboratory/IsoCheck.h"
#include "laboratory/Columns.h"
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab {

std::string stateText(const std::optional<StateSize> &state) {
  if (!state)
    return "unknown";
  if (state->growing == 0)
    return std::to_string(state->fixed);
  return state->fixed == 0 ? fmt::format("{} growing", state->growing)
                           : fmt::format("{} + {} growing", state->fixed, state->growing);
}

std::string costTable(const std::vector<Architecture> &architectures, int width) {
  std::vector<std::vector<std::string>> rows{
      {"architecture", "parameters", "state", "as MAD counts", "FLOPs/token"}};
  for (const Architecture &each : architectures)
    rows.push_back({each.name, std::to_string(each.parameters), stateText(each.state),
                    stateText(each.countedState), fmt::format("{:.0f}", each.flopsPerToken)});
  return alignColumns(rows, width);
}

IsoDifferences isoDifferences(const std::vector<Architecture> &architectures, double tolerance) {
  IsoDifferences differences;
  auto compare = [&](std::vector<std::string> &list, const char *what, const Architecture &our,
                     int64_t ours, const Architecture &their, int64_t theirs) {
    if (ours == theirs)
      return;
    double ratio = static_cast<double>(ours) / static_cast<double>(theirs);
    if (theirs > 0 && ratio <= 1 + tolerance && ratio >= 1 / (1 + tolerance))
      return;
    list.push_back(theirs > 0
                       ? fmt::format("{} has {:.2f} times the {} of {} ({} and {})", our.name,
                                     ratio, what, their.name, ours, theirs)
                       : fmt::format("{} has {} of {}, {} none", our.name, ours, what, their.name));
  };
  const Architecture *first = nullptr; // of those with a fixed state
  for (const Architecture &each : architectures) {
    const Architecture &front = architectures.front();
    compare(differences.ofParameters, "parameters", each, each.parameters, front, front.parameters);
    if (!each.countedState)
      differences.ofState.push_back(fmt::format(
          "{} has a state that the compiler cannot tell (hybridc --cost says why)", each.name));
    if (!each.countedState || each.countedState->growing > 0)
      continue;
    if (first)
      compare(differences.ofState, "state", each, each.countedState->fixed, *first,
              first->countedState->fixed);
    else
      first = &each;
  }
  return differences;
}

} // namespace hybrid::rt::lab
