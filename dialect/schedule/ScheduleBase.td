//===- ScheduleBase.td - what all steps of a program are made of -*- tablegen -*-===//
#ifndef SCHEDULE_BASE_TD
#define SCHEDULE_BASE_TD
include "dialect/HybridAttributes.td"
include "dialect/schedule/ScheduleDialect.td"
include "dialect/schedule/ScheduleInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Memory by its shape and strides, in elements; its space is that of the buffer it is a view of.
def Schedule_Memory : StaticShapeMemRefOf<[F32, F64, BF16, I32, I8]>;

class Schedule_Op<string mnemonic, list<Trait> traits = []> : Op<Schedule_Dialect, mnemonic, traits>;
class Schedule_Step<string mnemonic, list<Trait> traits = []>
    : Schedule_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<ScheduleStep, ["writesOperand"]>], traits)>;
#endif
