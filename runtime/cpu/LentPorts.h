//===- LentPorts.h - a caller's memory for inputs and outputs ----------------===//
//
// A program that pauses has the places of its ports in the arena to themselves (Executable.fbs):
// there the caller's memory can stand for them, and nothing is copied. For all others it is what
// inputs are copied from and outputs to.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/cpu/ProgramStep.h"
#include <span>
#include <vector>

namespace hybrid::rt {

class LentPorts {
public:
  LentPorts() = default;
  LentPorts(const fb::Program &program, std::span<const ProgramStep> steps);

  /// Memory of the tensor's bytes, until clear(); for an output it is written.
  void lend(const fb::Tensor &tensor, std::byte *memory);
  void takeBack(const fb::Tensor &tensor);
  /// What was lent to the part before the pause is the caller's again.
  void forgetFirstPart();
  void clear() { lent.clear(); }
  bool has(const fb::Tensor &tensor) const;

  /// Where what is lent stands for the arena while a part of the program runs.
  std::vector<Redirect> redirects(Part part) const;
  /// Copies the other inputs of the part into the arena, or its other outputs out of it.
  void copyInputs(Part part, const ProgramMemory &memory) const;
  void copyOutputs(Part part, const ProgramMemory &memory) const;

private:
  struct Port {
    const fb::Tensor *tensor;
    bool isInput, isBehindPause;
    bool inPlace; // nothing else lies where it does
  };
  struct Lent {
    const Port *port;
    std::byte *memory;
    bool inPlace; // stands for the arena
  };
  template <typename Copy> void copy(Part part, bool inputs, Copy copy) const;

  std::vector<Port> ports;
  std::vector<Lent> lent;
};

} // namespace hybrid::rt
