//===- SelectiveScanBuiltins.cpp - Mamba's scan --------------------------------===//
#include "frontends/dsl/Operands.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

/// An input or output map: constant, like `a`, or groups of states for each token; the number of
/// groups then, 0 for a constant one, nothing after a report.
std::optional<int64_t> mapGroups(Call &call, size_t index, const Value &map, const Value &x,
                                 const Value &a) {
  if (map.shape == a.shape)
    return 0;
  int64_t channels = a.shape[0].size, states = a.shape[1].size;
  bool perToken = map.shape.size() == 3 && map.shape[0] == x.shape[0] &&
                  map.shape[1] == x.shape[1] && !map.shape[2].isFree() &&
                  map.shape[2].size % states == 0 && channels % (map.shape[2].size / states) == 0;
  if (perToken)
    return map.shape[2].size / states;
  call.error(index,
             call.names[index] + " is " + text(map) + ", expected " + text(a.shape) + " or [" +
                 text(x.shape[0]) + ", " + text(x.shape[1]) + ", groups * " + llvm::Twine(states) +
                 "] with groups that divide " + llvm::Twine(channels),
             {index, 0, 2});
  return std::nullopt;
}

Value runSelectiveScan(Call &call) {
  Value x = call.tensor(0), dt = call.tensor(1), a = call.tensor(2), b = call.tensor(3),
        c = call.tensor(4), segments = call.integers(5), state = call.tensorOr(6);
  bool wanted = call.boolean(7, false);
  if (call.failed || !hasRank(call, 0, x, 3, "[batch, length, channels]") ||
      !hasRank(call, 2, a, 2, "[channels, states]"))
    return {};
  if (dt.shape != x.shape) {
    call.error(1, "dt is " + text(dt) + ", but x is " + text(x), {1, 0});
    return {};
  }
  if (a.shape[0] != x.shape[2] || a.shape[0].isFree() || a.shape[1].isFree()) {
    call.error(2, "a is " + text(a) + ", but x has " + text(x.shape[2]) + " channels", {2, 0});
    return {};
  }
  auto inputGroups = mapGroups(call, 3, b, x, a);
  if (!inputGroups)
    return {};
  auto outputGroups = mapGroups(call, 4, c, x, a);
  if (!outputGroups)
    return {};
  if (*inputGroups && *outputGroups && *inputGroups != *outputGroups) {
    call.error(4,
               "b has " + llvm::Twine(*inputGroups) + " groups and c " +
                   llvm::Twine(*outputGroups) + ": expected as many",
               {3, 4});
    return {};
  }
  Shape stateShape{x.shape[0], a.shape[0], a.shape[1]};
  if (!segmentsFit(call, 5, segments, x) || !stateFits(call, 6, state, stateShape))
    return {};
  Location loc = call.emit.at(call.place);
  auto op = SelectiveScanOp::create(call.emit.builder, loc, x.tensor, dt.tensor, a.tensor, b.tensor,
                                    c.tensor, operand(segments), operand(state), {}, {}, {}, false,
                                    wanted);
  return withState(call, op, x.shape, wanted, stateShape);
}

} // namespace

llvm::ArrayRef<Builtin> selectiveScanBuiltins() {
  static const Builtin builtins[] = {
      {"selective_scan", "x, dt, a, b, c, segments?, initial_state?, return_state?",
       runSelectiveScan},
  };
  return builtins;
}

} // namespace hybrid::dsl
