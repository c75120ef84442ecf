//===- Operations.cpp - all opcodes -----------------------------------------===//
#include "test/cuda/ptx/Operation.h"

namespace hybrid::ptx {

const std::array<const char *, pipeCount> pipeNames = {"fma", "alu",    "fp64",   "xu",
                                                       "lsu", "tensor", "control"};

const Operations &operations() {
  static const Operations all = [] {
    Operations made;
    addIntegers(made);
    addFloats(made);
    addConversions(made);
    addExchanges(made);
    addMatrices(made);
    addWarpgroups(made);
    addAddresses(made);
    addCopies(made);
    return made;
  }();
  return all;
}

} // namespace hybrid::ptx
