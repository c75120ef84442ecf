//===- Task.cpp - the list of tasks -----------------------------------------===//
#include "training/tasks/Task.h"
#include "executable/NearestName.h"
#include "training/tasks/Arithmetic.h"
#include "training/tasks/AssociativeRecall.h"
#include "training/tasks/Compression.h"
#include "training/tasks/Counting.h"
#include "training/tasks/Depo.h"
#include "training/tasks/FuzzyRecall.h"
#include "training/tasks/InductionHeads.h"
#include "training/tasks/Instance.h"
#include "training/tasks/JointRecall.h"
#include "training/tasks/LinearFunctions.h"
#include "training/tasks/Majority.h"
#include "training/tasks/MambaSelectiveCopying.h"
#include "training/tasks/Mano.h"
#include "training/tasks/Memorization.h"
#include "training/tasks/ModularArithmetic.h"
#include "training/tasks/MultiQueryRecall.h"
#include "training/tasks/Parameters.h"
#include "training/tasks/Parity.h"
#include "training/tasks/Recall.h"
#include "training/tasks/SelectiveCopying.h"
#include "training/tasks/WordProblem.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt {
namespace {

using Creator = Result<std::unique_ptr<Task>> (*)(TaskParameters &, Convention);

struct Entry {
  const char *name;
  Creator create;
};

constexpr Entry entries[] = {
    {"in-context-recall", createInContextRecall},
    {"noisy-in-context-recall", createNoisyInContextRecall},
    {"fuzzy-in-context-recall", createFuzzyInContextRecall},
    {"selective-copying", createSelectiveCopying},
    {"memorization", createMemorization},
    {"compression", createCompression},
    {"associative-recall", createAssociativeRecall},
    {"majority", createMajority},
    {"counting", createCounting},
    {"linear-functions", createLinearFunctions},
    {"arithmetic", createArithmetic},
    {"safari-induction", createSafariInduction},
    {"mamba-selective-copying", createMambaSelectiveCopying},
    {"induction-heads", createInductionHeads},
    {"multi-query-recall", createMultiQueryRecall},
    {"joint-recall", createJointRecall},
    {"word-problem", createWordProblem},
    {"parity", createParity},
    {"modular-arithmetic", createModularArithmetic},
    {"mano", createMano},
    {"depo", createDepo},
};

} // namespace

std::string_view nameOf(Split split) { return split == Split::Train ? "train" : "test"; }
std::string_view nameOf(Convention convention) {
  return convention == Convention::Paper ? "paper" : "mad-lab";
}

void Task::generate(uint64_t seed, Split split, uint64_t index, std::span<int32_t> inputs,
                    std::span<int32_t> targets) const {
  std::fill(targets.begin(), targets.end(), ignoredTarget);
  // One stream a split: train and test never share numbers, whatever the indices.
  const uint64_t stream = split == Split::Train ? 0x7261696eu : 0x74657374u;
  Instance instance{seed, split, {seed, stream, index}, inputs, targets};
  draw(instance);
}

std::string Task::spec() const {
  std::string text = taskName;
  char separator = ':';
  for (const auto &[key, value] : taskSettings) {
    text += separator + key + "=" + value;
    separator = ',';
  }
  return text;
}

Result<std::unique_ptr<Task>> createTask(std::string_view spec, Convention convention) {
  Result<TaskParameters> parameters = TaskParameters::parse(spec);
  if (!parameters)
    return parameters.error();
  for (const Entry &entry : entries)
    if (parameters->task() == entry.name)
      return entry.create(*parameters, convention);
  std::vector<std::string> names = taskNames();
  std::string message = fmt::format("no task is called '{}'", parameters->task());
  if (std::string nearest = nearestName(parameters->task(), names); !nearest.empty())
    message += fmt::format(", did you mean '{}'?", nearest);
  return Error{message + fmt::format(" (known: {})", fmt::join(names, ", "))};
}

std::vector<std::string> taskNames() {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.emplace_back(entry.name);
  return names;
}

} // namespace hybrid::rt
