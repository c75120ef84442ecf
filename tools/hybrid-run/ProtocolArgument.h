//===- ProtocolArgument.h - how a study trains, as flags ---------------------------===//
#pragma once
#include "laboratory/Protocol.h"
#include "tools/hybrid-run/Verbs.h"
#include <optional>
#include <string>
#include <vector>

namespace hybrid::tools {

/// The laboratory's protocol: a suite and a convention, and what is changed of them. The same in
/// every verb that trains studies.
struct ProtocolArgument {
  void addTo(CLI::App &verb);
  rt::lab::Protocol protocol() const;

private:
  std::string suite = "smoke", convention = "paper", device = "cpu";
  std::vector<std::string> tasks;
  std::vector<double> learningRates, weightDecays;
  std::optional<int64_t> seeds, batch, steps, evaluations;
  std::optional<uint64_t> seed, testExamples, dataSeed;
  std::optional<double> epochs, warmup;
  std::optional<std::string> precision;
  bool fresh = false, sets = false;
};

} // namespace hybrid::tools
