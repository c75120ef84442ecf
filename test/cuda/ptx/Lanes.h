//===- Lanes.h - a function of numbers for the lanes of a warp --------------===//
#pragma once
#include "test/cuda/ptx/Operation.h"
#include "test/cuda/ptx/Warp.h"
#include <bit>
#include <utility>

namespace hybrid::ptx {

/// What holds a T in a row: 32 bits also for fewer.
template <typename T> using Cell = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T> T fromCell(Cell<T> cell) {
  if constexpr (sizeof(T) >= 4)
    return std::bit_cast<T>(cell);
  else
    return static_cast<T>(cell);
}
template <typename T> Cell<T> toCell(T value) {
  if constexpr (sizeof(T) >= 4)
    return std::bit_cast<Cell<T>>(value);
  else
    return static_cast<uint32_t>(static_cast<int32_t>(value)); // the sign, if T has one
}

template <typename T> struct LaneSource {
  LaneSource(Warp &warp, Row row) : cells(warp.cells<Cell<T>>(row)) {}
  T operator()(int lane) const { return fromCell<T>(cells[lane]); }
  const Cell<T> *cells;
};
template <> struct LaneSource<bool> {
  LaneSource(Warp &warp, Row row) : bits(warp.bits(row)) {}
  bool operator()(int lane) const { return bits >> lane & 1; }
  uint32_t bits;
};

template <typename Body> void forLanes(uint32_t mask, Body body) {
  if (mask == allLanes) {
    for (int lane = 0; lane < warpLanes; ++lane)
      body(lane);
    return;
  }
  for (uint32_t left = mask; left; left &= left - 1)
    body(std::countr_zero(left));
}

template <typename T> constexpr Width widthOf() {
  return std::is_same_v<T, bool> ? Width::Bit : sizeof(T) == 8 ? Width::Double : Width::Word;
}

template <auto function, typename Signature> struct Mapped;
template <auto function, typename Lambda, typename D, typename... S>
struct Mapped<function, D (Lambda::*)(S...) const> {
  static void run(Warp &warp, const Instruction &in, uint32_t mask) {
    apply(warp, in, mask, std::index_sequence_for<S...>());
  }
  template <size_t... i>
  static void apply(Warp &warp, const Instruction &in, uint32_t mask, std::index_sequence<i...>) {
    std::tuple<LaneSource<S>...> from{LaneSource<S>(warp, in.at[i + 1])...};
    warp.setPoison(in.at[0], mask, (warp.poison[in.at[i + 1].index] | ...));
    if constexpr (std::is_same_v<D, bool>) {
      uint32_t bits = 0;
      forLanes(mask, [&](int lane) {
        bits |= static_cast<uint32_t>(function(std::get<i>(from)(lane)...)) << lane;
      });
      warp.setBits(in.at[0], mask, bits);
    } else {
      Cell<D> *to = warp.cells<Cell<D>>(in.at[0]);
      forLanes(mask, [&](int lane) { to[lane] = toCell<D>(function(std::get<i>(from)(lane)...)); });
    }
  }
  static Operation operation(Pipe pipe) {
    return {&run, pipe, {widthOf<D>(), widthOf<S>()...}, Instruction::Flow::Next};
  }
};

/// The operation that computes a lambda of numbers, lane by lane; a result is poison where an
/// operand is.
template <auto function> Operation mapped(Pipe pipe) {
  return Mapped<function, decltype(&decltype(function)::operator())>::operation(pipe);
}

} // namespace hybrid::ptx
