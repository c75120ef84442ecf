// An op that only its definition knows.
include "dialect/HybridBase.td"

def Toy_MovingAverageOp : Hybrid_PureOp<"moving_average", [AttrSizedOperandSegments]> {
  let summary = "an average that forgets";
  let description = [{
    `y_t = rate x_t + (1 - rate) y_{t-1}`.
  }];
  let language = (operator $x, "rate":$decay, "to = from":$to, $from, $segments, $return_state, 1:$exact);
  let languageResults = (given $result, $final_state);
  let arguments = (ins Hybrid_FloatTensor:$x, Optional<Hybrid_FloatTensor>:$hidden, Optional<Hybrid_IntTensor>:$segments,
                       DefaultValuedAttr<F64Attr, "0.5">:$decay, I64Attr:$from, I64Attr:$to, UnitAttr:$return_state, UnitAttr:$exact);
  let results = (outs Hybrid_FloatTensor:$result, Hybrid_FloatTensor:$denominators, Optional<Hybrid_FloatTensor>:$final_state);
}

/// Not of the language.
def Toy_MovingAverageGradOp : Hybrid_PureOp<"moving_average_grad"> {
  let arguments = (ins Hybrid_FloatTensor:$x);
}

#ifdef WRONG
def Toy_WrongOp : Hybrid_PureOp<"wrong"> {
  let language = (operator $x, $kind);
  let arguments = (ins Hybrid_FloatTensor:$x, TypeAttr:$kind);
}
#endif
