//===- KeyFile.h - keys that say who compiled --------------------------------===//
//
// A key file holds 64 hexadecimal digits. hybridc signs what it makes with the administrator's key
// where this user may read it, and otherwise with the user's own, which it makes on first use.
// Machine code that is signed with either runs without a question.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Seal.h"
#include <string>
#include <vector>

namespace hybrid {

/// Of the administrator: belongs to root, and only root may write to it.
constexpr const char *sharedKeyFile = "/etc/hybrid/key";

/// $XDG_CONFIG_HOME/hybrid/key or ~/.config/hybrid/key, for this user alone. Empty without a home.
std::string ownKeyFile();

/// The key in a file of `owner` that no one else may write to, nor read unless it is `shared`.
/// Otherwise nothing; `fault` says why, and is empty where there is no such file or it may not be
/// read.
std::optional<Key> readKey(const std::string &path, unsigned owner, bool shared,
                           std::string &fault);

/// What to sign with. `fault` says why there is no key.
std::optional<Key> signingKey(std::string &fault);

/// The keys that are there. `fault` names a file that cannot be trusted.
std::vector<Key> knownKeys(std::string &fault);

} // namespace hybrid
