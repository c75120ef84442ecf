//===- StudyPlan.h - the study that a protocol and architectures are ----------------===//
#pragma once
#include "laboratory/Models.h"
#include "laboratory/Protocol.h"

namespace hybrid::rt::lab {

/// Architectures with their costs, and every run, pending. `version` is that of the program.
Result<Study> planStudy(const Protocol &protocol, const std::vector<ModelChoice> &choices,
                        const std::string &version, Models &models);

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
