//===- Operators.h - the ops that the language offers -----------------------===//
//
// The signatures of `op.NAME`, made by hybrid-tblgen of the ops whose definition says `let
// language`: names, kinds and defaults of parameters, results, documentation. Shapes are not part
// of it: they follow from the ops' inference and verifiers.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hybrid {

/// A parameter of an operator: an operand or an attribute of the op.
struct OperatorParameter {
  enum class Kind : uint8_t {
    Tensor,    // an operand of floating point numbers
    Integers,  // an operand of integers
    AnyTensor, // an operand of either
    Integer,   // I64Attr
    Number,    // F64Attr
    Boolean,   // BoolAttr
    Flag,      // UnitAttr
    Axis,      // Hybrid_AxisAttr
    Axes,      // Hybrid_AxesAttr
    Sizes,     // DenseI64ArrayAttr
    Size,      // Hybrid_SizeAttr
  };
  llvm::StringRef name;      ///< in the language
  llvm::StringRef attribute; ///< of the op; empty for an operand
  Kind kind;
  unsigned operand;      ///< which operand as the op is defined, where it is one
  bool optional;         ///< may be left out
  bool list;             ///< takes a list of tensors
  llvm::StringRef other; ///< the parameter that it equals when it is left out, or empty
  llvm::StringRef value; ///< the default as people read it, or empty

  bool isOperand() const { return attribute.empty(); }
};

struct Operator {
  llvm::StringRef name; ///< in the language
  llvm::StringRef op;   ///< "hybrid.linear"
  llvm::StringRef summary, description;
  unsigned operands; ///< number of operands as the op is defined, optional ones included
  llvm::ArrayRef<OperatorParameter> parameters;
  llvm::ArrayRef<llvm::StringRef> flags; ///< unit attributes that it always has
  llvm::ArrayRef<unsigned> results;      ///< those the language gives, where the op has them
  bool listed;                           ///< the op's only result is a list
};

/// All operators, in the order of their names.
llvm::ArrayRef<Operator> operators();

} // namespace hybrid
