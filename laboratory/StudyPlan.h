//===- StudyPlan.h - the study that a protocol and architectures are ----------------===//
#pragma once
#include "laboratory/Models.h"
#include "laboratory/Protocol.h"

namespace hybrid::rt::lab {

/// Architectures (`paths`, with `settings` NAME=VALUE) with their costs, and every run, pending.
/// `version` is that of the program.
Result<Study> planStudy(const Protocol &protocol, const std::vector<std::string> &paths,
                        const std::vector<std::string> &settings, const std::string &version,
                        Models &models);

/// Fails, saying what differs, when the database's study is not the one asked for.
Result<void> requireSameStudy(const Study &stored, const Study &wanted, const std::string &path);

} // namespace hybrid::rt::lab
