//===- DataSource.h - data sets as sources of instances ---------------------===//
#pragma once
#include "training/data/DataSpec.h"
#include "training/data/Source.h"
#include "training/data/TokenWindows.h"
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

/// The data of these specs for a model of `length` positions. Several are mixed by
/// their weight=W (1): of any first instances each gives its share, to within one. A single text:
/// without options is TextBytes.
Result<std::unique_ptr<Source>> makeDataSource(std::span<const DataSpec> specs, int64_t length,
                                               uint64_t seed, uint64_t dataSeed);
/// Positions that the data has of its own (pixels of an image); 0: any.
Result<int64_t> positionsOf(const std::string &spec);

/// One KIND:PATH, for makeDataSource(). Both are called with parsed options.
Result<std::unique_ptr<Source>> makeTokenSource(const DataSpec &spec, int64_t length, uint64_t seed,
                                                uint64_t dataSeed);
/// text:, jsonl: or fasta: with label=folder.
Result<std::unique_ptr<Source>> makeLabelledSource(const DataSpec &spec, int64_t length,
                                                   uint64_t seed, uint64_t dataSeed);
Result<std::unique_ptr<Source>> makeImageSource(const DataSpec &spec, int64_t length, uint64_t seed,
                                                uint64_t dataSeed);
/// Reads the tokens of a spec as makeTokenSource() does.
Result<TokenSet> openTokens(const DataSpec &spec, uint64_t dataSeed);

/// Which source an instance of a mixture is from, and its number there. `weights` are shares of
/// 2^32 of what the sources before left: the last one is 2^32.
struct MixturePlace {
  size_t source = 0;
  uint64_t number = 0;
};
MixturePlace mixturePlace(std::span<const uint64_t> weights, uint64_t number);
/// The shares of weights.
std::vector<uint64_t> mixtureShares(std::span<const double> weights);

} // namespace hybrid::rt
