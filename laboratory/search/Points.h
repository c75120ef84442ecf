//===- Points.h - the points of a space that are worth training ---------------===//
//
// Points are looked at in a random order that follows from the seed. What a point costs is asked of
// the compiler before anything is trained; one that does not compile, breaks a constraint, or is
// the same program as a point before it is left out. What was found is written down line by line,
// so that a search that is started again asks nothing twice.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include "laboratory/Suite.h"
#include "laboratory/search/Space.h"
#include "runtime/files/AppendFile.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

/// What a point costs at a setting of the suite.
struct PointCost {
  int64_t parameters = 0;
  double flopsPerToken = 0, trainingFlopsPerToken = 0;
  /// Of a sequence of the setting's length: what decoding carries, and what MAD counts; nothing
  /// where the compiler cannot tell.
  std::optional<StateSize> state, countedState;
  std::string program; // the same for equal programs

  std::optional<int64_t> stateElements() const {
    return state ? std::optional(state->total()) : std::nullopt;
  }
  /// Of the counted state; without end where it is not known, so that nobody wins by it.
  double comparedState() const;
};

/// Limits on the first setting of the suite.
struct Constraints {
  std::optional<int64_t> maxParameters, isoState; // state as MAD counts it
  std::optional<double> maxFlops;                 // forward, a token
  double tolerance = 0.1;                         // of isoState

  /// Why a point is left out; empty when it is not.
  std::string refusal(const PointCost &cost) const;
};

struct PointRecord {
  uint64_t point = 0;
  std::string refused;          // why it is left out; empty: it competes
  std::vector<PointCost> costs; // of each setting, unless it was left out before
};

/// An error is the point's: it does not compile.
using MeasurePoint = std::function<Result<PointCost>(uint64_t point, const Setting &setting)>;

/// Records of points in a file of JSON lines, the first of which says what they belong to.
class PointBook {
public:
  /// Opens the file, or begins one. A file that belongs to something else is an error; a last line
  /// that was cut off is dropped.
  static Result<PointBook> open(const std::string &path, const nlohmann::json &belongsTo);

  const PointRecord *find(uint64_t point) const;
  Result<void> add(PointRecord record);

private:
  explicit PointBook(AppendFile file) : file(std::move(file)) {}
  AppendFile file;
  std::map<uint64_t, PointRecord> records;
};

struct PointSearch {
  uint64_t seed = 0;
  uint64_t mostLookedAt = 0; // points; 0: all of them
  Constraints constraints;
  /// Asked after each accepted point, with those accepted so far: whether that is enough.
  std::function<bool(const std::vector<PointRecord> &)> enough;
  /// Told of each point looked at.
  std::function<void(const PointRecord &)> progress;
  std::function<bool()> stop; // asked before each
};

struct PointsFound {
  std::vector<PointRecord> accepted, refused; // in the order in which they were looked at
  bool exhausted = false;                     // the whole space was looked at
  bool stopped = false;
};

Result<PointsFound> findPoints(const Space &space, const std::vector<Setting> &settings,
                               const PointSearch &search, PointBook &book,
                               const MeasurePoint &measure);

} // namespace hybrid::rt::lab
