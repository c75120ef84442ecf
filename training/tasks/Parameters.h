//===- Parameters.h - the k=v list of a task on the command line ------------===//
//
// Parses `NAME:key=value,key=value` and hands values out with their type and range checked. A key
// that nobody asked for is an error that names the keys there are. All faults of a list are
// reported together.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hybrid::rt {

class TaskParameters {
public:
  /// Splits a spec; duplicate keys and items without '=' are errors.
  static Result<TaskParameters> parse(std::string_view spec);

  const std::string &task() const { return name; }

  int64_t integer(const std::string &key, int64_t fallback, int64_t least, int64_t most);
  double number(const std::string &key, double fallback, double least, double most);
  bool boolean(const std::string &key, bool fallback);
  std::string choice(const std::string &key, const std::string &fallback,
                     std::span<const std::string> choices);
  /// Adds an error of the task's own, about how parameters go together.
  void refuse(const std::string &why) { faults.push_back(why); }

  /// Call after everything was asked for: all faults in one message, if there are any.
  Result<void> finish() const;
  /// Every parameter with the value in force, in the order asked for.
  const std::vector<std::pair<std::string, std::string>> &resolved() const { return values; }

private:
  std::string *given(const std::string &key);

  std::string name;
  std::vector<std::pair<std::string, std::string>> items;
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<std::string> faults;
};

} // namespace hybrid::rt
