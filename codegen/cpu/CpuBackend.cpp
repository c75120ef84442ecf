//===- CpuBackend.cpp - what programs are made of on the CPU ----------------===//
#include "codegen/cpu/CpuBackend.h"
#include "codegen/cpu/LoopEmitter.h"

using namespace mlir;

namespace hybrid::cpu {

KernelName CpuBackend::kernel(StringRef name, Type element,
                              const KernelConstants &constants) const {
  return {("hybrid_" + name + (element.isF64() ? "_f64" : "_f32")).str(), constants.words};
}

Store CpuBackend::store(Value result, ProgramBuilder &program, bool /*kept*/) const {
  View place = program.define(result);
  return {{program.use(place)}, *place.rowStride(), "", ""};
}

ProductPlace CpuBackend::productPlace(Value result, ProgramBuilder &program) const {
  return {program.define(result), std::nullopt, ""};
}

GeneratedKernel CpuBackend::elementwise(ModuleTables &tables, Block *body, ArrayRef<View> operands,
                                        ArrayRef<View> results, bool byRows) const {
  return emitElementwise(tables, body, operands, results, byRows);
}

GeneratedKernel CpuBackend::fill(ModuleTables &tables, const View &to, double value) const {
  return emitFill(tables, to, value);
}

GeneratedKernel CpuBackend::reduction(ModuleTables &tables, ReduceKind kind, const Load &from,
                                      ArrayRef<int64_t> axes, const View &to) const {
  return emitReduction(tables, kind, from.operands[0], axes, to);
}

GeneratedKernel CpuBackend::rowSums(ModuleTables &tables, const Load &from, int64_t rowsPerItem,
                                    const View &partial, double scale) const {
  return emitRowSums(tables, from.operands[0], rowsPerItem, partial, scale);
}

} // namespace hybrid::cpu
