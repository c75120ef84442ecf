//===- ChunkedEvaluation.h - scoring sequences of any length -----------------===//
//
// A model compiled with --chunked has a program `chunk`, which takes a part of a sequence and the
// state that the part before has left. So sequences of any length are scored in the memory of one
// chunk, beside the tokens themselves.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Session.h"
#include "training/Evaluate.h"

namespace hybrid::rt {

/// Positions of a chunk of the program `chunk`; an error says what to compile.
Result<int64_t> chunkLength(const Executable &executable);

/// Scores test instances 0 .. count-1 as evaluate() does; 0: all there are. Instances may be longer
/// or shorter than a chunk.
Result<EvaluationScore> evaluateInChunks(Session &session, const Source &source, uint64_t count);

} // namespace hybrid::rt
