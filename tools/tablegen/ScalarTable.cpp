//===- ScalarTable.cpp - functions of elements ------------------------------===//
//
// -gen-scalar-functions: the formulas of dialect/ScalarFunctions.td as templates, and their names.
//
//===----------------------------------------------------------------------===//
#include "tools/tablegen/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TableGen/Record.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;

namespace {

std::vector<const Record *> inOrder(const RecordKeeper &records, StringRef type) {
  std::vector<const Record *> functions = records.getAllDerivedDefinitions(type);
  sort(functions, [](const Record *a, const Record *b) {
    return a->getValueAsInt("value") < b->getValueAsInt("value");
  });
  return functions;
}

StringRef get(const Record *function, StringRef field) {
  return function->getValueAsString(field).trim();
}

/// One arity of functions: enum, arguments and the class of its records.
struct Family {
  StringRef kind, record, parameters, arguments;
};
constexpr Family unary{"UnaryKind", "Hybrid_UnaryFunction", "T x", "x"};
constexpr Family binary{"BinaryKind", "Hybrid_BinaryFunction", "T a, T b", "a, b"};

/// A template for each function. Graph values make an op of it; others use the formula, unless they
/// have a function of that name themselves.
void emitFunctions(const RecordKeeper &records, const Family &family, raw_ostream &out) {
  for (const Record *function : inOrder(records, family.record)) {
    StringRef formula = get(function, "formula");
    out << formatv("template <{0} T> T {1}({2}) {{\n", formula.empty() ? "GraphValue" : "typename",
                   get(function, "str"), family.parameters);
    StringRef first = family.arguments.take_front(1);
    std::string apply = formatv("return {0}.apply({1}::{2}, {3});", first, family.kind,
                                get(function, "symbol"), family.arguments);
    if (formula.empty())
      out << "  " << apply << "\n}\n";
    else
      out << formatv("  if constexpr (GraphValue<T>)\n    {0}\n  else\n    return {1};\n}\n", apply,
                     formula);
  }
  out << formatv("/// The function `kind` of its arguments.\n"
                 "template <typename T> T valueOf({0} kind, {1}) {{\n  switch (kind) {{\n",
                 family.kind, family.parameters);
  for (const Record *function : inOrder(records, family.record))
    out << formatv("  case {0}::{1}:\n    return {2}({3});\n", family.kind, get(function, "symbol"),
                   get(function, "str"), family.arguments);
  out << "  }\n  llvm_unreachable(\"all kinds handled\");\n}\n";
}

/// Formulas of gradients: an expression, or statements.
void emitGradients(const RecordKeeper &records, raw_ostream &out) {
  out << "/// f'(x) of y = f(x), or nothing.\n"
         "template <typename T> std::optional<T> derivativeOf(UnaryKind kind, T x, T y) {\n"
         "  switch (kind) {\n";
  for (const Record *function : inOrder(records, unary.record)) {
    StringRef code = get(function, "derivative");
    out << formatv("  case UnaryKind::{0}: {{\n", get(function, "symbol"));
    if (code.empty())
      out << "    return std::nullopt;\n";
    else if (code.contains("return"))
      out << "    " << code << "\n";
    else
      out << "    return " << code << ";\n";
    out << "  }\n";
  }
  out << "  }\n  llvm_unreachable(\"all kinds handled\");\n}\n"
         "/// Gradients with respect to a and b of f(a, b), whose own is dy, or nothing.\n"
         "template <typename T>\n"
         "std::optional<std::pair<T, T>> gradientsOf(BinaryKind kind, T a, T b, T dy) {\n"
         "  T da = dy, db = dy;\n  switch (kind) {\n";
  for (const Record *function : inOrder(records, binary.record)) {
    StringRef code = get(function, "gradient");
    out << formatv("  case BinaryKind::{0}: {{\n    {1}\n  }\n", get(function, "symbol"),
                   code.empty() ? "return std::nullopt;" : (code + "\n    break;").str());
  }
  out << "  }\n  return std::pair(da, db);\n}\n";
}

void emitScalarFunctions(const RecordKeeper &records, raw_ostream &out) {
  emitSourceFileHeader("Functions of elements", out, records);
  emitFunctions(records, unary, out);
  emitFunctions(records, binary, out);
  emitGradients(records, out);
  out << "inline constexpr UnaryFunction unaryFunctions[] = {\n";
  for (const Record *function : inOrder(records, unary.record))
    out << formatv("    {{UnaryKind::{0}, {1}, {2}, {3}, {4}},\n", get(function, "symbol"),
                   quoted(get(function, "str")), quoted(get(function, "meaning")),
                   !get(function, "derivative").empty(), function->getValueAsBit("wholeNumbers"));
  out << "};\ninline constexpr BinaryFunction binaryFunctions[] = {\n";
  for (const Record *function : inOrder(records, binary.record))
    out << formatv("    {{BinaryKind::{0}, {1}, {2}, {3}, {4}},\n", get(function, "symbol"),
                   quoted(get(function, "language")), quoted(get(function, "parameters")),
                   quoted(get(function, "meaning")), !get(function, "gradient").empty());
  out << "};\n";
}

void emitPage(const RecordKeeper &records, raw_ostream &out) {
  out << "<!-- Autogenerated by hybrid-tblgen; don't manually edit -->\n\n"
         "# Functions of elements\n\n"
         "Of each element of a tensor x, or of a number:\n\n"
         "| function | meaning |\n| --- | --- |\n";
  for (const Record *function : inOrder(records, unary.record))
    out << formatv("| `{0}(x)` | {1} |\n", get(function, "str"), get(function, "meaning"));
  out << "\nOf two tensors, or a tensor and a number; sizes of 1 and missing leading dimensions "
         "are "
         "repeated:\n\n| function | meaning |\n| --- | --- |\n";
  for (const Record *function : inOrder(records, binary.record)) {
    StringRef name = get(function, "language");
    if (isAlpha(name[0]))
      out << formatv("| `{0}({1})` | {2} |\n", name, get(function, "parameters"),
                     get(function, "meaning"));
    else
      out << formatv("| `a {0} b` | {1} |\n", name, get(function, "meaning"));
  }
}

const TableGen::Emitter::Opt page("gen-scalar-doc", emitPage, "Page of the elementwise functions");
const TableGen::Emitter::Opt functions("gen-scalar-functions", emitScalarFunctions,
                                       "Templates of the elementwise functions");

} // namespace
