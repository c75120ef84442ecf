//===- PrivateFolder.h - folders that only one user may write to ------------===//
#pragma once
#include <string>

namespace hybrid {

/// A folder of this user's: `$variable`, or `below` in the home folder where that is not set to an
/// absolute path, with "hybrid" in it. Empty when there is no home either. It need not exist.
std::string userFolder(const char *variable, const std::string &below);

/// Makes the folder, or sees that it is this user's alone: others' rights to it are taken away.
/// Empty, or why it cannot be used ("'/x' belongs to another user").
std::string makePrivateFolder(const std::string &path);

} // namespace hybrid
