//===- Points.cpp - the points of a space that are worth training -------------===//
#include "laboratory/search/Points.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/Json.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <limits>

namespace hybrid::rt::lab {
namespace {

nlohmann::json stateJson(const std::optional<StateSize> &state) {
  if (!state)
    return nullptr;
  return {{"fixed", state->fixed}, {"growing", state->growing}};
}

nlohmann::json toJson(const PointRecord &record) {
  nlohmann::json costs = nlohmann::json::array();
  for (const PointCost &cost : record.costs)
    costs.push_back({{"parameters", cost.parameters},
                     {"flops_per_token", cost.flopsPerToken},
                     {"training_flops_per_token", cost.trainingFlopsPerToken},
                     {"state", stateJson(cost.state)},
                     {"counted_state", stateJson(cost.countedState)},
                     {"program", cost.program}});
  return {{"point", record.point}, {"refused", record.refused}, {"costs", std::move(costs)}};
}

/// Nothing when the line is not one that toJson wrote.
std::optional<PointRecord> fromJson(const nlohmann::json &json) {
  PointRecord record;
  auto read = [](const nlohmann::json &object, const char *key, auto &into) {
    using Value = std::remove_reference_t<decltype(into)>;
    auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end())
      return false;
    if (std::is_same_v<Value, std::string> ? !found->is_string()
        : std::is_integral_v<Value>        ? !found->is_number_integer()
                                           : !found->is_number())
      return false;
    into = found->template get<Value>();
    return true;
  };
  auto readState = [&](const nlohmann::json &object, const char *key,
                       std::optional<StateSize> &into) {
    auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end())
      return false;
    if (found->is_null()) // not known
      return true;
    return read(*found, "fixed", into.emplace().fixed) && read(*found, "growing", into->growing);
  };
  if (!read(json, "point", record.point) || !read(json, "refused", record.refused) ||
      !json.contains("costs") || !json["costs"].is_array())
    return std::nullopt;
  for (const nlohmann::json &each : json["costs"]) {
    PointCost cost;
    if (!read(each, "parameters", cost.parameters) ||
        !read(each, "flops_per_token", cost.flopsPerToken) ||
        !read(each, "training_flops_per_token", cost.trainingFlopsPerToken) ||
        !readState(each, "state", cost.state) ||
        !readState(each, "counted_state", cost.countedState) ||
        !read(each, "program", cost.program))
      return std::nullopt;
    record.costs.push_back(std::move(cost));
  }
  return record;
}

std::string line(const nlohmann::json &json) { return jsonLine(json) + "\n"; }

} // namespace

double PointCost::comparedState() const {
  return countedState ? static_cast<double>(countedState->total())
                      : std::numeric_limits<double>::infinity();
}

std::string Constraints::refusal(const PointCost &cost) const {
  if (maxParameters && cost.parameters > *maxParameters)
    return fmt::format("{} parameters, more than {}", cost.parameters, *maxParameters);
  if (maxFlops && cost.flopsPerToken > *maxFlops)
    return fmt::format("{:.0f} FLOPs a token, more than {:.0f}", cost.flopsPerToken, *maxFlops);
  if (isoState && !cost.countedState)
    return "the compiler cannot tell its state";
  if (isoState) {
    double wanted = static_cast<double>(*isoState);
    if (std::abs(cost.comparedState() - wanted) > tolerance * wanted)
      return fmt::format("a state of {}, not {} within {:g} %", cost.countedState->total(),
                         *isoState, 100 * tolerance);
  }
  return "";
}

Result<PointBook> PointBook::open(const std::string &path, const nlohmann::json &belongsTo) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown))
    if (auto done = writeFileAtomically(path, line(belongsTo)); !done)
      return done.error();
  auto opened = AppendFile::open(path);
  if (!opened)
    return opened.error();
  PointBook book(std::move(*opened));
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (!std::getline(file, text))
    return Error{fmt::format("cannot read '{}': {}", path, std::strerror(errno))};
  auto first = parseJsonOrNull(text);
  if (first != belongsTo) {
    std::string differs;
    if (first.is_object())
      for (const auto &item : belongsTo.items())
        if (!first.contains(item.key()) || first[item.key()] != item.value())
          differs += (differs.empty() ? "" : ", ") + item.key();
    return Error{fmt::format("'{}' belongs to another search ({}): give another --out, or the "
                             "options of that one",
                             path, differs.empty() ? "it is damaged" : differs + " differs")};
  }
  std::streamoff whole = file.tellg();
  bool cut = false;
  while (std::getline(file, text)) {
    auto json = parseJsonOrNull(text);
    // Only whole lines of the writer count; whatever else stands there was cut off.
    std::optional<PointRecord> record = fromJson(json);
    bool good = record && !file.eof();
    if (good)
      book.records[record->point] = std::move(*record);
    if (!good) {
      cut = true;
      break;
    }
    whole = file.tellg();
  }
  if (cut)
    if (auto done = book.file.cut(static_cast<uint64_t>(whole)); !done)
      return done.error();
  return book;
}

const PointRecord *PointBook::find(uint64_t point) const {
  auto found = records.find(point);
  return found == records.end() ? nullptr : &found->second;
}

Result<void> PointBook::add(PointRecord record) {
  if (auto done = file.append(line(toJson(record))); !done)
    return done;
  records[record.point] = std::move(record);
  return {};
}

Result<PointsFound> findPoints(const Space &space, const std::vector<Setting> &settings,
                               const PointSearch &search, PointBook &book,
                               const MeasurePoint &measure) {
  PointsFound found;
  RandomOrder order(space.points, search.seed);
  std::map<std::string, uint64_t> programs;
  uint64_t most = search.mostLookedAt ? std::min(search.mostLookedAt, space.points) : space.points;
  for (uint64_t index = 0; index < most; ++index) {
    if (search.stop && search.stop()) {
      found.stopped = true;
      return found;
    }
    PointRecord record{order.at(index), "", {}};
    if (const PointRecord *known = book.find(record.point)) {
      record = *known;
    } else {
      for (const Setting &setting : settings) {
        auto cost = measure(record.point, setting);
        if (!cost && search.stop && search.stop()) { // whatever it says, it was broken off
          found.stopped = true;
          return found;
        }
        if (!cost) {
          record.refused = cost.error().message;
          break;
        }
        record.costs.push_back(std::move(*cost));
        if (record.costs.size() > 1)
          continue;
        record.refused = search.constraints.refusal(record.costs[0]);
        if (auto same = programs.find(record.costs[0].program);
            record.refused.empty() && same != programs.end())
          record.refused = fmt::format("the same program as {}", space.nameOf(same->second));
        if (!record.refused.empty())
          break;
      }
      if (auto done = book.add(record); !done)
        return done.error();
    }
    if (search.progress)
      search.progress(record);
    if (!record.refused.empty()) {
      found.refused.push_back(std::move(record));
      continue;
    }
    programs.emplace(record.costs[0].program, record.point);
    found.accepted.push_back(std::move(record));
    if (search.enough && search.enough(found.accepted))
      return found;
  }
  found.exhausted = most == space.points;
  return found;
}

} // namespace hybrid::rt::lab
