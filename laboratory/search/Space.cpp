//===- Space.cpp - the points of a model with choices -------------------------===//
#include "laboratory/search/Space.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::lab {

Result<Space> Space::parse(const nlohmann::json &json) {
  const Error fault{"what hybridc --choices=json says is not understood: is it the hybridc of this "
                    "version?"};
  auto text = [](const nlohmann::json &object, const char *key, std::string &into) {
    if (!object.is_object() || !object.contains(key) || !object[key].is_string())
      return false;
    into = object[key].get<std::string>();
    return true;
  };
  auto count = [](const nlohmann::json &object, const char *key, uint64_t &into) {
    if (!object.is_object() || !object.contains(key) || !object[key].is_number_integer() ||
        object[key].get<int64_t>() < 0)
      return false;
    into = object[key].get<uint64_t>();
    return true;
  };
  Space space;
  if (!text(json, "model", space.model) || !json.contains("choices") || !json["choices"].is_array())
    return fault;
  for (const nlohmann::json &entry : json["choices"]) {
    Choice choice;
    if (!text(entry, "name", choice.name) || !text(entry, "type", choice.type) ||
        !count(entry, "offset", choice.offset) || !count(entry, "bytes", choice.bytes) ||
        !entry.contains("options") || !entry["options"].is_array() || entry["options"].empty())
      return fault;
    for (const nlohmann::json &each : entry["options"]) {
      Choice::Option option;
      if (!text(each, "setting", option.setting) || !text(each, "source", option.source))
        return fault;
      choice.options.push_back(std::move(option));
    }
    if (__builtin_mul_overflow(space.points, choice.options.size(), &space.points))
      return fault;
    space.choices.push_back(std::move(choice));
  }
  return space;
}

std::vector<size_t> Space::optionsAt(uint64_t point) const {
  std::vector<size_t> options(choices.size());
  for (size_t i = choices.size(); i-- > 0;) {
    options[i] = static_cast<size_t>(point % choices[i].options.size());
    point /= choices[i].options.size();
  }
  return options;
}

std::map<std::string, std::string> Space::settingsAt(uint64_t point) const {
  std::map<std::string, std::string> settings;
  std::vector<size_t> options = optionsAt(point);
  for (size_t i = 0; i < choices.size(); ++i)
    settings[choices[i].name] = choices[i].options[options[i]].setting;
  return settings;
}

std::string Space::nameOf(uint64_t point) const {
  std::string name;
  std::vector<size_t> options = optionsAt(point);
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i].options.size() > 1)
      name += fmt::format("{}{}={}", name.empty() ? "" : " ", choices[i].name,
                          choices[i].options[options[i]].setting);
  return name.empty() ? model : name;
}

Result<std::string> Space::fillIn(const std::string &source, uint64_t point) const {
  struct Edit {
    const Choice *choice;
    const std::string *text;
  };
  std::vector<Edit> edits;
  std::vector<size_t> options = optionsAt(point);
  for (size_t i = 0; i < choices.size(); ++i)
    edits.push_back({&choices[i], &choices[i].options[options[i]].source});
  std::sort(edits.begin(), edits.end(),
            [](const Edit &a, const Edit &b) { return a.choice->offset < b.choice->offset; });
  std::string result;
  size_t done = 0;
  for (const Edit &edit : edits) {
    size_t offset = edit.choice->offset, bytes = edit.choice->bytes;
    if (offset < done || offset > source.size() || bytes > source.size() - offset)
      return Error{fmt::format("the choice '{}' is not where it was in the model's text: the file "
                               "has changed",
                               edit.choice->name)};
    result.append(source, done, offset - done);
    result += *edit.text;
    done = offset + bytes;
  }
  return result.append(source, done);
}

//===-- order ----------------------------------------------------------------===//

namespace {

/// SplitMix64's mixing.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

} // namespace

RandomOrder::RandomOrder(uint64_t size, uint64_t seed) : size(size), seed(seed) {
  while (halfBits < 32 && (uint64_t(1) << (2 * halfBits)) < size)
    ++halfBits;
}

uint64_t RandomOrder::at(uint64_t index) const {
  const uint64_t mask = (uint64_t(1) << halfBits) - 1;
  // A permutation of at most four times as many numbers: those beyond the range are sent on along
  // their cycle, which leads back into it.
  do {
    uint64_t left = index >> halfBits, right = index & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      uint64_t next = left ^ (mix(right + mix(seed + mix(round))) & mask);
      left = right;
      right = next;
    }
    index = left << halfBits | right;
  } while (index >= size);
  return index;
}

} // namespace hybrid::rt::lab
