//===- Fetch.h - data sets that packages carry ------------------------------===//
//
// A catalogue (papers/sources.json) says of each data set which files of which Debian packages it
// is made of. Nothing is installed: a package is downloaded and unpacked beside the folder that is
// made, unless the machine has its files already.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <string>
#include <vector>

namespace hybrid::rt {

struct FetchOptions {
  std::string catalogue;
  std::string name;
  std::string out;      // folder to make; empty: one of the user's cache, which is then used again
  std::string packages; // a folder with .deb files to take, in place of downloading any
};

/// Makes the data set's folder, whole or not at all, and returns its path.
Result<std::string> fetchData(const FetchOptions &options);

/// `text` with the folder of a data set in place of each {NAME}, which is fetched.
Result<std::string> withFetchedData(const std::string &text, const FetchOptions &options);

struct FetchableData {
  std::string name, title, licence;
  std::vector<std::string> packages;
};
Result<std::vector<FetchableData>> fetchableData(const std::string &catalogue);

} // namespace hybrid::rt
