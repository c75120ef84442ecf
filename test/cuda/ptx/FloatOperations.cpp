//===- FloatOperations.cpp - f32 and f64 ------------------------------------===//
//
// Sums, products and roots are rounded as IEEE 754 says, once for an fma. The approximations are
// computed in f64 and rounded: their errors are at most what the manual allows, not the same bits.
// Source: PTX ISA 9.0, "Floating Point Instructions".
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/Lanes.h"
#include "test/cuda/ptx/Numbers.h"

namespace hybrid::ptx {
namespace {

template <bool flushes> float in(float x) { return flushes ? flush(x) : x; }

template <bool flushes> void addSingle(Operations &all, const std::string &mode) {
  const Pipe fma = Pipe::Fma, xu = Pipe::Xu;
  const std::string type = mode + ".f32";
  auto both = [&](const std::string &name, const Operation &made) {
    all[name + type] = made, all[name + ".rn" + type] = made;
  };
  both("add",
       mapped<[](float a, float b) { return in<flushes>(in<flushes>(a) + in<flushes>(b)); }>(fma));
  both("sub",
       mapped<[](float a, float b) { return in<flushes>(in<flushes>(a) - in<flushes>(b)); }>(fma));
  both("mul",
       mapped<[](float a, float b) { return in<flushes>(in<flushes>(a) * in<flushes>(b)); }>(fma));
  const Operation multiplyAdd = mapped<[](float a, float b, float c) {
    return in<flushes>(std::fma(in<flushes>(a), in<flushes>(b), in<flushes>(c)));
  }>(fma);
  all["fma.rn" + type] = all["mad.rn" + type] = multiplyAdd;
  const Operation divide =
      mapped<[](float a, float b) { return in<flushes>(in<flushes>(a) / in<flushes>(b)); }>(xu);
  all["div.rn" + type] = all["div.full" + type] = all["div.approx" + type] = divide;
  const Operation reciprocal =
      mapped<[](float a) { return in<flushes>(1.f / in<flushes>(a)); }>(xu);
  all["rcp.rn" + type] = all["rcp.approx" + type] = reciprocal;
  const Operation root = mapped<[](float a) { return in<flushes>(std::sqrt(in<flushes>(a))); }>(xu);
  all["sqrt.rn" + type] = all["sqrt.approx" + type] = root;
  all["rsqrt.approx" + type] = mapped<[](float a) {
    return in<flushes>(static_cast<float>(1 / std::sqrt(static_cast<double>(in<flushes>(a)))));
  }>(xu);
  all["ex2.approx" + type] = mapped<[](float a) {
    return in<flushes>(static_cast<float>(std::exp2(static_cast<double>(in<flushes>(a)))));
  }>(xu);
  all["lg2.approx" + type] = mapped<[](float a) {
    return in<flushes>(static_cast<float>(std::log2(static_cast<double>(in<flushes>(a)))));
  }>(xu);
  all["sin.approx" + type] = mapped<[](float a) {
    return in<flushes>(static_cast<float>(std::sin(static_cast<double>(in<flushes>(a)))));
  }>(xu);
  all["cos.approx" + type] = mapped<[](float a) {
    return in<flushes>(static_cast<float>(std::cos(static_cast<double>(in<flushes>(a)))));
  }>(xu);
  all["abs" + type] = mapped<[](float a) { return in<flushes>(std::fabs(a)); }>(Pipe::Alu);
  all["neg" + type] = mapped<[](float a) { return in<flushes>(-a); }>(Pipe::Alu);
}

template <Directed operation, int direction, typename T> T directed(T a, T b, T c = 0) {
  return roundDirected<T>(operation, direction, a, b, c);
}

template <int direction, typename T>
void addDirected(Operations &all, const std::string &mode, const std::string &type, Pipe pipe) {
  const std::string end = "." + mode + "." + type;
  all["add" + end] =
      mapped<[](T a, T b) { return directed<Directed::Add, direction>(a, b); }>(pipe);
  all["sub" + end] =
      mapped<[](T a, T b) { return directed<Directed::Subtract, direction>(a, b); }>(pipe);
  all["mul" + end] =
      mapped<[](T a, T b) { return directed<Directed::Multiply, direction>(a, b); }>(pipe);
  all["fma" + end] =
      mapped<[](T a, T b, T c) { return directed<Directed::MultiplyAdd, direction>(a, b, c); }>(
          pipe);
  all["div" + end] =
      mapped<[](T a, T b) { return directed<Directed::Divide, direction>(a, b); }>(pipe);
  all["sqrt" + end] = mapped<[](T a) { return directed<Directed::Root, direction>(a, a); }>(pipe);
  all["rcp" + end] =
      mapped<[](T a) { return directed<Directed::Divide, direction>(T(1), a); }>(pipe);
}

/// The number where one is none; -0 is less than 0.
template <typename T> T least(T a, T b) {
  if (a != a || b != b)
    return a != a ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T> T most(T a, T b) {
  if (a != a || b != b)
    return a != a ? b : a;
  return a > b || (a == b && std::signbit(b)) ? a : b;
}
template <typename T> bool isNan(T a, T b) { return a != a || b != b; }

template <typename T> void addCommon(Operations &all, const std::string &type, Pipe pipe) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  all["min." + type] = mapped<[](T a, T b) { return least(a, b); }>(pipe);
  all["max." + type] = mapped<[](T a, T b) { return most(a, b); }>(pipe);
  all["min.NaN." + type] = mapped<[](T a, T b) { return isNan(a, b) ? nan : least(a, b); }>(pipe);
  all["max.NaN." + type] = mapped<[](T a, T b) { return isNan(a, b) ? nan : most(a, b); }>(pipe);
  all["copysign." + type] = mapped<[](T a, T b) { return std::copysign(b, a); }>(pipe); // a's sign
  auto add = [&](const char *name, Operation made) {
    all["setp." + std::string(name) + "." + type] = made;
  };
  add("eq", mapped<[](T a, T b) { return a == b; }>(pipe));
  add("ne", mapped<[](T a, T b) { return a < b || a > b; }>(pipe)); // false for NaN
  add("lt", mapped<[](T a, T b) { return a < b; }>(pipe));
  add("le", mapped<[](T a, T b) { return a <= b; }>(pipe));
  add("gt", mapped<[](T a, T b) { return a > b; }>(pipe));
  add("ge", mapped<[](T a, T b) { return a >= b; }>(pipe));
  add("equ", mapped<[](T a, T b) { return !(a < b || a > b); }>(pipe));
  add("neu", mapped<[](T a, T b) { return a != b; }>(pipe));
  add("ltu", mapped<[](T a, T b) { return !(a >= b); }>(pipe));
  add("leu", mapped<[](T a, T b) { return !(a > b); }>(pipe));
  add("gtu", mapped<[](T a, T b) { return !(a <= b); }>(pipe));
  add("geu", mapped<[](T a, T b) { return !(a < b); }>(pipe));
  add("num", mapped<[](T a, T b) { return !isNan(a, b); }>(pipe));
  add("nan", mapped<[](T a, T b) { return isNan(a, b); }>(pipe));
}

/// The f64 approximations look at the upper 32 bits only, and give no others.
double upper(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0xffffffff00000000ull);
}
double withoutDenormals(double x) {
  return std::fabs(x) < std::numeric_limits<double>::min() ? std::copysign(0., x) : x;
}

void addDouble(Operations &all) {
  const Pipe pipe = Pipe::Fp64;
  for (const char *mode : {"", ".rn"}) {
    const std::string type = mode + std::string(".f64");
    all["add" + type] = mapped<[](double a, double b) { return a + b; }>(pipe);
    all["sub" + type] = mapped<[](double a, double b) { return a - b; }>(pipe);
    all["mul" + type] = mapped<[](double a, double b) { return a * b; }>(pipe);
  }
  all["fma.rn.f64"] = all["mad.rn.f64"] =
      mapped<[](double a, double b, double c) { return std::fma(a, b, c); }>(pipe);
  all["div.rn.f64"] = mapped<[](double a, double b) { return a / b; }>(pipe);
  all["rcp.rn.f64"] = mapped<[](double a) { return 1 / a; }>(pipe);
  all["sqrt.rn.f64"] = mapped<[](double a) { return std::sqrt(a); }>(pipe);
  all["rsqrt.approx.f64"] = mapped<[](double a) { return 1 / std::sqrt(a); }>(pipe);
  all["rcp.approx.ftz.f64"] =
      mapped<[](double a) { return upper(withoutDenormals(1 / upper(withoutDenormals(a)))); }>(
          Pipe::Xu);
  all["rsqrt.approx.ftz.f64"] =
      mapped<[](double a) { return upper(1 / std::sqrt(upper(withoutDenormals(a)))); }>(Pipe::Xu);
  all["abs.f64"] = mapped<[](double a) { return std::fabs(a); }>(pipe);
  all["neg.f64"] = mapped<[](double a) { return -a; }>(pipe);
}

} // namespace

void addFloats(Operations &all) {
  addSingle<false>(all, ""), addSingle<true>(all, ".ftz");
  all["tanh.approx.f32"] = mapped<[](float a) { return std::tanh(a); }>(Pipe::Xu);
  addDirected<FE_TOWARDZERO, float>(all, "rz", "f32", Pipe::Fma);
  addDirected<FE_DOWNWARD, float>(all, "rm", "f32", Pipe::Fma);
  addDirected<FE_UPWARD, float>(all, "rp", "f32", Pipe::Fma);
  addDirected<FE_TOWARDZERO, double>(all, "rz", "f64", Pipe::Fp64);
  addDirected<FE_DOWNWARD, double>(all, "rm", "f64", Pipe::Fp64);
  addDirected<FE_UPWARD, double>(all, "rp", "f64", Pipe::Fp64);
  addCommon<float>(all, "f32", Pipe::Alu), addCommon<double>(all, "f64", Pipe::Fp64);
  addDouble(all);
}

} // namespace hybrid::ptx
