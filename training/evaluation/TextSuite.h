//===- TextSuite.h - an evaluation of language models, as a file says it ---------===//
#pragma once
#include "training/evaluation/SuiteTask.h"

namespace hybrid::rt {

/// {"name": ..., "tasks": [{"name": ..., "kind": ..., ...}]}, as docs/book/evaluate.md says.
struct TextSuite {
  struct Entry {
    std::string name, kind;
    std::unique_ptr<SuiteTask> task;
  };
  std::string name;
  std::vector<Entry> tasks;
  nlohmann::json identity; // of the file and of all data, by content
};

/// Reads a suite, a file or one by its name (NamedSuites.h), and its data; `folder` has the data
/// (empty: that of the file). The error names the file and the key, or the file of data, its line
/// and the field.
Result<TextSuite> readTextSuite(const std::string &path, const std::string &folder,
                                const TextScorer &scorer);

} // namespace hybrid::rt
