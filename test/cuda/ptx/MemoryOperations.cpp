//===- MemoryOperations.cpp - loads and stores ------------------------------===//
#include "test/cuda/ptx/Lanes.h"
#include "test/cuda/ptx/MemoryChecks.h"

namespace hybrid::ptx {
namespace {

using Space = MemoryOperation::Space;

// Generic addresses of shared and local memory: far from any address of this process.
constexpr uint64_t sharedWindow = uint64_t(1) << 60, localWindow = uint64_t(2) << 60;
constexpr uint64_t windowBits = uint64_t(7) << 60;

/// Where the bytes of a lane are in this process.
template <Space space> std::byte *place(Warp &warp, int lane, uint64_t address) {
  if constexpr (space == Space::Shared)
    return warp.block->shared + address;
  else if constexpr (space == Space::Local)
    return warp.frames.data() + static_cast<uint64_t>(lane) * warp.framesPoison.size() + address;
  else
    return reinterpret_cast<std::byte *>(address);
}

template <Space space, typename T, int count>
void loadFrom(Warp &warp, const Instruction &in, uint32_t mask, const LaneAddresses &addresses) {
  constexpr uint64_t bytes = sizeof(T) * count;
  uint32_t good = mask, poison = 0;
  if constexpr (space == Space::Global)
    good = checkGlobal(warp, in, mask, addresses, bytes, false);
  else if constexpr (space == Space::Shared)
    good = checkShared(warp, in, mask, addresses, bytes, Shadow::Access::Read, poison);
  else
    good = checkLocal(warp, in, mask, addresses, bytes);
  for (size_t i = 0; i < count; ++i) {
    uint32_t bad = poison | ~good;
    if constexpr (space == Space::Local)
      forLanes(good, [&](int lane) {
        for (size_t byte = 0; byte < sizeof(T); ++byte)
          bad |= warp.framesPoison[addresses[static_cast<size_t>(lane)] + i * sizeof(T) + byte] &
                 (1u << lane);
      });
    auto value = [&](int lane) {
      T loaded;
      std::memcpy(&loaded,
                  place<space>(warp, lane, addresses[static_cast<size_t>(lane)]) + i * sizeof(T),
                  sizeof(T));
      return loaded;
    };
    if (in.wide || sizeof(T) == 8) {
      uint64_t *to = warp.cells<uint64_t>(in.at[i]);
      forLanes(good, [&](int lane) { to[lane] = static_cast<uint64_t>(value(lane)); });
    } else {
      uint32_t *to = warp.cells<uint32_t>(in.at[i]);
      forLanes(good, [&](int lane) { to[lane] = static_cast<uint32_t>(value(lane)); });
    }
    warp.setPoison(in.at[i], mask, bad);
  }
}

template <Space space, typename T, int count>
void storeTo(Warp &warp, const Instruction &in, uint32_t mask, const LaneAddresses &addresses) {
  constexpr uint64_t bytes = sizeof(T) * count;
  uint32_t good = mask, poison = 0;
  for (size_t i = 0; i < count; ++i)
    poison |= warp.poison[in.at[i].index];
  if constexpr (space == Space::Global) {
    for (size_t i = 0; i < count; ++i)
      warp.requireDefined(in, in.at[i], mask, "stores");
    good = checkGlobal(warp, in, mask, addresses, bytes, true);
  } else if constexpr (space == Space::Shared) {
    good = checkShared(warp, in, mask, addresses, bytes, Shadow::Access::Write, poison);
  } else {
    good = checkLocal(warp, in, mask, addresses, bytes);
  }
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bad = warp.poison[in.at[i].index];
    forLanes(good, [&](int lane) {
      const T value =
          static_cast<T>(in.wide || sizeof(T) == 8 ? warp.cells<uint64_t>(in.at[i])[lane]
                                                   : warp.cells<uint32_t>(in.at[i])[lane]);
      const uint64_t address = addresses[static_cast<size_t>(lane)];
      std::memcpy(place<space>(warp, lane, address) + i * sizeof(T), &value, sizeof(T));
      if constexpr (space == Space::Local)
        for (size_t byte = 0; byte < sizeof(T); ++byte) {
          uint32_t &of = warp.framesPoison[address + i * sizeof(T) + byte];
          of = (of & ~(1u << lane)) | (bad & (1u << lane));
        }
    });
  }
}

/// Parameters of the kernel: the same in all threads.
template <typename T, int count>
void loadParameter(Warp &warp, const Instruction &in, uint32_t mask) {
  for (size_t i = 0; i < count; ++i) {
    T loaded;
    std::memcpy(&loaded,
                warp.block->parameters + in.offset[0] + static_cast<int64_t>(i * sizeof(T)),
                sizeof(T));
    if (in.wide || sizeof(T) == 8)
      forLanes(mask, [&](int lane) {
        warp.cells<uint64_t>(in.at[i])[lane] = static_cast<uint64_t>(loaded);
      });
    else
      forLanes(mask, [&](int lane) {
        warp.cells<uint32_t>(in.at[i])[lane] = static_cast<uint32_t>(loaded);
      });
    warp.setPoison(in.at[i], mask, 0);
  }
}

template <Space space, typename T, int count, bool isStore>
void access(Warp &warp, const Instruction &in, uint32_t mask) {
  warp.requireDefined(in, in.at[count], mask,
                      isStore ? "stores to an address from" : "loads from an address from");
  const LaneAddresses addresses = addressesOf(warp, in, count, 0, in.narrow[0]);
  auto go = [&]<Space where>(uint32_t lanes, const LaneAddresses &at) {
    if constexpr (isStore)
      storeTo<where, T, count>(warp, in, lanes, at);
    else
      loadFrom<where, T, count>(warp, in, lanes, at);
  };
  if constexpr (space != Space::Generic) {
    go.template operator()<space>(mask, addresses);
    return;
  }
  uint32_t inShared = 0, inLocal = 0;
  LaneAddresses plain = addresses;
  forLanes(mask, [&](int lane) {
    uint64_t &address = plain[static_cast<size_t>(lane)];
    inShared |= static_cast<uint32_t>((address & windowBits) == sharedWindow) << lane;
    inLocal |= static_cast<uint32_t>((address & windowBits) == localWindow) << lane;
    if ((inShared | inLocal) >> lane & 1)
      address &= ~windowBits;
  });
  if (inShared)
    go.template operator()<Space::Shared>(inShared, plain);
  if (inLocal)
    go.template operator()<Space::Local>(inLocal, plain);
  if (const uint32_t rest = mask & ~inShared & ~inLocal)
    go.template operator()<Space::Global>(rest, plain);
}

/// The function for a type and a length of vectors.
template <Space space, bool isStore> Instruction::Run choose(std::string_view type, int count) {
  auto of = [&]<typename T>(T) -> Instruction::Run {
    if constexpr (space == Space::Parameter)
      return isStore      ? nullptr
             : count == 1 ? &loadParameter<T, 1>
             : count == 2 ? &loadParameter<T, 2>
                          : &loadParameter<T, 4>;
    else
      return count == 1   ? &access<space, T, 1, isStore>
             : count == 2 ? &access<space, T, 2, isStore>
                          : &access<space, T, 4, isStore>;
  };
  if (type == "b8" || type == "u8")
    return of(uint8_t());
  if (type == "s8")
    return of(int8_t());
  if (type == "b16" || type == "u16" || type == "f16" || type == "bf16")
    return of(uint16_t());
  if (type == "s16")
    return of(int16_t());
  if (type == "b32" || type == "u32" || type == "f32")
    return of(uint32_t());
  if (type == "s32")
    return of(int32_t());
  if (type == "b64" || type == "u64" || type == "s64" || type == "f64")
    return of(uint64_t());
  return nullptr;
}

template <Space space> Instruction::Run choose(const MemoryOperation &made, std::string_view type) {
  return made.isStore ? choose<space, true>(type, made.count)
                      : choose<space, false>(type, made.count);
}

Instruction::Run choose(const MemoryOperation &made, std::string_view type) {
  switch (made.space) {
  case Space::Global:
    return choose<Space::Global>(made, type);
  case Space::Shared:
    return choose<Space::Shared>(made, type);
  case Space::Local:
    return choose<Space::Local>(made, type);
  case Space::Parameter:
    return choose<Space::Parameter>(made, type);
  case Space::Generic:
    return choose<Space::Generic>(made, type);
  }
  return nullptr;
}

template <uint64_t window, bool into> uint64_t convert(uint64_t address) {
  return into ? address & ~windowBits : address | window;
}

} // namespace

std::optional<MemoryOperation> findMemoryOperation(std::string_view opcode) {
  MemoryOperation made;
  std::string_view rest = opcode;
  auto part = [&] {
    const size_t dot = rest.find('.');
    std::string_view found = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    return found;
  };
  const std::string_view name = part();
  if (name != "ld" && name != "st")
    return std::nullopt;
  made.isStore = name == "st";
  std::string_view type;
  while (!rest.empty()) {
    const std::string_view word = part();
    if (word == "global" || word == "const")
      made.space = Space::Global;
    else if (word == "shared" || word == "shared::cta")
      made.space = Space::Shared;
    else if (word == "local")
      made.space = Space::Local;
    else if (word == "param")
      made.space = Space::Parameter;
    else if (word == "nc")
      made.coherent = false;
    else if (word == "cs")
      made.streams = true;
    else if (word == "v2" || word == "v4")
      made.count = word == "v2" ? 2 : 4;
    else if (rest.empty())
      type = word;
    else if (word != "ca" && word != "cg" && word != "cv" && word != "wb" && word != "wt" &&
             word != "volatile" && word != "weak" && !word.starts_with("L1::") &&
             !word.starts_with("L2::"))
      return std::nullopt;
  }
  made.run = choose(made, type); // none for a store to a parameter, which is a variable of a call
  made.bytes = type.ends_with("8") ? 1 : type.ends_with("16") ? 2 : type.ends_with("32") ? 4 : 8;
  const bool isKnown =
      made.run || (made.space == Space::Parameter && choose<Space::Local>(made, type));
  return isKnown ? std::optional(made) : std::nullopt;
}

void addAddresses(Operations &all) {
  const Operation same = mapped<[](uint64_t a) { return a; }>(Pipe::Alu);
  const Operation fromShared =
                      mapped<[](uint64_t a) { return convert<sharedWindow, false>(a); }>(Pipe::Alu),
                  fromLocal =
                      mapped<[](uint64_t a) { return convert<localWindow, false>(a); }>(Pipe::Alu),
                  into = mapped<[](uint64_t a) { return convert<0, true>(a); }>(Pipe::Alu);
  for (const char *space : {"global", "const"})
    all["cvta." + std::string(space) + ".u64"] = all["cvta.to." + std::string(space) + ".u64"] =
        same;
  all["cvta.shared.u64"] = fromShared, all["cvta.local.u64"] = fromLocal;
  all["cvta.to.shared.u64"] = all["cvta.to.local.u64"] = into;
}

} // namespace hybrid::ptx
