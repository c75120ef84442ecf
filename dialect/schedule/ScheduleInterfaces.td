//===- ScheduleInterfaces.td - what passes ask of a step --------*- tablegen -*-===//
#ifndef SCHEDULE_INTERFACES_TD
#define SCHEDULE_INTERFACES_TD
include "mlir/IR/OpBase.td"

def ScheduleStep : OpInterface<"ScheduleStep"> {
  let cppNamespace = "::hybrid";
  let description = "A step of a program: its operands are views of buffers, which it reads or writes.";
  let methods = [
    InterfaceMethod<"Whether operand `index` is written; where it is not, it is only read.", "bool", "writesOperand", (ins "unsigned":$index)>,
    InterfaceMethod<"What people call the op it stands for.", "::llvm::StringRef", "getSource">
  ];
}
#endif
