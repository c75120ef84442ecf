//===- Numbers.cpp - rounding as a GPU does it ------------------------------===//
#include "test/cuda/ptx/Numbers.h"

namespace hybrid::ptx {

template <typename T> T roundDirected(Directed operation, int direction, T a, T b, T c) {
  const int before = std::fegetround();
  std::fesetround(direction);
  // Volatile: otherwise the compiler computes before, in the other direction.
  volatile T x = a, y = b, z = c, result = 0;
  switch (operation) {
  case Directed::Add:
    result = x + y;
    break;
  case Directed::Subtract:
    result = x - y;
    break;
  case Directed::Multiply:
    result = x * y;
    break;
  case Directed::MultiplyAdd:
    result = std::fma(x, y, z);
    break;
  case Directed::Divide:
    result = x / y;
    break;
  case Directed::Root:
    result = std::sqrt(x);
    break;
  }
  std::fesetround(before);
  return result;
}

template float roundDirected(Directed, int, float, float, float);
template double roundDirected(Directed, int, double, double, double);

} // namespace hybrid::ptx
