//===- LentPorts.cpp - a caller's memory for inputs and outputs --------------===//
#include "runtime/cpu/LentPorts.h"
#include <algorithm>
#include <cstring>

namespace hybrid::rt {
namespace {

/// What vectors of a kernel may expect of a place in the arena.
constexpr uintptr_t alignment = 64;

/// Whether what the step touches of the arena lies in the port's place or beside it.
bool keepsApart(const ProgramStep &step, const fb::BufferRef &port) {
  for (const fb::BufferRef &buffer : step.buffers()) {
    if (buffer.space() != fb::Space::Arena || !buffer.bytes())
      continue;
    const uint64_t begin = buffer.offset(), end = begin + buffer.bytes();
    const uint64_t first = port.offset(), last = first + port.bytes();
    if (begin < last && first < end && (begin < first || end > last))
      return false;
  }
  return std::all_of(step.inner().begin(), step.inner().end(),
                     [&](const ProgramStep &inner) { return keepsApart(inner, port); });
}

bool touches(const ProgramStep &step, const fb::BufferRef &port) {
  for (const fb::BufferRef &buffer : step.buffers())
    if (buffer.space() == fb::Space::Arena && buffer.bytes() &&
        buffer.offset() < port.offset() + port.bytes() &&
        port.offset() < buffer.offset() + buffer.bytes())
      return true;
  return std::any_of(step.inner().begin(), step.inner().end(),
                     [&](const ProgramStep &inner) { return touches(inner, port); });
}

} // namespace

LentPorts::LentPorts(const fb::Program &program, std::span<const ProgramStep> steps) {
  const auto before = steps.first(std::min<size_t>(program.pause(), steps.size())),
             after = steps.subspan(before.size());
  for (const auto *tensors : {program.inputs(), program.outputs()})
    for (flatbuffers::uoffset_t i = 0; tensors && i < tensors->size(); ++i) {
      const fb::Tensor &tensor = *tensors->Get(i);
      const fb::BufferRef &place = *tensor.buffer();
      Port port{&tensor, tensors == program.inputs(), isBehindPause(tensor.name()->string_view()),
                false};
      auto apart = [&](const ProgramStep &step) { return keepsApart(step, place); };
      auto touched = [&](const ProgramStep &step) { return touches(step, place); };
      // While the program pauses, an output is the caller's: nothing behind may read it there.
      const auto others = port.isBehindPause ? before : after;
      port.inPlace = program.pause() && place.space() == fb::Space::Arena &&
                     std::all_of(steps.begin(), steps.end(), apart) &&
                     (port.isInput || std::none_of(others.begin(), others.end(), touched));
      ports.push_back(port);
    }
}

void LentPorts::lend(const fb::Tensor &tensor, std::byte *memory) {
  takeBack(tensor);
  for (const Port &port : ports) {
    if (port.tensor != &tensor)
      continue;
    // Two ports in one place: the second is copied.
    const bool taken = std::any_of(lent.begin(), lent.end(), [&](const Lent &other) {
      return other.inPlace && other.port->tensor->buffer()->offset() == tensor.buffer()->offset();
    });
    lent.push_back(
        {&port, memory,
         port.inPlace && !taken && reinterpret_cast<uintptr_t>(memory) % alignment == 0});
  }
}

void LentPorts::takeBack(const fb::Tensor &tensor) {
  std::erase_if(lent, [&](const Lent &each) { return each.port->tensor == &tensor; });
}

void LentPorts::forgetFirstPart() {
  std::erase_if(lent, [](const Lent &each) { return !each.port->isBehindPause; });
}

bool LentPorts::has(const fb::Tensor &tensor) const {
  return std::any_of(lent.begin(), lent.end(),
                     [&](const Lent &each) { return each.port->tensor == &tensor; });
}

std::vector<Redirect> LentPorts::redirects(Part part) const {
  std::vector<Redirect> result;
  for (const Lent &each : lent) {
    // An input of the first part is read in the second, too.
    const bool plays = part == Part::Whole ||
                       each.port->isBehindPause == (part == Part::AfterPause) ||
                       (each.port->isInput && !each.port->isBehindPause);
    const fb::BufferRef &place = *each.port->tensor->buffer();
    if (each.inPlace && plays)
      result.push_back({place.offset(), place.bytes(), each.memory});
  }
  return result;
}

template <typename Copy> void LentPorts::copy(Part part, bool inputs, Copy copy) const {
  for (const Lent &each : lent) {
    const bool now = part == Part::Whole || each.port->isBehindPause == (part == Part::AfterPause);
    const fb::BufferRef &place = *each.port->tensor->buffer();
    if (each.port->isInput == inputs && !each.inPlace && now && place.bytes())
      copy(place, each.memory);
  }
}

void LentPorts::copyInputs(Part part, const ProgramMemory &memory) const {
  copy(part, true, [&](const fb::BufferRef &place, std::byte *lent) {
    std::memcpy(memory.address(place), lent, place.bytes());
  });
}

void LentPorts::copyOutputs(Part part, const ProgramMemory &memory) const {
  copy(part, false, [&](const fb::BufferRef &place, std::byte *lent) {
    std::memcpy(lent, memory.address(place), place.bytes());
  });
}

} // namespace hybrid::rt
