//===- DeltaRuleTest.cpp - the generalized delta rule, step by step ---------===//
#include "codegen/kernels/DeltaRule.h"
#include "test/kernels/Launch.h"
#ifdef HYBRID_CUDA_SHIM
#include "codegen/kernels/cuda/DeltaRule.cuh"
#endif

HYBRID_TEST_KERNEL(DeltaRuleForward, delta_rule_forward, deltaRuleForward)
HYBRID_TEST_KERNEL(DeltaRuleBackward, delta_rule_backward, deltaRuleBackward)

using namespace hybrid;
using namespace hybrid::test;

namespace {

struct Case {
  int64_t batch = 2, length = 19, steps = 1, heads = 2, keys = 5, values = 6;
  DeltaRuleDecay decay = DeltaRuleDecay::KeyAndTime;
  bool hasB = false, segments = false, state = false, finalState = false;
  bool decayGradient = true;
  double strength = 0.5; // decays are e^-strength or so
};

size_t at(int64_t index) { return static_cast<size_t>(index); }

constexpr double scale = 0.75;

/// All states of all steps are kept; the gradient runs over them backwards.
struct Reference {
  Doubles q, k, v, a, b, g, initial, dO, dFinal;
  Doubles o, last, dq, dk, dv, da, db, dg, dInitial;
  std::vector<int32_t> segments;

  static int64_t decayWidth(const Case &c) {
    return c.decay == DeltaRuleDecay::KeyAndTime ? c.heads * c.keys : c.heads;
  }

  explicit Reference(const Case &c) {
    const int64_t tokens = c.batch * c.length * c.heads, rows = tokens * c.steps,
                  states = c.batch * c.heads * c.keys * c.values;
    q = randomDoubles(tokens * c.keys, 1), k = randomDoubles(rows * c.keys, 2);
    v = randomDoubles(rows * c.values, 3), dO = randomDoubles(tokens * c.values, 4);
    initial = randomDoubles(states, 5), dFinal = randomDoubles(states, 6);
    g = randomDoubles(c.batch * c.length * decayWidth(c), 7);
    for (double &x : g)
      x = c.decay == DeltaRuleDecay::None ? 0 : static_cast<float>(-c.strength * std::fabs(x));
    // A transition that shrinks the state: a product of vectors of length 1 or so.
    a = randomDoubles(rows * c.keys, 8), b = randomDoubles(rows * c.keys, 9);
    for (Doubles *vectors : {&k, &a, &b})
      for (double &x : *vectors)
        x = static_cast<float>(x * 0.6 / std::sqrt(static_cast<double>(c.keys)));
    for (int64_t r = 0; r < c.batch * c.length; ++r)
      segments.push_back(static_cast<int32_t>((r % c.length + r / c.length) * 2 / 9));
    o.assign(dO.size(), 0), dq.assign(q.size(), 0), dv.assign(v.size(), 0);
    dk.assign(k.size(), 0), da = dk, db = dk, dg.assign(g.size(), 0);
    last.assign(initial.size(), 0), dInitial = last;
    for (int64_t batch = 0; batch < c.batch; ++batch)
      for (int64_t head = 0; head < c.heads; ++head)
        runHead(c, batch, head);
  }

  void runHead(const Case &c, int64_t batch, int64_t head) {
    const int64_t size = c.keys * c.values, rows = c.length * c.steps;
    auto token = [&](int64_t t, int64_t width, int64_t i) {
      return at(((batch * c.length + t) * c.heads + head) * width + i);
    };
    auto step = [&](int64_t row, int64_t width, int64_t i) {
      const int64_t t = row / c.steps, j = row % c.steps;
      return at((((batch * c.length + t) * c.steps + j) * c.heads + head) * width + i);
    };
    auto decay = [&](int64_t t, int64_t i) {
      return c.decay == DeltaRuleDecay::KeyAndTime ? token(t, c.keys, i) : token(t, 1, 0);
    };
    auto element = [&](int64_t i, int64_t j) {
      return at((batch * c.heads + head) * size + i * c.values + j);
    };
    auto starts = [&](int64_t t) {
      return c.segments && t > 0 &&
             segments[at(batch * c.length + t)] != segments[at(batch * c.length + t - 1)];
    };
    auto writes = [&](int64_t row, int64_t i) {
      return c.hasB ? b[step(row, c.keys, i)] : -k[step(row, c.keys, i)];
    };
    auto factor = [&](int64_t row, int64_t i) {
      return row % c.steps == 0 ? std::exp(g[decay(row / c.steps, i)]) : 1;
    };
    // States before and after each row, and what a reads.
    std::vector<Doubles> before(at(rows)), after(at(rows)), read(at(rows));
    Doubles s(at(size), 0);
    if (c.state)
      for (int64_t i = 0; i < size; ++i)
        s[at(i)] = initial[element(0, i)];
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t t = row / c.steps;
      if (row % c.steps == 0 && starts(t))
        s.assign(at(size), 0);
      before[at(row)] = s;
      Doubles u(at(c.values), 0);
      for (int64_t i = 0; i < c.keys; ++i)
        for (int64_t j = 0; j < c.values; ++j)
          u[at(j)] += a[step(row, c.keys, i)] * s[at(i * c.values + j)];
      for (int64_t i = 0; i < c.keys; ++i)
        for (int64_t j = 0; j < c.values; ++j) {
          double &x = s[at(i * c.values + j)];
          x = factor(row, i) * x + writes(row, i) * u[at(j)] +
              k[step(row, c.keys, i)] * v[step(row, c.values, j)];
          if (row % c.steps == c.steps - 1)
            o[token(t, c.values, j)] += scale * q[token(t, c.keys, i)] * x;
        }
      after[at(row)] = s, read[at(row)] = u;
    }
    for (int64_t i = 0; i < size; ++i)
      last[element(0, i)] = s[at(i)];

    Doubles ds(at(size), 0);
    if (c.finalState)
      for (int64_t i = 0; i < size; ++i)
        ds[at(i)] = dFinal[element(0, i)];
    for (int64_t row = rows - 1; row >= 0; --row) {
      const int64_t t = row / c.steps;
      Doubles du(at(c.values), 0);
      for (int64_t i = 0; i < c.keys; ++i)
        for (int64_t j = 0; j < c.values; ++j) {
          const size_t x = at(i * c.values + j);
          if (row % c.steps == c.steps - 1) {
            dq[token(t, c.keys, i)] += scale * after[at(row)][x] * dO[token(t, c.values, j)];
            ds[x] += scale * q[token(t, c.keys, i)] * dO[token(t, c.values, j)];
          }
          dk[step(row, c.keys, i)] += ds[x] * v[step(row, c.values, j)];
          dv[step(row, c.values, j)] += ds[x] * k[step(row, c.keys, i)];
          (c.hasB ? db : dk)[step(row, c.keys, i)] +=
              (c.hasB ? 1 : -1) * ds[x] * read[at(row)][at(j)];
          du[at(j)] += ds[x] * writes(row, i);
          if (row % c.steps == 0)
            dg[decay(t, i)] += factor(row, i) * before[at(row)][x] * ds[x];
        }
      for (int64_t i = 0; i < c.keys; ++i)
        for (int64_t j = 0; j < c.values; ++j) {
          const size_t x = at(i * c.values + j);
          da[step(row, c.keys, i)] += before[at(row)][x] * du[at(j)];
          ds[x] = factor(row, i) * ds[x] + a[step(row, c.keys, i)] * du[at(j)];
        }
      if (row % c.steps == 0 && starts(t))
        ds.assign(at(size), 0);
    }
    for (int64_t i = 0; i < size; ++i)
      dInitial[element(0, i)] = ds[at(i)];
  }
};

constexpr DeltaRuleParams paramsOf(const Case &c) {
  DeltaRuleParams p{};
  const int64_t keys = c.heads * c.keys, values = c.heads * c.values;
  p.batch = c.batch, p.length = c.length, p.steps = c.steps, p.heads = c.heads;
  p.keySize = c.keys, p.valueSize = c.values;
  p.qStride = keys + 1, p.kStride = c.steps * keys + 2, p.vStride = c.steps * values + 3;
  p.aStride = c.steps * keys + 4, p.bStride = c.steps * keys, p.oStride = values + 1;
  p.dqStride = keys + 5, p.dkStride = c.steps * keys, p.dvStride = c.steps * values + 2;
  p.daStride = c.steps * keys + 3, p.dbStride = c.steps * keys + 1;
  const int64_t decays = c.decay == DeltaRuleDecay::KeyAndTime ? keys : c.heads;
  p.decayStride = decays + 2, p.dDecayStride = decays + 1;
  p.decay = c.decay, p.hasB = c.hasB, p.hasSegments = c.segments, p.hasState = c.state;
  p.hasFinalState = c.finalState, p.stateGradient = c.state;
  p.decayGradient = c.decay != DeltaRuleDecay::None && c.decayGradient;
  p.scale = scale;
  return p;
}

template <typename T, typename Of> void check(const Of &of) {
  const Case c = of.value;
  SCOPED_TRACE(testing::Message() << "length " << c.length << " steps " << c.steps << " keys "
                                  << c.keys << " values " << c.values << " decay "
                                  << static_cast<int64_t>(c.decay) << " b " << c.hasB
                                  << " segments " << c.segments << " state " << c.state
                                  << c.finalState << " f" << 8 * sizeof(T));
  Reference r(c);
  const DeltaRuleParams p = paramsOf(c);
  const int64_t tokens = c.batch * c.length, keys = c.heads * c.keys, values = c.heads * c.values,
                states = c.batch * c.heads * c.keys, decays = Reference::decayWidth(c);
  Tensor<T> q(r.q, tokens, keys, p.qStride), k(r.k, tokens, c.steps * keys, p.kStride),
      v(r.v, tokens, c.steps * values, p.vStride), a(r.a, tokens, c.steps * keys, p.aStride),
      b(r.b, tokens, c.steps * keys, p.bStride), g(r.g, tokens, decays, p.decayStride),
      initial(r.initial, states, c.values), dO(r.dO, tokens, values, p.oStride),
      dFinal(r.dFinal, states, c.values);
  auto given = [](bool is, auto &tensor) { return is ? tensor.data() : nullptr; };
  T *decay = given(c.decay != DeltaRuleDecay::None, g), *bOrNone = given(c.hasB, b),
    *initialState = given(c.state, initial);
  const int32_t *segments = given(c.segments, r.segments);
  constexpr auto params = [](const Case &c) { return paramsOf(c); };
  Tensor<T> forwardWorkspace(1, std::max<int64_t>(1, decided<DeltaRuleForwardWorkspace, T>(p))),
      workspace(1, std::max<int64_t>(1, decided<DeltaRuleBackwardWorkspace, T>(p)));

  Tensor<T> o(tokens, values, p.oStride), last(states, c.values);
  launch<DeltaRuleForward, T>(of, params, {&o, &last, &forwardWorkspace}, q.data(), k.data(),
                              v.data(), a.data(), bOrNone, decay, segments, initialState,
                              given(c.finalState, last), forwardWorkspace.data(), o.data());

  Tensor<T> dq(tokens, keys, p.dqStride), dk(tokens, c.steps * keys, p.dkStride),
      dv(tokens, c.steps * values, p.dvStride), da(tokens, c.steps * keys, p.daStride),
      db(tokens, c.steps * keys, p.dbStride), dg(tokens, decays, p.dDecayStride),
      dInitial(states, c.values);
  launch<DeltaRuleBackward, T>(of, params, {&dq, &dk, &dv, &da, &db, &dg, &dInitial, &workspace},
                               q.data(), k.data(), v.data(), a.data(), bOrNone, decay, segments,
                               initialState, dO.data(), given(c.finalState, dFinal),
                               given(c.state, dInitial), dq.data(), dk.data(), dv.data(), da.data(),
                               given(c.hasB, db), given(p.decayGradient, dg), workspace.data());

  const double bound = tolerance<T>(4e-6);
  EXPECT_LT(relativeError(o.values(), r.o), bound);
  EXPECT_LT(relativeError(dq.values(), r.dq), bound);
  EXPECT_LT(relativeError(dk.values(), r.dk), bound);
  EXPECT_LT(relativeError(dv.values(), r.dv), bound);
  EXPECT_LT(relativeError(da.values(), r.da), bound);
  if (c.hasB) {
    EXPECT_LT(relativeError(db.values(), r.db), bound);
  }
  if (c.finalState) {
    EXPECT_LT(relativeError(last.values(), r.last), bound);
  }
  if (c.state) {
    EXPECT_LT(relativeError(dInitial.values(), r.dInitial), bound);
  }
  if (p.decayGradient) {
    // Sums of terms of either sign; where decays are strong few of them are not next to nothing.
    EXPECT_LT(relativeError(dg.values(), r.dg), 4 * bound);
  }
}

constexpr DeltaRuleDecay kinds[] = {DeltaRuleDecay::None, DeltaRuleDecay::KeyAndTime,
                                    DeltaRuleDecay::HeadAndTime};

template <typename T> struct DeltaRule : testing::Test {
  template <const auto &cases> static void checkAll() {
    forEachCase<cases>([](const auto &of) { check<T>(of); });
  }
};
TYPED_TEST_SUITE(DeltaRule, Scalars);

constexpr Case shapes[] = {
    {.length = 1, .keys = 1, .values = 1, .decay = DeltaRuleDecay::None},
    {.length = 17, .keys = 8, .values = 35, .decay = DeltaRuleDecay::KeyAndTime, .hasB = true},
    {.length = 50, .keys = 33, .values = 7, .decay = DeltaRuleDecay::HeadAndTime},
    {.batch = 1, .length = 16, .heads = 1, .keys = 17, .values = 16, .hasB = true},
    // Tiles that are too large for the shared memory of a block.
    {.batch = 1, .length = 20, .heads = 1, .keys = 128, .values = 64, .hasB = true}};
TYPED_TEST(DeltaRule, AgreesForEveryShape) {
  TestFixture::template checkAll<shapes>();
  if constexpr (!onCuda) {
    for (int64_t length : {1, 2, 3, 4, 7, 16, 17, 50})
      for (int64_t keys : {1, 8, 17, 33})
        for (int64_t values : {1, 7, 16, 35})
          for (DeltaRuleDecay kind : kinds)
            for (bool hasB : {false, true})
              check<TypeParam>(Given{Case{
                  .length = length, .keys = keys, .values = values, .decay = kind, .hasB = hasB}});
    // More chunks than states that are kept.
    const Case c{.batch = 1, .length = 8300, .heads = 1, .keys = 128, .values = 1};
    EXPECT_GT(cpu::scanGroup<TypeParam>(cpu::deltaRuleSizes(paramsOf(c))), 1);
    check<TypeParam>(Given{c});
  }
}

constexpr Case states[] = {
    {.length = 37, .segments = true, .state = true, .finalState = true},
    {.length = 37,
     .decay = DeltaRuleDecay::HeadAndTime,
     .hasB = true,
     .segments = true,
     .state = true},
    {.length = 20, .decay = DeltaRuleDecay::None, .segments = true, .finalState = true},
    {.finalState = true, .decayGradient = false}};
TYPED_TEST(DeltaRule, AgreesWithStatesAndSegments) {
  TestFixture::template checkAll<states>();
  if constexpr (!onCuda)
    for (int mask = 0; mask < 32; ++mask)
      for (DeltaRuleDecay kind : kinds)
        for (int64_t length : {1, 4, 6, 37})
          check<TypeParam>(Given{Case{.batch = 3,
                                      .length = length,
                                      .decay = kind,
                                      .hasB = (mask & 1) != 0,
                                      .segments = (mask & 2) != 0,
                                      .state = (mask & 4) != 0,
                                      .finalState = (mask & 8) != 0,
                                      .decayGradient = (mask & 16) != 0}});
}

constexpr Case severalSteps[] = {{.length = 11,
                                  .steps = 2,
                                  .decay = DeltaRuleDecay::HeadAndTime,
                                  .state = true,
                                  .finalState = true},
                                 {.length = 9, .steps = 3, .hasB = true, .segments = true}};
TYPED_TEST(DeltaRule, TakesSeveralStepsAToken) {
  TestFixture::template checkAll<severalSteps>();
  if constexpr (!onCuda)
    for (int64_t steps : {2, 3, 5})
      for (DeltaRuleDecay kind : kinds)
        for (bool segments : {false, true})
          for (int64_t length : {1, 2, 23})
            check<TypeParam>(Given{Case{.length = length,
                                        .steps = steps,
                                        .decay = kind,
                                        .segments = segments,
                                        .state = true,
                                        .finalState = true}});
}

// Several groups of chunks, whole ones and not, and more of them than states that are kept.
constexpr Case longer[] = {{.batch = 1,
                            .length = 300,
                            .heads = 1,
                            .keys = 16,
                            .values = 20,
                            .decay = DeltaRuleDecay::HeadAndTime,
                            .state = true,
                            .finalState = true},
                           {.batch = 1,
                            .length = 256,
                            .heads = 2,
                            .keys = 16,
                            .values = 16,
                            .hasB = true,
                            .segments = true,
                            .state = true},
                           {.batch = 1, .length = 16500, .heads = 1, .keys = 2, .values = 1}};
TYPED_TEST(DeltaRule, AgreesForLongSequences) {
  TestFixture::template checkAll<longer>();
  if constexpr (onCuda) {
    constexpr DeltaRuleParams p = paramsOf(longer[2]);
    static_assert(cuda::deltaRuleStretch(p, cuda::deltaRuleTilingOf<TypeParam>(p, true)) > 1);
  }
}

constexpr Case strong[] = {{.length = 40, .state = true, .finalState = true, .strength = 200}};
TYPED_TEST(DeltaRule, StrongDecaysNeitherOverflowNorLoseTheGradient) {
  TestFixture::template checkAll<strong>();
  if constexpr (!onCuda)
    for (double strength : {30.0, 200.0, 1e4})
      for (DeltaRuleDecay kind : kinds)
        for (bool hasB : {false, true})
          check<TypeParam>(Given{Case{.length = 40,
                                      .decay = kind,
                                      .hasB = hasB,
                                      .state = true,
                                      .finalState = true,
                                      .strength = strength}});
}

} // namespace
