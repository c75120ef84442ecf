//===- ModelFingerprint.h - what an executable computes, however it is cut ---------===//
#pragma once
#include "runtime/Executable.h"

namespace hybrid::rt {

/// Whether its training step is one of several ranks.
bool reducesOverRanks(const Executable &executable);

/// Ranks that have parts of each sequence, of which its programs are for one; 1: they are for all.
int64_t sequenceRanksOf(const Executable &executable);

/// Whether ranks have shares of its optimizer's state; of that of the parameters that lie in these
/// bytes of their space.
bool sharesOptimizer(const Executable &executable);
bool isShared(const Executable &executable, uint64_t offset, uint64_t bytes);

/// The same for two executables of one text and one set of parameters and options that differ in
/// their batch alone, in what part of a sequence they are for, or in what ranks share: N ranks of
/// batch B go on where M ranks of another stopped.
uint64_t modelFingerprint(const Executable &executable);

} // namespace hybrid::rt
