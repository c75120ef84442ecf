//===- FreeSizes.h - numbers in place of free dimensions ----------------------===//
//
// What shapes an op takes and gives is known to the op alone. While the batch and the length are
// free, two sets of numbers stand for them, in turn: a rule holds when it holds for both, and a
// size of the result that is one number in both is known, one that is a dimension's number in both
// is that dimension, and any other depends on what is not known yet.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "frontends/dsl/Values.h"
#include <optional>
#include <string>

namespace hybrid::dsl {

/// Primes above all that a model is compiled for, so that nothing divides them; the order of B and
/// L differs between the sets, so that neither is taken for the longer.
constexpr size_t freeSizeSets = 2;

/// The size in a set.
int64_t standIn(const Dim &dim, size_t set);
/// The size that has these numbers, if it is known or free.
std::optional<Dim> sizeOf(int64_t first, int64_t second);
/// The size of a name in a shape attribute: "L", "L - 1".
Dim freeSize(llvm::StringRef text);
/// The size of several dimensions as one, if it is known or that of a free one.
std::optional<Dim> productOf(llvm::ArrayRef<Dim> dims);
/// The text with the names of free dimensions in place of a set's numbers: "[B, L, 64]", "L + 2".
std::string withNames(llvm::StringRef text, size_t set);

} // namespace hybrid::dsl
