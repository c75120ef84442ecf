//===- RenumberedSource.h - the training instances of a source in another order -----===//
#pragma once
#include "training/data/Source.h"

namespace hybrid::rt {

/// The first `sequences` training instances again and again: a model that cannot learn these by
/// heart has a fault. Its description says so. Test instances stay.
std::unique_ptr<Source> repeatFirstBatch(std::unique_ptr<Source> source, uint64_t sequences);

/// Training instance `first` is the source's first one; those before it are not asked for. It has
/// the description of the data that it is a part of.
std::unique_ptr<Source> beginAt(std::unique_ptr<Source> source, uint64_t first,
                                nlohmann::json description);

} // namespace hybrid::rt
