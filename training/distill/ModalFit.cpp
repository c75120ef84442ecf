//===- ModalFit.cpp - a filter as a sum of damped oscillations -----------------===//
#include "training/distill/ModalFit.h"
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <unsupported/Eigen/NonLinearOptimization>

namespace hybrid::rt::distill {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Complex = std::complex<double>;

double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }
/// Where softplus(x) = y > 0.
double softplusInverse(double y) { return y > 30 ? y : std::log(std::expm1(y)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// H x for the Hankel matrix of h, whose rows are as many as x has.
Matrix hankelTimes(const Vector &h, const Matrix &x) {
  Matrix y(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    y.row(i).noalias() = h.segment(i, x.rows()).transpose() * x;
  return y;
}

Matrix basisOfRange(const Matrix &x) {
  return Eigen::HouseholderQR<Matrix>(x).householderQ() * Matrix::Identity(x.rows(), x.cols());
}

/// The leading singular vectors of the Hankel matrix of h, the largest first: eigenvectors, as it
/// is symmetric. Of a large one by iteration on a random subspace (Halko, Martinsson and Tropp
/// 2011), always from the same numbers.
Matrix leadingVectors(const Vector &h, Eigen::Index count) {
  constexpr Eigen::Index small = 128, more = 10;
  const Eigen::Index size = (h.size() + 1) / 2;
  Matrix basis = Matrix::Identity(size, size);
  if (size > small) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    basis = Matrix::NullaryExpr(size, std::min(size, count + more), [&] { return normal(random); });
    for (int i = 0; i < 4; ++i)
      basis = basisOfRange(hankelTimes(h, basis));
  }
  const Matrix within = basis.transpose() * hankelTimes(h, basis);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver((within + within.transpose()) / 2);
  std::vector<Eigen::Index> order(static_cast<size_t>(basis.cols()));
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<Eigen::Index>(i);
  std::sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    return std::abs(solver.eigenvalues()[a]) > std::abs(solver.eigenvalues()[b]);
  });
  Matrix vectors(size, std::min(count, basis.cols()));
  for (Eigen::Index i = 0; i < vectors.cols(); ++i)
    vectors.col(i).noalias() = basis * solver.eigenvectors().col(order[static_cast<size_t>(i)]);
  return vectors;
}

/// Poles of the recurrence of `order` real numbers: one of each conjugate pair.
std::vector<Complex> polesOf(const Matrix &vectors, Eigen::Index order) {
  const Eigen::Index rows = vectors.rows() - 1;
  const Matrix shift = vectors.topLeftCorner(rows, order)
                           .colPivHouseholderQr()
                           .solve(vectors.bottomRows(rows).leftCols(order));
  constexpr double tolerance = 1e-9;
  const Eigen::VectorXcd all = Eigen::EigenSolver<Matrix>(shift, false).eigenvalues();
  std::vector<Complex> poles;
  for (const Complex &pole : all)
    if (pole.imag() > tolerance)
      poles.push_back(pole);
    else if (pole.imag() >= -tolerance)
      poles.emplace_back(pole.real(), 0);
  return poles;
}

/// What the modes' numbers, in the order of Mode, give at each position, and the derivatives.
struct Residual {
  using Scalar = double;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };
  using InputType = Vector;
  using ValueType = Vector;
  using JacobianType = Matrix;

  const Vector &h;
  Eigen::Index count; // of numbers

  int inputs() const { return static_cast<int>(count); }
  int values() const { return static_cast<int>(std::max(h.size(), count)); }

  int operator()(const Vector &x, Vector &difference) const {
    difference = Vector::Zero(values());
    difference.head(h.size()) = -h;
    forEach(x, [&](Eigen::Index, Eigen::Index t, Complex power, Complex residue) {
      difference[t] += (residue * power).real();
    });
    return 0;
  }
  int df(const Vector &x, Matrix &jacobian) const {
    jacobian = Matrix::Zero(values(), count);
    forEach(x, [&](Eigen::Index i, Eigen::Index t, Complex power, Complex residue) {
      const Complex y = residue * power, along = static_cast<double>(t) * y;
      jacobian(t, i) = -sigmoid(x[i]) * along.real();
      jacobian(t, i + 1) = -along.imag();
      jacobian(t, i + 2) = power.real();
      jacobian(t, i + 3) = -power.imag();
    });
    return 0;
  }

private:
  template <typename Visit> void forEach(const Vector &x, const Visit &visit) const {
    for (Eigen::Index i = 0; i < count; i += 4) {
      const Complex exponent(-softplus(x[i]), x[i + 1]), residue(x[i + 2], x[i + 3]);
      for (Eigen::Index t = 0; t < h.size(); ++t)
        visit(i, t, std::exp(exponent * static_cast<double>(t)), residue);
    }
  }
};

constexpr double leastDecay = 1e-9, mostDecay = 40; // a mode decays, and is gone at once at most

/// The same modes by numbers that f32 holds: whole turns of an angle do not count, and a decay that
/// leaves nothing behind the first position is as good as a larger one.
void normalise(Vector &numbers) {
  for (Eigen::Index i = 0; i < numbers.size(); i += 4) {
    numbers[i] = std::clamp(numbers[i], softplusInverse(leastDecay), mostDecay);
    numbers[i + 1] = std::remainder(numbers[i + 1], 2 * M_PI);
  }
}

/// Whether no modes are so large that they only cancel one another, which costs a recurrence in f32
/// its digits.
bool isSound(const Vector &numbers, const Vector &h) {
  constexpr double mostGain = 100;
  if (!numbers.allFinite())
    return false;
  for (Eigen::Index i = 0; i < numbers.size(); i += 4)
    if (numbers.segment(i + 2, 2).norm() > mostGain * h.lpNorm<Eigen::Infinity>())
      return false;
  return true;
}

/// Poles as rates and angles, and the amplitudes that are nearest to h with them.
Vector numbersOf(const Vector &h, const std::vector<Complex> &poles) {
  const auto count = static_cast<Eigen::Index>(poles.size());
  Vector numbers(4 * count);
  Matrix oscillations(h.size(), 2 * count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Complex pole = poles[static_cast<size_t>(i)];
    const double decay = std::clamp(-std::log(std::abs(pole)), leastDecay, mostDecay);
    numbers[4 * i] = softplusInverse(decay);
    numbers[4 * i + 1] = std::arg(pole);
    for (Eigen::Index t = 0; t < h.size(); ++t) {
      const Complex power = std::exp(Complex(-decay, numbers[4 * i + 1]) * static_cast<double>(t));
      oscillations(t, 2 * i) = power.real();
      oscillations(t, 2 * i + 1) = pole.imag() == 0 ? 0 : -power.imag();
    }
  }
  const Vector amplitudes = oscillations.completeOrthogonalDecomposition().solve(h);
  for (Eigen::Index i = 0; i < count; ++i)
    numbers.segment(4 * i + 2, 2) = amplitudes.segment(2 * i, 2);
  return numbers;
}

} // namespace

struct ModalFitter::State {
  Vector h;
  Matrix vectors; // of the Hankel matrix

  double errorOf(const Vector &numbers) const {
    Vector difference;
    Residual{h, numbers.size()}(numbers, difference);
    const double size = h.norm();
    return size > 0 ? difference.norm() / size : difference.norm();
  }
};

ModalFitter::ModalFitter(std::span<const double> filter, int64_t mostModes) {
  auto made = std::make_unique<State>();
  made->h = Eigen::Map<const Vector>(filter.data(), static_cast<Eigen::Index>(filter.size()));
  made->vectors = leadingVectors(made->h, 2 * mostModes);
  state = std::move(made);
}
ModalFitter::~ModalFitter() = default;
ModalFitter::ModalFitter(ModalFitter &&) noexcept = default;

ModalFit ModalFitter::fit(int64_t modes) const {
  ModalFit result;
  result.modes.resize(static_cast<size_t>(modes));
  if (state->h.norm() == 0)
    return result;
  // A real pole takes a whole mode, so an order of twice the modes may need too many of them.
  std::vector<Complex> poles;
  Eigen::Index order = std::min({static_cast<Eigen::Index>(2 * modes), state->vectors.cols(),
                                 std::max<Eigen::Index>(1, state->vectors.rows() - 1)});
  if (state->vectors.rows() < 2)
    poles.emplace_back(0.5, 0);
  else
    for (poles = polesOf(state->vectors, order); static_cast<int64_t>(poles.size()) > modes;)
      poles = polesOf(state->vectors, --order);
  Vector numbers = numbersOf(state->h, poles);
  result.error = state->errorOf(numbers);
  constexpr double exact = 1e-12;
  if (result.error > exact) {
    Residual residual{state->h, numbers.size()};
    Vector refined = numbers;
    Eigen::LevenbergMarquardt<Residual> method(residual);
    method.parameters.maxfev = 40;
    method.minimize(refined);
    normalise(refined);
    if (isSound(refined, state->h))
      if (const double error = state->errorOf(refined); error < result.error)
        numbers = refined, result.error = error;
  }
  for (size_t i = 0; i < poles.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(4 * i);
    result.modes[i] = {numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]};
  }
  return result;
}

std::vector<double> responseOf(std::span<const Mode> modes, int64_t length) {
  std::vector<double> response(static_cast<size_t>(length), 0.0);
  for (const Mode &mode : modes)
    for (int64_t t = 0; t < length; ++t)
      response[static_cast<size_t>(t)] +=
          (Complex(mode.re, mode.im) *
           std::exp(Complex(-softplus(mode.rate), mode.angle) * static_cast<double>(t)))
              .real();
  return response;
}

} // namespace hybrid::rt::distill
