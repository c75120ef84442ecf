//===- IntegerOperations.cpp - integers, bits and predicates ----------------===//
#include "test/cuda/ptx/Lanes.h"
#include <algorithm>

namespace hybrid::ptx {
namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

template <typename T> std::string typeName() {
  return std::string(std::is_signed_v<T> ? "s" : "u") + std::to_string(sizeof(T) * 8);
}

/// The upper half of a product.
template <typename T> T highProduct(T a, T b) {
  using Big =
      std::conditional_t<sizeof(T) < 8, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                         std::conditional_t<std::is_signed_v<T>, Wide, UnsignedWide>>;
  return static_cast<T>((static_cast<Big>(a) * static_cast<Big>(b)) >> (sizeof(T) * 8));
}

/// Shifts by more than the width are by the width.
template <typename T> T shiftRight(T value, uint32_t count) {
  constexpr uint32_t bits = sizeof(T) * 8;
  if (count < bits)
    return static_cast<T>(value >> count);
  return static_cast<T>(value < 0 ? -1 : 0);
}
template <typename T> T shiftLeft(T value, uint32_t count) {
  return count < sizeof(T) * 8 ? static_cast<T>(value << count) : T(0);
}

/// Bits [start, start + count) of a, with the sign extended.
template <typename T> T extractBits(T value, uint32_t start, uint32_t count) {
  constexpr uint32_t bits = sizeof(T) * 8;
  start &= 0xff, count &= 0xff;
  if (count == 0)
    return 0;
  T low = shiftRight(value, start);
  if (count >= bits)
    return low;
  low = static_cast<T>(static_cast<Unsigned<T>>(low) << (bits - count));
  return static_cast<T>(low >> (bits - count));
}
template <typename T> T insertBits(T value, T into, uint32_t start, uint32_t count) {
  start &= 0xff, count &= 0xff;
  T ones = count >= sizeof(T) * 8 ? ~T(0) : static_cast<T>((T(1) << count) - 1);
  T mask = shiftLeft(ones, start);
  return (into & ~mask) | (shiftLeft(value, start) & mask);
}

/// prmt: bytes of (b, a) by the four nibbles of the selector; the highest bit of one repeats a
/// sign.
uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t choice = selector >> (4 * i) & 0xf;
    auto byte = static_cast<uint32_t>(both >> (8 * (choice & 7)) & 0xff);
    if (choice & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

uint32_t lookup(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (int i = 0; i < 8; ++i)
    if (table >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}

template <typename T> void addComparisons(Operations &all, const std::string &type) {
  auto add = [&](const char *name, Operation made) {
    all["setp." + std::string(name) + "." + type] = made;
  };
  add("eq", mapped<[](T a, T b) { return a == b; }>(Pipe::Alu));
  add("ne", mapped<[](T a, T b) { return a != b; }>(Pipe::Alu));
  add("lt", mapped<[](T a, T b) { return a < b; }>(Pipe::Alu));
  add("le", mapped<[](T a, T b) { return a <= b; }>(Pipe::Alu));
  add("gt", mapped<[](T a, T b) { return a > b; }>(Pipe::Alu));
  add("ge", mapped<[](T a, T b) { return a >= b; }>(Pipe::Alu));
}

/// 16 bits are promoted to int: all is done without a sign, and cut.
template <typename T> void addArithmetic(Operations &all) {
  using U = Unsigned<T>;
  const std::string type = "." + typeName<T>();
  all["add" + type] = mapped<[](T a, T b) { return static_cast<T>(U(a) + U(b)); }>(Pipe::Alu);
  all["sub" + type] = mapped<[](T a, T b) { return static_cast<T>(U(a) - U(b)); }>(Pipe::Alu);
  all["mul.lo" + type] = mapped<[](T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }>(Pipe::Fma);
  all["mul.hi" + type] = mapped<[](T a, T b) { return highProduct(a, b); }>(Pipe::Fma);
  all["mad.lo" + type] = mapped<[](T a, T b, T c) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) +
                          static_cast<uint64_t>(c));
  }>(Pipe::Fma);
  all["mad.hi" + type] =
      mapped<[](T a, T b, T c) { return static_cast<T>(U(highProduct(a, b)) + U(c)); }>(Pipe::Fma);
  // What a GPU gives for a division by zero is not defined: all ones, as it does.
  all["div" + type] = mapped<[](T a, T b) {
    if (b == 0)
      return static_cast<T>(-1);
    return static_cast<T>(std::is_signed_v<T> && b == T(-1) ? T(U(0) - U(a)) : T(a / b));
  }>(Pipe::Alu);
  all["rem" + type] = mapped<[](T a, T b) {
    if (b == 0)
      return a;
    return static_cast<T>(std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b));
  }>(Pipe::Alu);
  all["min" + type] = mapped<[](T a, T b) { return std::min(a, b); }>(Pipe::Alu);
  all["max" + type] = mapped<[](T a, T b) { return std::max(a, b); }>(Pipe::Alu);
  all["shr" + type] = mapped<[](T a, uint32_t b) { return shiftRight(a, b); }>(Pipe::Alu);
  if constexpr (sizeof(T) >= 4)
    all["bfe" + type] =
        mapped<[](T a, uint32_t b, uint32_t c) { return extractBits(a, b, c); }>(Pipe::Alu);
  addComparisons<T>(all, typeName<T>());
}

template <typename T> void addSigned(Operations &all) {
  using U = Unsigned<T>;
  const std::string type = "." + typeName<T>();
  all["neg" + type] = mapped<[](T a) { return static_cast<T>(U(0) - U(a)); }>(Pipe::Alu);
  all["abs" + type] =
      mapped<[](T a) { return static_cast<T>(a < 0 ? U(0) - U(a) : U(a)); }>(Pipe::Alu);
}

template <typename From, typename To> void addWide(Operations &all) {
  const std::string type = "." + typeName<From>();
  all["mul.wide" + type] = mapped<[](From a, From b) {
    return static_cast<To>(static_cast<To>(a) * static_cast<To>(b));
  }>(Pipe::Fma);
  all["mad.wide" + type] = mapped<[](From a, From b, To c) {
    using U = Unsigned<To>;
    return static_cast<To>(static_cast<U>(static_cast<To>(a) * static_cast<To>(b)) +
                           static_cast<U>(c));
  }>(Pipe::Fma);
}

template <typename T> void addBits(Operations &all) {
  const std::string type = ".b" + std::to_string(sizeof(T) * 8);
  all["and" + type] = mapped<[](T a, T b) { return static_cast<T>(a & b); }>(Pipe::Alu);
  all["or" + type] = mapped<[](T a, T b) { return static_cast<T>(a | b); }>(Pipe::Alu);
  all["xor" + type] = mapped<[](T a, T b) { return static_cast<T>(a ^ b); }>(Pipe::Alu);
  all["not" + type] = mapped<[](T a) { return static_cast<T>(~a); }>(Pipe::Alu);
  all["shl" + type] = mapped<[](T a, uint32_t b) { return shiftLeft(a, b); }>(Pipe::Alu);
  all["shr" + type] = all["shr." + typeName<T>()];
  addComparisons<T>(all, type.substr(1));
  if constexpr (sizeof(T) >= 4) {
    all["bfi" + type] =
        mapped<[](T a, T b, uint32_t c, uint32_t d) { return insertBits(a, b, c, d); }>(Pipe::Alu);
    all["popc" + type] =
        mapped<[](T a) { return static_cast<uint32_t>(std::popcount(a)); }>(Pipe::Xu);
    all["clz" + type] =
        mapped<[](T a) { return static_cast<uint32_t>(std::countl_zero(a)); }>(Pipe::Xu);
    all["brev" + type] = mapped<[](T a) {
      T reversed = 0;
      for (unsigned i = 0; i < sizeof(T) * 8; ++i)
        reversed |= static_cast<T>((a >> i & 1) << (sizeof(T) * 8 - 1 - i));
      return reversed;
    }>(Pipe::Xu);
  }
}

void addPredicates(Operations &all) {
  all["and.pred"] = mapped<[](bool a, bool b) { return a && b; }>(Pipe::Alu);
  all["or.pred"] = mapped<[](bool a, bool b) { return a || b; }>(Pipe::Alu);
  all["xor.pred"] = mapped<[](bool a, bool b) { return a != b; }>(Pipe::Alu);
  all["not.pred"] = mapped<[](bool a) { return !a; }>(Pipe::Alu);
  all["mov.pred"] = mapped<[](bool a) { return a; }>(Pipe::Alu);
}

/// selp is poison only by the value that it takes, and its predicate.
template <typename T> void select(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t chosen = warp.bits(in.at[3]);
  const uint32_t poison = (warp.poison[in.at[1].index] & chosen) |
                          (warp.poison[in.at[2].index] & ~chosen) | warp.poison[in.at[3].index];
  warp.setPoison(in.at[0], mask, poison);
  const T *yes = warp.cells<T>(in.at[1]), *no = warp.cells<T>(in.at[2]);
  T *to = warp.cells<T>(in.at[0]);
  forLanes(mask, [&](int lane) { to[lane] = chosen >> lane & 1 ? yes[lane] : no[lane]; });
}

/// slct: a where c >= 0, else b.
template <typename C> uint32_t choose(uint32_t a, uint32_t b, C c) { return c >= 0 ? a : b; }

void addSelections(Operations &all) {
  const Operation word{
      &select<uint32_t>, Pipe::Alu, {Width::Word, Width::Word, Width::Word, Width::Bit}};
  const Operation twice{
      &select<uint64_t>, Pipe::Alu, {Width::Double, Width::Double, Width::Double, Width::Bit}};
  for (const char *type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32"})
    all["selp." + std::string(type)] = word;
  for (const char *type : {"b64", "u64", "s64", "f64"})
    all["selp." + std::string(type)] = twice;
  for (const char *type : {"b32", "u32", "s32", "f32"}) {
    all["slct." + std::string(type) + ".s32"] =
        mapped<[](uint32_t a, uint32_t b, int32_t c) { return choose(a, b, c); }>(Pipe::Alu);
    all["slct." + std::string(type) + ".f32"] =
        mapped<[](uint32_t a, uint32_t b, float c) { return choose(a, b, c); }>(Pipe::Alu);
  }
  for (const char *type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32"})
    all["mov." + std::string(type)] = mapped<[](uint32_t a) { return a; }>(Pipe::Alu);
  for (const char *type : {"b64", "u64", "s64", "f64"})
    all["mov." + std::string(type)] = mapped<[](uint64_t a) { return a; }>(Pipe::Alu);
}

/// mov of a vector into one register: parts of it from the lowest bits on.
template <typename Whole, int count> void pack(Warp &warp, const Instruction &in, uint32_t mask) {
  constexpr int bits = sizeof(Whole) * 8 / count;
  Whole *to = warp.cells<Whole>(in.at[0]);
  uint32_t poison = 0;
  for (int i = 0; i < count; ++i)
    poison |= warp.poison[in.at[static_cast<size_t>(i) + 1].index];
  warp.setPoison(in.at[0], mask, poison);
  forLanes(mask, [&](int lane) {
    Whole value = 0;
    for (int i = 0; i < count; ++i) {
      uint32_t part = warp.cells<uint32_t>(in.at[static_cast<size_t>(i) + 1])[lane];
      value |= static_cast<Whole>(bits == 16 ? part & 0xffff : part) << (i * bits);
    }
    to[lane] = value;
  });
}
template <typename Whole, int count> void unpack(Warp &warp, const Instruction &in, uint32_t mask) {
  constexpr int bits = sizeof(Whole) * 8 / count;
  const Row source = in.at[count];
  const uint32_t poison = warp.poison[source.index];
  Whole values[warpLanes]; // a part may be what is taken apart
  std::copy_n(warp.cells<Whole>(source), warpLanes, values);
  for (int i = 0; i < count; ++i) {
    const Row row = in.at[static_cast<size_t>(i)];
    uint32_t *to = warp.cells<uint32_t>(row);
    warp.setPoison(row, mask, poison);
    forLanes(mask, [&](int lane) {
      auto part = static_cast<uint32_t>(values[lane] >> (i * bits));
      to[lane] = bits == 16 ? part & 0xffff : part;
    });
  }
}

template <typename Whole, int count> void addVectors(Operations &all) {
  const Width whole = widthOf<Whole>();
  const std::string number = std::to_string(count);
  std::vector<Width> together(count + 1, Width::Word), apart = together;
  together.front() = apart.back() = whole;
  const std::string type = "mov.b" + std::to_string(sizeof(Whole) * 8);
  all[type + " <" + number] = {&pack<Whole, count>, Pipe::Alu, together};
  all[type + " >" + number] = {&unpack<Whole, count>, Pipe::Alu, apart};
}

/// Sums and differences with the carry of the instruction before.
enum class Sum { Add, Subtract, LowProduct, HighProduct };
template <Sum kind, bool takes, bool gives>
void withCarry(Warp &warp, const Instruction &in, uint32_t mask) {
  constexpr bool isProduct = kind == Sum::LowProduct || kind == Sum::HighProduct;
  const uint32_t *a = warp.cells<uint32_t>(in.at[1]), *b = warp.cells<uint32_t>(in.at[2]);
  const uint32_t *c = isProduct ? warp.cells<uint32_t>(in.at[3]) : nullptr;
  uint32_t poison = warp.poison[in.at[1].index] | warp.poison[in.at[2].index];
  if (isProduct)
    poison |= warp.poison[in.at[3].index];
  if (takes)
    poison |= warp.carryPoison;
  warp.setPoison(in.at[0], mask, poison);
  uint32_t *to = warp.cells<uint32_t>(in.at[0]);
  uint32_t carries = 0;
  forLanes(mask, [&](int lane) {
    const uint64_t carry = takes ? warp.carry >> lane & 1 : 0;
    const uint64_t product = static_cast<uint64_t>(a[lane]) * b[lane];
    uint64_t sum = 0;
    if constexpr (kind == Sum::Add)
      sum = static_cast<uint64_t>(a[lane]) + b[lane] + carry;
    else if constexpr (kind == Sum::Subtract)
      sum = static_cast<uint64_t>(a[lane]) - b[lane] - carry; // the borrow is above the 32 bits
    else if constexpr (kind == Sum::LowProduct)
      sum = static_cast<uint64_t>(static_cast<uint32_t>(product)) + c[lane] + carry;
    else
      sum = (product >> 32) + c[lane] + carry;
    carries |= static_cast<uint32_t>(sum >> 32 & 1) << lane;
    to[lane] = static_cast<uint32_t>(sum);
  });
  if (gives) {
    warp.carry = (warp.carry & ~mask) | carries;
    warp.carryPoison = (warp.carryPoison & ~mask) | (poison & mask);
  }
}

template <Sum kind>
void addCarries(Operations &all, const std::string &plain, const std::string &taking) {
  constexpr bool isProduct = kind == Sum::LowProduct || kind == Sum::HighProduct;
  const Pipe pipe = isProduct ? Pipe::Fma : Pipe::Alu;
  const std::vector<Width> widths(isProduct ? 4 : 3, Width::Word);
  for (const char *type : {".u32", ".s32", ".b32"}) {
    all[plain + ".cc" + type] = {&withCarry<kind, false, true>, pipe, widths};
    all[taking + ".cc" + type] = {&withCarry<kind, true, true>, pipe, widths};
    all[taking + type] = {&withCarry<kind, true, false>, pipe, widths};
  }
}

template <bool left, bool wraps> uint32_t funnel(uint32_t low, uint32_t high, uint32_t count) {
  count = wraps ? count & 31 : std::min(count, 32u);
  const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
  return static_cast<uint32_t>(left ? both << count >> 32 : both >> count);
}

} // namespace

void addIntegers(Operations &all) {
  addArithmetic<int16_t>(all), addArithmetic<uint16_t>(all);
  addArithmetic<int32_t>(all), addArithmetic<uint32_t>(all);
  addArithmetic<int64_t>(all), addArithmetic<uint64_t>(all);
  addSigned<int16_t>(all), addSigned<int32_t>(all), addSigned<int64_t>(all);
  addWide<int16_t, int32_t>(all), addWide<uint16_t, uint32_t>(all);
  addWide<int32_t, int64_t>(all), addWide<uint32_t, uint64_t>(all);
  addBits<uint16_t>(all), addBits<uint32_t>(all), addBits<uint64_t>(all);
  addPredicates(all);
  addSelections(all);
  addVectors<uint32_t, 2>(all), addVectors<uint64_t, 2>(all), addVectors<uint64_t, 4>(all);
  addCarries<Sum::Add>(all, "add", "addc");
  addCarries<Sum::Subtract>(all, "sub", "subc");
  addCarries<Sum::LowProduct>(all, "mad.lo", "madc.lo");
  addCarries<Sum::HighProduct>(all, "mad.hi", "madc.hi");
  all["prmt.b32"] =
      mapped<[](uint32_t a, uint32_t b, uint32_t c) { return permuteBytes(a, b, c); }>(Pipe::Alu);
  all["dp2a.lo.u32.u32"] = mapped<[](uint32_t a, uint32_t b, uint32_t c) {
    return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
  }>(Pipe::Alu);
  all["lop3.b32"] =
      mapped<[](uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return lookup(a, b, c, d); }>(
          Pipe::Alu);
  all["shf.l.wrap.b32"] =
      mapped<[](uint32_t a, uint32_t b, uint32_t c) { return funnel<true, true>(a, b, c); }>(
          Pipe::Alu);
  all["shf.l.clamp.b32"] =
      mapped<[](uint32_t a, uint32_t b, uint32_t c) { return funnel<true, false>(a, b, c); }>(
          Pipe::Alu);
  all["shf.r.wrap.b32"] =
      mapped<[](uint32_t a, uint32_t b, uint32_t c) { return funnel<false, true>(a, b, c); }>(
          Pipe::Alu);
  all["shf.r.clamp.b32"] =
      mapped<[](uint32_t a, uint32_t b, uint32_t c) { return funnel<false, false>(a, b, c); }>(
          Pipe::Alu);
}

} // namespace hybrid::ptx
