//===- ScaleRun.h - hybrid-run scale MODEL...: a study trained ------------------------===//
#pragma once
#include <CLI/CLI.hpp>

namespace hybrid::tools {

/// The arguments of `hybrid-run scale` itself, beside its verbs.
void addScaleRun(CLI::App &verb);

} // namespace hybrid::tools
