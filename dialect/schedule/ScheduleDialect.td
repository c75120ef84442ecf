//===- ScheduleDialect.td - the schedule dialect and its attributes *- tablegen -*-===//
#ifndef SCHEDULE_DIALECT_TD
#define SCHEDULE_DIALECT_TD
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Schedule_Dialect : Dialect {
  let name = "schedule";
  let summary = "programs of launches and library calls over buffers";
  let description = [{
    What the functions of a model become: steps in the order in which they run. First their buffers are SSA values, `schedule.buffer` and
    views of it (`schedule.view`), and what is generated stands as a region (`schedule.compute`, `schedule.reduce`): passes fuse, merge and
    emit on this form. Then every buffer gets a place, and a step names places (`#schedule.buffer<arena, 128, 4096>`) instead of values: two
    buffers that share memory have no data dependence left that SSA could show, and order alone is the truth, as in the executable.

    A scheduled module may carry `schedule.replicas`: its programs are for that many independent trainings (`hybrid-ensemble`).
  }];
  let cppNamespace = "::hybrid";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::hybrid::HybridDialect"];
  let hasOperationAttrVerify = 1;
}

def Schedule_Space : I32EnumAttr<"Space", "where a buffer lives", [
  I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Parameters", 1, "parameters">,
  I32EnumAttrCase<"Gradients", 2, "gradients">, I32EnumAttrCase<"Moment1", 3, "moment1">,
  I32EnumAttrCase<"Moment2", 4, "moment2">, I32EnumAttrCase<"Constants", 5, "constants">,
  I32EnumAttrCase<"Tile", 6, "tile">]> {
  let cppNamespace = "::hybrid";
  let genSpecializedAttr = 0;
}
def Schedule_SpaceAttr : EnumAttr<Schedule_Dialect, Schedule_Space, "space"> { let assemblyFormat = "$value"; }

def Schedule_RankPattern : I32EnumAttr<"RankPattern", "who of the ranks of a sequence gives bytes to whom", [
  I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"ToNext", 1, "to_next">, I32EnumAttrCase<"ToPrevious", 2, "to_previous">,
  I32EnumAttrCase<"FromNext", 3, "from_next">, I32EnumAttrCase<"FromPrevious", 4, "from_previous">, I32EnumAttrCase<"Place", 5, "place">]> {
  let cppNamespace = "::hybrid";
  let genSpecializedAttr = 0;
}
def Schedule_RankPatternAttr : EnumAttr<Schedule_Dialect, Schedule_RankPattern, "rank_pattern"> { let assemblyFormat = "$value"; }

/// A place in a space: byte offset and extent. `#schedule.buffer<arena, 128, 4096>`.
def Schedule_BufferAttr : AttrDef<Schedule_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let parameters = (ins EnumParameter<Schedule_Space>:$space, "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` $space `,` $offset `,` $bytes `>`";
  let genVerifyDecl = 1;
}
def Schedule_BufferArrayAttr : TypedArrayAttrBase<Schedule_BufferAttr, "buffers">;

/// How many replicas the programs of a module are for (the module's attribute `schedule.replicas`; absent: one), and bytes from one
/// to the next in the spaces: replica r has its part of a space at r times that. Constants are shared.
def Schedule_ReplicasAttr : AttrDef<Schedule_Dialect, "Replicas"> {
  let mnemonic = "replicas";
  let parameters = (ins "int64_t":$count, "int64_t":$arena, "int64_t":$parameters, "int64_t":$tile);
  let assemblyFormat = "`<` $count `,` `arena` $arena `,` `parameters` $parameters `,` `tile` $tile `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral attributeName = "schedule.replicas";
    /// Of the module that `op` is in or is; null for one replica.
    static ReplicasAttr of(::mlir::Operation *op);
    int64_t strideOf(Space space) const;
  }];
}
#endif
