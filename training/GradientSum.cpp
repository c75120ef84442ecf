//===- GradientSum.cpp - gradients of several batches as those of one ---------------===//
#include "training/GradientSum.h"
#include "runtime/cpu/Team.h"
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

template <typename T>
void scaleAndAdd(std::span<std::byte> sum, std::span<const std::byte> more, double scale,
                 double weight, int threads) {
  T *to = reinterpret_cast<T *>(sum.data());
  const T *from = reinterpret_cast<const T *>(more.data());
  const auto keep = static_cast<T>(scale), take = static_cast<T>(weight);
  parallelFor(static_cast<int64_t>(sum.size() / sizeof(T)), threads,
              [&](int64_t low, int64_t high, int) {
                for (int64_t i = low; i < high; ++i)
                  to[i] = keep * to[i] + take * from[i];
              });
}

} // namespace

// The sum is kept as a running mean: no number in it is larger than the gradients'.
Result<void> GradientSum::add(int64_t replica, double weight) {
  if (!(weight > 0))
    return {};
  sums.resize(static_cast<size_t>(session.replicas()));
  Sum &sum = sums[static_cast<size_t>(replica)];
  const std::vector<ParameterInfo> &parameters = session.executable().parameters();
  sum.gradients.resize(parameters.size());
  const double share = weight / (sum.weight + weight);
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].trainable)
      continue;
    std::span<const std::byte> gradient = session.parameter(i, Session::Slot::Gradient, replica);
    if (gradient.empty())
      return Error{
          fmt::format("the gradient of '{}' cannot be read from the device", parameters[i].name)};
    std::vector<std::byte> &mean = sum.gradients[i];
    if (sum.weight == 0)
      mean.assign(gradient.begin(), gradient.end());
    else if (parameters[i].dtype == DType::F64)
      scaleAndAdd<double>(mean, gradient, 1 - share, share, threads);
    else
      scaleAndAdd<float>(mean, gradient, 1 - share, share, threads);
  }
  sum.weight += weight;
  return {};
}

Result<void> GradientSum::store(int64_t replica) {
  if (static_cast<size_t>(replica) >= sums.size())
    return {};
  Sum &sum = sums[static_cast<size_t>(replica)];
  const bool some = sum.weight > 0;
  sum.weight = 0;
  for (size_t i = 0; some && i < sum.gradients.size(); ++i)
    if (!sum.gradients[i].empty())
      if (auto done = session.setParameter(i, sum.gradients[i], Session::Slot::Gradient, replica);
          !done)
        return done;
  return {};
}

} // namespace hybrid::rt
