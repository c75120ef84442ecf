//===- AST.h - what a .hyb file says -------------------------------------------===//
//
// One node type for expressions, one for statements: the language is small and every walk over it
// is in the elaborator.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "frontends/dsl/Source.h"
#include <memory>
#include <optional>

namespace hybrid::dsl {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

/// `name = value`, or only a value.
struct Argument {
  Place place;
  std::string name;
  ExpressionPtr value;
};

/// `start:end` between brackets; a single index has `end` empty and `isRange` false.
struct Subscript {
  Place place;
  ExpressionPtr start, end;
  bool isRange = false, isEllipsis = false;
};

struct Expression {
  enum class Kind : uint8_t {
    Integer,
    Float,
    String,
    Boolean,
    Name,
    Operator /* op.NAME */,
    List,
    Unary,
    Binary,
    Conditional,
    Call,
    Index,
    With
  };
  Kind kind;
  Place place;
  std::string text; // name, string, or operator sign
  int64_t integer = 0;
  double number = 0;
  std::vector<ExpressionPtr> children; // operands; list elements; [callee]; [condition, then, else]
  std::vector<Argument> arguments;
  std::vector<Subscript> subscripts;
};

/// int, float, bool, string, layer, or a tensor type `int[B, L]`, `[..., D]`.
struct TypeSyntax {
  enum class Kind : uint8_t { Integer, Float, Boolean, String, Layer, Tensor };
  /// Of the kinds in front of Tensor.
  static constexpr llvm::StringLiteral words[] = {"int", "float", "bool", "string", "layer"};
  Kind kind = Kind::Tensor;
  Place place;
  bool integerElements = false; // int[...]
  bool leading = false;         // starts with `...`
  std::vector<ExpressionPtr> dimensions;
};

struct ParameterSyntax {
  std::string name;
  Place place;
  TypeSyntax type;
  ExpressionPtr initial;   // default, may be null
  Place initialPlace;      // where the default begins
  std::string initialText; // as written
};

/// Names a `let` or `for` binds; `rest` marks the one followed by `...`.
struct Pattern {
  struct Entry {
    std::string name;
    Place place;
    bool rest = false;
  };
  Place place;
  std::vector<Entry> entries;
  bool isList = false; // destructures even with one entry
};

struct Statement {
  enum class Kind : uint8_t {
    Let,
    Assign,
    For,
    Repeat,
    If,
    Return,
    Topology,
    Input,
    Output,
    Evaluate
  };
  Kind kind;
  Place place;
  Pattern pattern;  // Let, For
  std::string name; // Assign, Input, Output; the sign of `+=` in `sign`
  char sign = 0;
  ExpressionPtr value, end; // value; upper bound of a range
  TypeSyntax type;          // Input
  std::vector<Statement> body, otherwise;
  struct Letter {
    std::string name;
    Place place;
    std::vector<Statement> body;
  };
  std::vector<Letter> letters; // Topology
};

/// A layer or a model.
struct Definition {
  bool isModel = false;
  std::string name;
  Place place;
  std::vector<ParameterSyntax> parameters;
  std::optional<TypeSyntax> result;
  std::vector<Statement> body;
};

struct Use {
  Place place;
  std::vector<std::string> path;
};

struct FileSyntax {
  uint32_t file = 0;
  std::vector<Use> uses;
  std::vector<std::unique_ptr<Definition>> definitions;
};

} // namespace hybrid::dsl
