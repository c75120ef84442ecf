//===- Trust.h - whose machine code runs --------------------------------------===//
//
// Machine code in an executable can do all that this user can. It runs when the executable is
// signed with a key of this machine (executable/KeyFile.h), or when the user said once that it is
// to be trusted: a file named by the hash of its contents, in `trusted` beside the user's key, says
// so.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Seal.h"
#include "runtime/Result.h"

namespace hybrid::rt {

/// Whether code under this seal may run. `fault` names a key that cannot be trusted.
bool isTrusted(const Seal &seal, std::string &fault);

/// Has it run from now on, for this user.
Result<void> rememberTrust(const Seal &seal);

} // namespace hybrid::rt
