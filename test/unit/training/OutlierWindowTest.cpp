//===- OutlierWindowTest.cpp - how far a number is from those before it --------------===//
#include "training/OutlierWindow.h"
#include <cmath>
#include <gtest/gtest.h>

using hybrid::rt::OutlierWindow;

TEST(OutlierWindow, SaysNothingUntilItIsFull) {
  OutlierWindow window;
  for (size_t i = 0; i + 1 < OutlierWindow::size; ++i)
    EXPECT_EQ(window.add(i == 5 ? 1e6 : 1.0), 0);
  EXPECT_NE(window.add(1.0), 0);
}

TEST(OutlierWindow, CountsDeviationsOfTheLastNumbers) {
  OutlierWindow window;
  for (size_t i = 0; i < OutlierWindow::size; ++i)
    window.add(1e9); // all of them are gone when it matters
  for (size_t i = 0; i + 1 < OutlierWindow::size; ++i)
    window.add(i % 2 == 0 ? 1.0 : 3.0);
  // 64 times 1, 63 times 3 and 5 itself: of 128 numbers with mean 258 / 128.
  const double mean = 258.0 / 128, squares = 64.0 + 63 * 9 + 25;
  EXPECT_NEAR(window.add(5), (5 - mean) / std::sqrt(squares / 128 - mean * mean), 1e-12);
}

TEST(OutlierWindow, EqualNumbersAreNoOutliers) {
  OutlierWindow window;
  for (size_t i = 0; i < 2 * OutlierWindow::size; ++i)
    EXPECT_EQ(window.add(0.1), 0);
}

TEST(OutlierWindow, GoesOnWhereItWas) {
  OutlierWindow window, again;
  for (int i = 0; i < 200; ++i)
    window.add(std::sin(i));
  again.restore(window.values());
  for (int i = 200; i < 400; ++i)
    EXPECT_EQ(window.add(std::sin(i)), again.add(std::sin(i)));
}
