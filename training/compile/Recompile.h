//===- Recompile.h - an executable made again from what it carries ------------===//
#pragma once
#include "training/compile/ModelSpec.h"

namespace hybrid::rt {

/// How to compile a model again from the texts in its executable, which are put into a folder of
/// the user's cache. Fails where they do not say how.
Result<ModelSpec> sourceOf(const Executable &executable);

} // namespace hybrid::rt
