// In-context learning of linear functions: numbers instead of tokens, answers that normal equations
// find, and the padding of rows of numbers.
#include "FakeModel.h"
#include "TaskInstance.h"
#include "training/Evaluate.h"
#include <Eigen/Dense>
#include <cmath>

using namespace hybrid::rt;
using namespace hybrid::test;

namespace {

struct Prompt {
  Eigen::MatrixXd x;               // [pairs, dimension]
  Eigen::VectorXd values, weights; // targets at each x, and whether they are asked
  Eigen::MatrixXd shown;           // what stands behind each x but the last
};

Prompt promptOf(const Task &task, Split split, uint64_t index, uint64_t seed = defaultDataSeed) {
  auto positions = static_cast<size_t>(task.positions()),
       dimension = static_cast<size_t>(task.inputNumbers());
  std::vector<int32_t> inputs(positions * dimension, -7), targets(positions * 2, -7);
  task.generate(seed, split, index, inputs, targets);
  auto pairs = static_cast<Eigen::Index>(positions / 2 + 1);
  Prompt prompt{Eigen::MatrixXd(pairs, dimension), Eigen::VectorXd(pairs), Eigen::VectorXd(pairs),
                Eigen::MatrixXd(pairs - 1, dimension)};
  for (size_t t = 0; t < positions; ++t)
    for (size_t i = 0; i < dimension; ++i)
      (t % 2 ? prompt.shown : prompt.x)(static_cast<Eigen::Index>(t / 2),
                                        static_cast<Eigen::Index>(i)) =
          numberOf(inputs[t * dimension + i]);
  for (size_t t = 0; t < positions; ++t) {
    if (t % 2) {
      EXPECT_EQ(numberOf(targets[2 * t + 1]), 0);
      continue;
    }
    prompt.values[static_cast<Eigen::Index>(t / 2)] = numberOf(targets[2 * t]);
    prompt.weights[static_cast<Eigen::Index>(t / 2)] = numberOf(targets[2 * t + 1]);
  }
  return prompt;
}

} // namespace

TEST(LinearFunctions, ValuesFollowTheirVectorsAndTheLastIsAsked) {
  auto task = make("linear-functions:dimension=3,pairs=6");
  EXPECT_EQ(task->positions(), 11);
  EXPECT_EQ(task->inputNumbers(), 3);
  EXPECT_EQ(make("linear-functions")->positions(), 21);
  for (Split split : {Split::Train, Split::Test})
    for (uint64_t i = 0; i < 100; ++i) {
      Prompt prompt = promptOf(*task, split, i);
      EXPECT_EQ(prompt.shown.col(0), prompt.values.head(5));
      EXPECT_EQ(prompt.shown.rightCols(2).cwiseAbs().maxCoeff(), 0);
      EXPECT_EQ(prompt.weights.sum(), split == Split::Train ? 6 : 1);
      EXPECT_EQ(prompt.weights[5], 1);
    }
}

// After `dimension` pairs the answer is determined: the normal equations of the pairs before tell
// it.
TEST(LinearFunctions, EarlierPairsDetermineTheAnswer) {
  for (int dimension : {1, 2, 5, 10}) {
    auto task = make("linear-functions:dimension=" + std::to_string(dimension));
    for (uint64_t i = 0; i < 50; ++i) {
      Prompt prompt = promptOf(*task, Split::Test, i);
      Eigen::Index before = prompt.x.rows() - 1;
      Eigen::VectorXd w =
          prompt.x.topRows(before).colPivHouseholderQr().solve(prompt.values.head(before));
      EXPECT_NEAR(prompt.x.row(before).dot(w), prompt.values[before], 1e-5);
      EXPECT_LT(task->referenceLoss(defaultDataSeed, Split::Test, i), 1e-6);
    }
  }
}

// With fewer pairs k than dimensions n, least squares of smallest norm leaves (n - k) of n.
TEST(LinearFunctions, LeastSquaresIsAsGoodAsItCanBe) {
  constexpr int instances = 4000;
  for (int pairs : {1, 3, 5, 6}) {
    auto task = make("linear-functions:dimension=5,pairs=" + std::to_string(pairs));
    double sum = 0;
    for (uint64_t i = 0; i < instances; ++i)
      sum += task->referenceLoss(defaultDataSeed, Split::Test, i);
    EXPECT_NEAR(sum / instances, 6 - pairs, 0.4) << pairs;
  }
}

TEST(LinearFunctions, NumbersAreStandardNormalAndInstancesDiffer) {
  auto task = make("linear-functions:dimension=4,pairs=9");
  double sum = 0, squares = 0, fourth = 0, values = 0, count = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    Prompt prompt = promptOf(*task, Split::Train, i);
    for (double x : prompt.x.reshaped()) {
      sum += x, squares += x * x, fourth += x * x * x * x;
      ++count;
    }
    values += prompt.values.squaredNorm() / 9;
  }
  EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2 / count));
  EXPECT_NEAR(fourth / count, 3, 4 * std::sqrt(96 / count));
  EXPECT_NEAR(values / 2000, 4, 0.4); // w·x has as many as the dimension
  Prompt first = promptOf(*task, Split::Train, 0);
  EXPECT_EQ(first.x, promptOf(*task, Split::Train, 0).x);
  EXPECT_NE(first.x, promptOf(*task, Split::Train, 1).x);
  EXPECT_NE(first.x, promptOf(*task, Split::Test, 0).x);
  EXPECT_NE(first.x, promptOf(*task, Split::Train, 0, 1).x);
}

TEST(LinearFunctions, RowsOfABatchArePaddedWithoutWeight) {
  auto source = makeTaskSource(make("linear-functions:dimension=2,pairs=2"), Convention::Paper, {});
  EXPECT_EQ(source->inputWords(), 2);
  EXPECT_EQ(source->targetWords(), 2);
  FakeModel model(2, 5, 3);
  std::vector<int32_t> inputs(20, 9), targets(20, 9);
  BatchRow row({inputs, targets}, model, *source, 1);
  source->test(0, 1, row.inputs(), row.targets());
  row.padFrom(source->positions());
  EXPECT_EQ(std::count(inputs.begin(), inputs.begin() + 10, 9), 10); // the other row
  EXPECT_EQ(row.inputs().size(), 6u);
  EXPECT_EQ(std::count(inputs.begin() + 16, inputs.end(), 0), 4);
  EXPECT_EQ(numberOf(targets[15]), 1); // the last x is asked, and nothing behind it
  EXPECT_EQ(std::count(targets.begin() + 16, targets.end(), 0), 4);
  EXPECT_NE(checkFits(model, *source)
                .error()
                .message.find("2 numbers at each position, but the "
                              "model takes tokens"),
            std::string::npos);
}

TEST(LinearFunctions, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("linear-functions:dimension=0").find("from 1"), std::string::npos);
  EXPECT_NE(refusal("linear-functions:pairs=0").find("from 1"), std::string::npos);
  EXPECT_NE(refusal("linear-functions:n=2").find("no parameter 'n'"), std::string::npos);
}
