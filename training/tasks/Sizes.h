//===- Sizes.h - instances of many sizes, longer ones in tests ---------------===//
#pragma once
#include "training/tasks/Instance.h"
#include "training/tasks/Parameters.h"
#include <fmt/format.h>

namespace hybrid::rt {

/// Tokens of an instance, its answer included: uniform in shortest to longest of its split, as in
/// the tests of state tracking beyond the lengths of training (Grazzi et al. 2024, "Unlocking
/// state-tracking in linear RNNs through negative eigenvalues", appendix D). `length` is the
/// longest of a test and the positions of all.
struct Sizes {
  int64_t length = 256, trainShortest = 3, trainLongest = 40, testShortest = 40;

  int64_t draw(Split split, Rng &rng) const {
    const bool train = split == Split::Train;
    const int64_t from = train ? trainShortest : testShortest, to = train ? trainLongest : length;
    return from + static_cast<int64_t>(rng.below(static_cast<uint64_t>(to - from + 1)));
  }

  static Sizes of(TaskParameters &parameters, int64_t least) {
    constexpr int64_t most = int64_t{1} << 20;
    Sizes sizes;
    sizes.length = parameters.integer("length", sizes.length, least, most);
    const auto upTo = [&](int64_t size) { return std::min(size, sizes.length); };
    sizes.trainShortest =
        parameters.integer("train_shortest", upTo(sizes.trainShortest), least, most);
    sizes.trainLongest = parameters.integer("train_longest", upTo(sizes.trainLongest), least, most);
    sizes.testShortest = parameters.integer("test_shortest", upTo(sizes.testShortest), least, most);
    if (sizes.trainShortest > sizes.trainLongest || sizes.trainLongest > sizes.length ||
        sizes.testShortest > sizes.length)
      parameters.refuse(fmt::format(
          "train_shortest={}, train_longest={} and length={} must rise, and test_shortest={} be at "
          "most length",
          sizes.trainShortest, sizes.trainLongest, sizes.length, sizes.testShortest));
    return sizes;
  }
};

} // namespace hybrid::rt
