//===- MemoryPlan.cpp - the memory a scheduled model takes ------------------===//
#include "codegen/MemoryPlan.h"
#include "codegen/Writer.h"
#include "dialect/schedule/ScheduleOps.h"

using namespace mlir;

namespace hybrid {

/// The executable without its code says all that memory depends on.
MemoryPlan planMemory(ModuleOp scheduled, const DeviceTarget &target, uint64_t threads,
                      uint64_t budget) {
  Provenance provenance;
  provenance.memoryBudget = budget;
  const std::vector<char> bytes = writeExecutable(scheduled, Code(), target.describe(), provenance);
  const fb::Executable &executable = *fb::GetExecutable(bytes.data());
  MemoryPlan plan;
  plan.replicas = executable.replicas();
  plan.training = memoryOf(executable, SessionUse::toTrain(executable, threads));
  plan.evaluation = memoryOf(executable, SessionUse::toEvaluate(executable, threads));
  auto most = llvm::max_element(scheduled.getOps<ProgramOp>(), [](ProgramOp a, ProgramOp b) {
    return a.getArenaBytes().value_or(0) < b.getArenaBytes().value_or(0);
  });
  ProgramOp program = *most;
  plan.program = program.getSymName().str();
  if (auto parts = program->getAttrOfType<ArrayAttr>("schedule.largest"))
    for (auto part : parts.getAsRange<DictionaryAttr>())
      plan.largest.push_back({part.getAs<StringAttr>("op").str(),
                              part.getAs<StringAttr>("location").str(),
                              part.getAs<IntegerAttr>("bytes").getInt()});
  return plan;
}

} // namespace hybrid
