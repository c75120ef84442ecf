//===- SuiteTask.h - one task of an evaluation -----------------------------------===//
#pragma once
#include "training/evaluation/Figures.h"
#include "training/evaluation/Records.h"
#include "training/evaluation/TextScorer.h"
#include "training/tokenizers/JsonNode.h"
#include <map>
#include <memory>

namespace hybrid::rt {

class SuiteTask {
public:
  virtual ~SuiteTask() = default;
  virtual size_t examples() const = 0;
  /// What an example adds to the figures. Nothing but the example and the model matters.
  virtual Result<std::vector<Share>> score(TextScorer &scorer, size_t example) = 0;
  /// Adds figures that follow from others.
  virtual void derive(std::vector<Figure> &figures) const {}
};

/// Where tasks find their records; each file is read once.
class SuiteData {
public:
  /// Paths that are not absolute are those of files in `folder`.
  explicit SuiteData(std::string folder) : folder(std::move(folder)) {}
  Result<std::shared_ptr<const std::vector<Record>>> records(const std::string &path);
  /// Of all files read so far: hash of the content by path as the suite says it.
  const std::map<std::string, std::string> &hashes() const { return known; }

private:
  std::string folder;
  std::map<std::string, std::shared_ptr<const std::vector<Record>>> files;
  std::map<std::string, std::string> known;
};

/// How a task is read. What is wrong with the text of the suite is noted in the node, and what is
/// wrong with data is the error. May return null when something was noted.
using OpenTask = Result<std::unique_ptr<SuiteTask>> (*)(const JsonNode &node, SuiteData &data,
                                                        const TextScorer &scorer);

Result<std::unique_ptr<SuiteTask>> openPerplexity(const JsonNode &node, SuiteData &data,
                                                  const TextScorer &scorer);
Result<std::unique_ptr<SuiteTask>> openLastWord(const JsonNode &node, SuiteData &data,
                                                const TextScorer &scorer);
Result<std::unique_ptr<SuiteTask>> openMultipleChoice(const JsonNode &node, SuiteData &data,
                                                      const TextScorer &scorer);
Result<std::unique_ptr<SuiteTask>> openGeneration(const JsonNode &node, SuiteData &data,
                                                  const TextScorer &scorer);
Result<std::unique_ptr<SuiteTask>> openNeedle(const JsonNode &node, SuiteData &data,
                                              const TextScorer &scorer);

/// A template of the field `key`; without `otherwise` it must be there.
TextTemplate templateOf(const JsonNode &node, std::string_view key);
TextTemplate templateOf(const JsonNode &node, std::string_view key, std::string_view otherwise);
/// A list of strings; `otherwise` where there is none.
std::vector<std::string> stringsOf(const JsonNode &node, std::string_view key,
                                   std::vector<std::string> otherwise);
/// How many of `all` examples the field "limit" leaves.
size_t limitOf(const JsonNode &node, size_t all);

} // namespace hybrid::rt
