//===- SpaceFixture.h - small spaces for tests -----------------------------------===//
#pragma once
#include "laboratory/search/Space.h"
#include "test/unit/laboratory/Fixture.h"

namespace hybrid::rt::lab {

inline const std::string spaceText = "model m(a: int = one_of(), b: int = one_of()) { }\n";

/// Two choices, a = 0 ... and b = 0 ...
inline Space makeSpace(int first, int second) {
  Space space{"m", {}, static_cast<uint64_t>(first * second)};
  for (auto [name, count] : {std::pair{"a", first}, std::pair{"b", second}}) {
    Choice choice{name, "int", spaceText.find("one_of", name[0] == 'a' ? 0 : 25), 8, {}};
    for (int i = 0; i < count; ++i)
      choice.options.push_back({std::to_string(i), std::to_string(i)});
    space.choices.push_back(std::move(choice));
  }
  return space;
}

} // namespace hybrid::rt::lab
