//===- ModalFilters.h - a model's text with filters that recur -----------------===//
#pragma once
#include "frontends/dsl/Frontend.h"

namespace hybrid::dsl {

/// The text of the main file of `sources` in which every filter that it names as a value, such as
/// `sine_filter with (l_max = 256)`, is `modal_poles` of std.state_space with so many states. A
/// filter is a layer that is called as filter(L, channels, count); those that are recurrences
/// already stay. Nothing after a diagnostic: the text names no such filter, or is not sound.
std::optional<std::string> withModalFilters(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                            const Options &options, int64_t states);

} // namespace hybrid::dsl
