#include "TaskOracles.h"
#include "TaskInstance.h"
#include <algorithm>

using namespace hybrid::rt;

namespace hybrid::test {
namespace {

using Seen = std::span<const int32_t>;
using Tuple = std::vector<int32_t>;

std::string settingOf(const Task &task, const std::string &key) {
  for (const auto &[name, value] : task.settings())
    if (name == key)
      return value;
  ADD_FAILURE() << task.name() << " has no setting " << key;
  return "";
}

/// Keys are the lower half of what is left after the special ids.
Oracle recall(const Task &task) {
  bool multiQuery = isSet(task, "multi_query");
  int64_t content =
      integerSetting(task, "vocab") - integerSetting(task, "noise_vocab") - (multiQuery ? 0 : 1);
  int64_t keys = content / 2;
  int32_t prefix = multiQuery ? -1 : static_cast<int32_t>(integerSetting(task, "vocab") - 1);
  return [=](Seen seen) {
    int32_t asked = seen.back();
    if (asked >= keys || (!multiQuery && (seen.size() < 2 || seen[seen.size() - 2] != prefix)))
      return ignoredTarget;
    for (size_t t = 0; t + 2 < seen.size(); ++t)
      if (seen[t] == asked && seen[t + 1] >= keys && seen[t + 1] < content)
        return seen[t + 1];
    return ignoredTarget;
  };
}

/// Tuples are cut where keys turn into values and back. All keys of a test have `k_motif` tokens.
Oracle fuzzyRecall(const Task &task) {
  bool multiQuery = isSet(task, "multi_query");
  int64_t content = integerSetting(task, "vocab") - (multiQuery ? 1 : 2);
  int64_t keys = content / 2;
  auto keySize = static_cast<size_t>(integerSetting(task, "k_motif"));
  return [=](Seen seen) {
    std::map<Tuple, Tuple> facts;
    Tuple key, value;
    bool asked = multiQuery;
    for (int32_t token : seen) {
      if (token < keys) {
        if (!value.empty()) {
          facts[key] = value;
          key.clear();
          value.clear();
        }
        key.push_back(token);
      } else if (token < content) {
        value.push_back(token);
      } else if (token > content) { // the copy prefix
        facts[key] = value;
        key.clear();
        value.clear();
        asked = true;
      }
    }
    if (!asked || key.size() != keySize || !facts.count(key) || value.size() >= facts[key].size())
      return ignoredTarget;
    return facts[key][value.size()];
  };
}

Oracle selectiveCopying(const Task &task) {
  auto vocab = static_cast<int32_t>(integerSetting(task, "vocab"));
  bool inserts = settingOf(task, "layout") == "paper";
  return [=](Seen seen) {
    Tuple contents;
    size_t marks = 0, behind = 0; // insert or copy tokens; tokens behind the first
    for (int32_t token : seen) {
      behind += marks > 0;
      if (token < vocab - 2)
        contents.push_back(token);
      marks += token == vocab - 1;
    }
    if (inserts)
      return seen.back() == vocab - 1 ? contents[marks - 1] : ignoredTarget;
    return behind > 0 ? contents[behind - 1] : ignoredTarget;
  };
}

Oracle memorization(const Task &task, uint64_t seed) {
  std::map<int32_t, int32_t> facts;
  for (uint64_t i = 0; i < 2000; ++i) {
    Drawn instance = draw(task, Split::Train, i, seed);
    for (size_t t = 0; t < instance.inputs.size(); t += 2)
      facts[instance.inputs[t]] = instance.targets[t + 1];
  }
  return [facts](Seen seen) {
    return seen.size() % 2 ? ignoredTarget : facts.at(seen[seen.size() - 2]);
  };
}

Oracle associativeRecall(const Task &task) {
  auto vocab = static_cast<int32_t>(integerSetting(task, "vocab"));
  auto keySize = integerSetting(task, "num_keys");
  return [=](Seen seen) {
    auto prefix = std::find(seen.begin(), seen.end(), vocab - 1);
    if (seen.end() - prefix != keySize + 1)
      return ignoredTarget;
    for (auto pair = seen.begin(); pair < prefix; pair += keySize + 1)
      if (std::equal(pair, pair + keySize, prefix + 1))
        return *(pair + keySize);
    return ignoredTarget;
  };
}

Oracle majority(const Task &task) {
  auto query = static_cast<int32_t>(integerSetting(task, "vocab") - 1);
  return [=](Seen seen) {
    if (seen.back() != query)
      return ignoredTarget;
    std::map<int32_t, int> counts;
    for (int32_t token : seen.first(seen.size() - 1))
      ++counts[token];
    int32_t best = -1;
    int most = 0, leaders = 0;
    for (auto [token, count] : counts) {
      leaders = count > most ? 1 : leaders + (count == most);
      if (count > most)
        best = token;
      most = std::max(most, count);
    }
    EXPECT_EQ(leaders, 1);
    return best;
  };
}

Oracle counting(const Task &task) {
  auto length = static_cast<size_t>(integerSetting(task, "length"));
  int64_t content = integerSetting(task, "vocab") - integerSetting(task, "most") - 1;
  return [=](Seen seen) {
    if (seen.size() < length)
      return ignoredTarget;
    return static_cast<int32_t>(content + std::count(seen.begin(), seen.end(), seen.back()));
  };
}

/// Column by column from the right, then the digit that is next.
Oracle arithmetic(const Task &task) {
  auto digits = static_cast<size_t>(integerSetting(task, "digits"));
  return [=](Seen seen) {
    if (seen.size() < 2 * digits)
      return ignoredTarget;
    size_t wanted = seen.size() - 2 * digits; // 0: the carry out of all columns
    int carry = 0, digit = 0;
    for (size_t column = digits; column > 0 && column >= wanted; --column) {
      int sum = seen[column - 1] + seen[digits + column - 1] + carry;
      digit = sum % 10;
      carry = sum / 10;
    }
    return wanted == 0 ? carry : digit;
  };
}

Oracle induction(const Task &task) {
  auto trigger = static_cast<int32_t>(integerSetting(task, "vocab") - 1);
  return [=](Seen seen) {
    if (seen.back() != trigger || std::count(seen.begin(), seen.end(), trigger) < 2)
      return ignoredTarget;
    return *(std::find(seen.begin(), seen.end(), trigger) + 1);
  };
}

Oracle mambaSelectiveCopying(const Task &task) {
  auto marker = static_cast<int32_t>(integerSetting(task, "vocab") - 1);
  return [=](Seen seen) {
    Tuple contents;
    std::copy_if(seen.begin(), seen.end(), std::back_inserter(contents),
                 [=](int32_t token) { return token > 0 && token < marker; });
    auto markers = static_cast<size_t>(std::count(seen.begin(), seen.end(), marker));
    return markers > 0 ? contents.at(markers - 1) : ignoredTarget;
  };
}

/// Also where a distractor happens to be a key, which nobody can tell from a question.
Oracle multiQueryRecall(const Task &task) {
  auto pairs = static_cast<size_t>(integerSetting(task, "pairs"));
  return [=](Seen seen) {
    if (seen.size() > 2 * pairs && seen.size() % 2 == 1)
      for (size_t t = 0; t < 2 * pairs; t += 2)
        if (seen[t] == seen.back())
          return seen[t + 1];
    return ignoredTarget;
  };
}

/// Moves the points themselves, as the spelling of an element says: "c120" puts point 0 to place 1.
Oracle wordProblem(const Task &task) {
  std::map<std::string, int32_t> tokens;
  for (int32_t token = 0; token < task.vocabulary() - 7; ++token)
    tokens[task.spell(token)] = token;
  auto begin = static_cast<int32_t>(task.vocabulary() - 6);
  return [=, &task](Seen seen) {
    if (seen.size() == 1)
      return begin;
    std::string places = task.spell(0).substr(1);
    for (int32_t token : seen.subspan(1))
      for (char &place : places)
        place = task.spell(token)[static_cast<size_t>(1 + place - '0')];
    return tokens.at("c" + places);
  };
}

Oracle parity(const Task &) {
  return [](Seen seen) {
    return static_cast<int32_t>(1 + std::count(seen.begin(), seen.end(), 2) % 2);
  };
}

/// A calculator of strings: "*" binds before "+" and "-".
struct Calculator {
  std::string_view text;
  int64_t modulus;

  bool takes(char c) {
    if (text.empty() || text[0] != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  int64_t factor() {
    if (takes('-'))
      return -factor();
    if (takes('(')) {
      int64_t value = sum();
      EXPECT_TRUE(takes(')'));
      return value;
    }
    int64_t value = text[0] - '0';
    text.remove_prefix(1);
    return value;
  }
  int64_t product() {
    int64_t value = factor();
    while (takes('*'))
      value = value * factor() % modulus;
    return value;
  }
  int64_t sum() {
    int64_t value = product();
    for (;;)
      if (takes('+'))
        value = (value + product()) % modulus;
      else if (takes('-'))
        value = (value - product()) % modulus;
      else
        return value;
  }
};

Oracle modularArithmetic(const Task &task) {
  int64_t modulus = integerSetting(task, "modulus");
  std::map<std::string, int32_t> tokens;
  for (int32_t token = 0; token < task.vocabulary(); ++token)
    tokens[task.spell(token)] = token;
  return [=, &task](Seen seen) {
    if (task.spell(seen.back()) != "=>")
      return ignoredTarget;
    std::string text;
    for (int32_t token : seen.first(seen.size() - 1))
      text += task.spell(token).substr(1);
    int64_t value = Calculator{text, modulus}.sum() % modulus;
    return tokens.at("c" + std::to_string(value < 0 ? value + modulus : value));
  };
}

/// The first two thirds of the ids are contexts and keys; what a pair of them had is its value.
Oracle jointRecall(const Task &task) {
  const auto third = static_cast<int32_t>(integerSetting(task, "vocab") / 3);
  return [=](Seen seen) {
    std::map<std::pair<int32_t, int32_t>, int32_t> values;
    int32_t context = -1, key = -1;
    for (int32_t token : seen) {
      if (token < third)
        context = token;
      else if (token < 2 * third)
        key = token;
      else
        values[{context, key}] = token;
    }
    const auto found = values.find({context, key});
    return seen.back() == key && found != values.end() ? found->second : ignoredTarget;
  };
}

/// Reads an expression from its end: what an operator finds on a stack are its sides.
Oracle mano(const Task &task) {
  const int64_t modulus = integerSetting(task, "modulus");
  return [=](Seen seen) {
    if (seen.back() != modulus + 4)
      return ignoredTarget;
    std::vector<int64_t> stack;
    for (size_t t = seen.size() - 1; t-- > 2;) {
      if (seen[t] < modulus) {
        stack.push_back(seen[t]);
        continue;
      }
      const int64_t left = stack.back(), right = stack[stack.size() - 2];
      stack.resize(stack.size() - 2);
      const int64_t values[] = {left + right, left - right, left * right};
      stack.push_back((values[seen[t] - modulus] % modulus + modulus) % modulus);
    }
    return static_cast<int32_t>(stack.back());
  };
}

/// Follows the cycle a step at a time.
Oracle depo(const Task &task) {
  const auto letters = static_cast<int32_t>(integerSetting(task, "letters"));
  const auto hops = static_cast<int32_t>(integerSetting(task, "hops"));
  const int32_t begin = 2 * letters + hops, question = begin + 1;
  return [=](Seen seen) {
    std::map<Tuple, Tuple> behind;
    Tuple word, before;
    int32_t hop = 0;
    bool answers = false, complete = false;
    for (int32_t token : seen) {
      if (token < 2 * letters) {
        word.push_back(token);
        complete = token >= letters;
        if (complete && !hop) { // words of neighbours, in pairs
          if (before.empty())
            before = word;
          else
            behind[std::exchange(before, {})] = word;
          word.clear();
        }
      } else if (token == question) {
        before = std::exchange(word, {});
        answers = true;
        complete = false;
      } else {
        hop = token < begin ? token - 2 * letters + 1 : hop;
        word.clear();
        answers = false;
      }
    }
    if (!answers || complete)
      return ignoredTarget;
    for (int32_t i = 0; i < hop; ++i)
      before = behind.at(before);
    return before[word.size()];
  };
}

} // namespace

int64_t integerSetting(const Task &task, const std::string &key) {
  return std::stoll(settingOf(task, key));
}
bool isSet(const Task &task, const std::string &key) { return settingOf(task, key) == "true"; }

Oracle oracleOf(const Task &task, uint64_t seed) {
  const std::string &name = task.name();
  if (name == "in-context-recall" || name == "noisy-in-context-recall")
    return recall(task);
  if (name == "fuzzy-in-context-recall")
    return fuzzyRecall(task);
  if (name == "selective-copying")
    return selectiveCopying(task);
  if (name == "memorization")
    return memorization(task, seed);
  if (name == "compression")
    return [](Seen seen) { return seen.back(); };
  if (name == "associative-recall")
    return associativeRecall(task);
  if (name == "majority")
    return majority(task);
  if (name == "counting")
    return counting(task);
  if (name == "arithmetic")
    return arithmetic(task);
  if (name == "induction-heads" || name == "safari-induction")
    return induction(task);
  if (name == "mamba-selective-copying")
    return mambaSelectiveCopying(task);
  if (name == "multi-query-recall")
    return multiQueryRecall(task);
  if (name == "word-problem")
    return wordProblem(task);
  if (name == "parity")
    return parity(task);
  if (name == "modular-arithmetic")
    return modularArithmetic(task);
  if (name == "joint-recall")
    return jointRecall(task);
  if (name == "mano")
    return mano(task);
  if (name == "depo")
    return depo(task);
  return {};
}

} // namespace hybrid::test
