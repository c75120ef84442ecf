//===- FormatFiles.h - hybridc --format --------------------------------------===//
#pragma once
#include <string>
#include <vector>

namespace hybrid {

struct FormatOptions {
  std::vector<std::string> files; // .hyb or "-"
  bool inPlace = false;           // else to standard output
  bool check = false;             // write nothing, name the files that would change
};

/// Formats every file that it can. Exit status: 0 done; 1 a file is at fault, could not be written,
/// or would change.
int formatFiles(const FormatOptions &options);

} // namespace hybrid
