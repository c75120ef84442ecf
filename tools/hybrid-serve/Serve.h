//===- Serve.h - hybrid-run serve: a language model for clients --------------------===//
#pragma once
#include "tools/commandline/CommandLine.h"

namespace hybrid::tools {

/// What `hybrid-run serve` takes, and its action.
void addServing(CLI::App &verb);

} // namespace hybrid::tools
