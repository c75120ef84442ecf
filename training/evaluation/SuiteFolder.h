//===- SuiteFolder.h - scores of an evaluation that may be stopped ------------------===//
#pragma once
#include "runtime/files/AppendFile.h"
#include "training/evaluation/Figures.h"
#include "training/record/FolderLock.h"
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace hybrid::rt {

/// evaluation.json says what is evaluated, examples.jsonl has a line an example, results.json comes
/// at the end. An evaluation that was stopped goes on behind the last whole line.
class SuiteFolder {
public:
  /// An error where the folder holds an evaluation of something else, and what differs.
  static Result<SuiteFolder> open(const std::string &path, const nlohmann::json &identity);

  /// Scores of an example that are there already; null: none.
  const std::vector<Share> *find(const std::string &task, size_t example) const;
  Result<void> keep(const std::string &task, size_t example, const std::vector<Share> &shares);
  /// Writes results.json.
  Result<void> finish(const nlohmann::json &results);

private:
  explicit SuiteFolder(std::string path) : folder(std::move(path)) {}
  Result<void> checkIdentity(const nlohmann::json &identity) const;
  Result<void> readExamples();

  std::string folder;
  std::optional<FolderLock> lock;
  std::optional<AppendFile> examples;
  std::map<std::pair<std::string, size_t>, std::vector<Share>> known;
};

} // namespace hybrid::rt
