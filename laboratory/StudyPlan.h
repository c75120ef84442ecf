//===- StudyPlan.h - the study that a protocol and architectures are ----------------===//
#pragma once
#include "laboratory/Models.h"
#include "laboratory/Protocol.h"
#include <functional>

namespace hybrid::rt::lab {

/// Architectures with their costs in the protocol's first setting, and no run yet. `version` is
/// that of the program.
Result<Study> planArchitectures(const Protocol &protocol, const std::vector<ModelChoice> &choices,
                                const std::string &version, Models &models);

/// An architecture's runs with one setting, pending.
Result<std::vector<Run>> planSetting(const std::string &architecture, const Setting &setting,
                                     const Protocol &protocol, Models &models);

/// Adds every run; `counted` hears of how many of how many the costs are there.
Result<void> planRuns(Study &study, const Protocol &protocol, Models &models,
                      const std::function<void(size_t, size_t)> &counted);

/// A study grows by tasks, learning rates, weight decays, seeds and architectures: what a stored
/// one has comes first, and what is wanted is added. Fails, saying what differs, when anything else
/// does: the results would not be of one protocol.
Result<Protocol> grownProtocol(const Study &stored, const Protocol &wanted,
                               const std::string &path);
std::vector<ModelChoice> grownChoices(const Study &stored, const std::vector<ModelChoice> &wanted);

/// Fails, saying what differs, when an architecture is not what the stored study has under its
/// name.
Result<void> requireSameArchitectures(const Study &stored, const Study &wanted,
                                      const std::string &path);

} // namespace hybrid::rt::lab
