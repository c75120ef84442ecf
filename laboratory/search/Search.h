//===- Search.h - a search, rung by rung as studies ---------------------------===//
//
// A rung is a study whose architectures are the points that entered it: rung-1.db, rung-2.db, ...
// in the folder of the search, and front.db for the members of the front that are finished at the
// end. Its runs are claimed and trained like those of any study, by this process or others, and
// survive whatever kills them; what was decided follows from the scores in the databases, so a
// search that is started again comes to the same decisions and goes on where it was.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Protocol.h"
#include "laboratory/Results.h"
#include "laboratory/search/Halving.h"
#include "laboratory/search/Points.h"

namespace hybrid::rt::lab {

struct SearchPlan {
  std::string folder;
  std::string path, source; // of the model; what is set besides its choices
  std::map<std::string, std::string> settings;
  Space space;
  Protocol protocol; // of the whole length
  std::vector<Setting> suite;
  std::vector<PointRecord> points; // those that compete, in their order
  HalvingOptions halving;
  /// The budget counts seconds, of which a FLOP is taken to be so many at first; 0: it counts
  /// FLOPs.
  double secondsPerFlop = 0;
  std::string version, command;
};

struct SearchTools {
  /// Trains the pending runs of a study's database until none is left or `stop` says so. Whether
  /// the user broke it off.
  std::function<Result<bool>(const std::string &database, const std::function<bool()> &stop)> train;
  std::function<void(const Rung &, size_t runs)> begun; // before a rung is trained
  std::function<void(const RungOutcome &)> done;        // after it
};

struct SearchOutcome {
  HalvingOutcome halving;
  std::vector<ArchitectureScore> scores; // of each point at the longest it was trained for
  std::vector<std::string> errors;       // of points that failed or diverged
  Study front;                           // the front's runs, at the longest of each
};

/// FLOPs of training a point on a rung, evaluations included: what the budget counts.
double pointFlops(const PointRecord &point, const Protocol &protocol,
                  const std::vector<Setting> &suite);

/// The candidates that the points are, with the costs of every rung.
std::vector<Candidate> candidatesOf(const SearchPlan &plan);

/// The protocol of a rung.
Protocol rungProtocol(const SearchPlan &plan, size_t rung);

/// An error that is `stoppedMessage` says that the search was asked to stop.
inline constexpr const char *stoppedMessage = "stopped";
Result<SearchOutcome> runSearch(const SearchPlan &plan, const SearchTools &tools);

/// search.json: the points, the rungs and the front, without anything that differs from one time to
/// the next when FLOPs are counted.
nlohmann::json describeSearch(const SearchPlan &plan, const SearchOutcome &outcome);

} // namespace hybrid::rt::lab
