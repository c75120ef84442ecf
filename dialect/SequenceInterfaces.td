//===- SequenceInterfaces.td - what is asked of ops along the sequence -*- tablegen -*-===//
#ifndef HYBRID_SEQUENCE_INTERFACES_TD
#define HYBRID_SEQUENCE_INTERFACES_TD
include "mlir/IR/OpBase.td"

def PositionsOp : OpInterface<"PositionsOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op in which positions of a sequence meet or move, and that says which a result reads. Elementwise ops, row-wise ones, those with a `SequenceAxisOp` and those
    with a state have no need of it: `sequenceUseOf` knows them. Asked for `--chunked`, for the state of a model and for its causality.
  }];
  let methods = [
    InterfaceMethod<"What `result` reads of the operand's positions along its dimension `axis`.", "::hybrid::SequenceUse", "getSequenceUse",
      (ins "unsigned":$operand, "int64_t":$axis, "unsigned":$result)>,
    InterfaceMethod<"Of an op with a body: the operand whose rows are those of the body's argument; null for one that has none of an operand's rows.",
      "::mlir::Value", "getBodyRows", (ins "unsigned":$argument), [{}], [{ return {}; }]>,
    InterfaceMethod<"How often a body runs on a sequence, each time with a state of its own.", "int64_t", "getBodyStates", (ins), [{}], [{ return 1; }]>
  ];
}

def CarriedOp : OpInterface<"CarriedOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op along the sequence that can go on where the part of the sequence before has ended, from states that are zero at the start and are not those of a
    `ResumableOp`. Where it has no bound of its own it reaches `context` positions, the newest among them; without a context (0) it
    has to have one. Used by `hybrid-carry-state`.
  }];
  let methods = [
    InterfaceMethod<"Why the op cannot go on from a state here, for people; empty when it can.", "::llvm::StringRef", "getObstacle",
      (ins "int64_t":$context)>,
    InterfaceMethod<[{
      Builds the op again so that it goes on from states: `stateOfType` gives the state before for a type, as often as it is called; the state after is
      appended to `finalStates`. Gives what takes the place of the results.
    }], "::llvm::SmallVector<::mlir::Value>", "buildCarried",
      (ins "::mlir::OpBuilder &":$builder, "int64_t":$context, "::llvm::function_ref<::mlir::Value(::mlir::Type)>":$stateOfType,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$finalStates)>
  ];
}

def HeadwiseOp : OpInterface<"HeadwiseOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    An op along the sequence that computes every head, or channel, alone: ranks that have parts of a sequence can each compute some heads of all of it. Used by
    `hybrid-split-sequence` where there is no state of a size that does not depend on the length.
  }];
  let methods = [
    InterfaceMethod<"Heads that may go to different ranks.", "int64_t", "getHeadCount">,
    InterfaceMethod<"The dimension of an operand in which heads lie one behind the other; -1: it has none.", "int64_t", "getHeadDimension",
      (ins "unsigned":$operand)>,
    InterfaceMethod<"The same of a result.", "int64_t", "getHeadDimensionOfResult", (ins "unsigned":$result)>,
    InterfaceMethod<"Why one head cannot be computed as another is, for people; empty when it can.", "::llvm::StringRef", "getHeadObstacle", (ins), [{}],
      [{ return ""; }]>,
    InterfaceMethod<"Sets the attributes alone: those of one of `parts` equal parts of the heads.", "void", "takePartOfHeads", (ins "int64_t":$parts)>
  ];
}

def RecurrentFilterOp : OpInterface<"RecurrentFilterOp"> {
  let cppNamespace = "::hybrid";
  let description = [{
    A filter that is the impulse response of a linear recurrence, so that a convolution with it has a state of one size. Asked by `hybrid.fftconv`.
  }];
  let methods = [
    InterfaceMethod<"Scalars of the recurrence's state, a channel.", "int64_t", "getRecurrenceElements">,
    InterfaceMethod<"Log decay, angle, real and imaginary part of its modes, all [S, C]: h[t] = Σ_s Re((re + i im)[s] e^((log_decay + i angle)[s] t)).",
      "::llvm::SmallVector<::mlir::Value>", "getModes">
  ];
}
#endif
