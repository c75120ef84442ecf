//===- OperatorTable.cpp - the ops that the language offers -----------------===//
//
// -gen-operators: the rows of dialect/Operators.h. -gen-operator-doc: the same for people.
//
//===----------------------------------------------------------------------===//
#include "mlir/TableGen/Operator.h"
#include "tools/tablegen/Text.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"
#include "llvm/TableGen/TableGenBackend.h"

using namespace llvm;
namespace tblgen = mlir::tblgen;

namespace {

struct Parameter {
  std::string name, attribute, kind, other, value;
  unsigned operand = 0;
  bool optional = false, list = false;
};

struct Operator {
  std::string name, op, summary, description;
  int operands;
  std::vector<Parameter> parameters;
  std::vector<std::string> flags;
  std::vector<unsigned> results;
  bool listed;
};

[[noreturn]] void fail(const Record *record, const Twine &message) {
  PrintFatalError(record, "language of '" + record->getName() + "': " + message);
}

std::string kindOf(const Record *record, const tblgen::NamedAttribute &attribute) {
  StringRef type = attribute.attr.getBaseAttr().getAttrDefName();
  std::string kind = StringSwitch<std::string>(type)
                         .Case("I64Attr", "Integer")
                         .Case("F64Attr", "Number")
                         .Case("BoolAttr", "Boolean")
                         .Case("UnitAttr", "Flag")
                         .Case("Hybrid_AxisAttr", "Axis")
                         .Case("Hybrid_AxesAttr", "Axes")
                         .Case("Hybrid_SizeAttr", "Size")
                         .Case("DenseI64ArrayAttr", "Sizes")
                         .Default("");
  if (kind.empty())
    fail(record, "no value of the language is a " + type + ", as '" + attribute.name + "' is");
  return kind;
}

std::string kindOf(const tblgen::NamedTypeConstraint &operand) {
  const Record *type = &operand.constraint.getDef();
  if (operand.isVariableLength())
    type = type->getValueAsDef("baseType");
  return StringSwitch<std::string>(type->getName())
      .Case("Hybrid_IntTensor", "Integers")
      .Case("Hybrid_Tensor", "AnyTensor")
      .Default("Tensor");
}

int indexOfArgument(const tblgen::Operator &op, StringRef name) {
  for (int i = 0; i < op.getNumArgs(); ++i)
    if (op.getArgName(i) == name)
      return i;
  return -1;
}

/// `$x`, `"eps":$epsilon` or `"kv_heads = heads":$kv_heads`.
Parameter readParameter(const Record *record, const tblgen::Operator &op, const Init *given,
                        StringRef argument) {
  Parameter parameter;
  parameter.name = argument.str();
  if (const auto *text = dyn_cast<StringInit>(given)) {
    auto [name, other] = text->getValue().split('=');
    parameter.name = name.trim().str();
    parameter.value = parameter.other = other.trim().str();
  }
  int index = indexOfArgument(op, argument);
  if (index < 0)
    fail(record, "the op has no operand or attribute '" + argument + "'");
  if (auto *operand = dyn_cast<tblgen::NamedTypeConstraint *>(op.getArg(index))) {
    parameter.kind = kindOf(*operand);
    parameter.operand = op.getArgToOperandAttrOrProp(index).operandOrAttributeIndex();
    parameter.optional = operand->isOptional();
    parameter.list = operand->isVariadic();
    return parameter;
  }
  auto *attribute = dyn_cast<tblgen::NamedAttribute *>(op.getArg(index));
  if (!attribute)
    fail(record, "'" + argument + "' is neither an operand nor an attribute");
  parameter.kind = kindOf(record, *attribute);
  parameter.attribute = argument.str();
  parameter.optional = attribute->attr.hasDefaultValue() || attribute->attr.isOptional() ||
                       parameter.kind == "Axis" || !parameter.other.empty();
  if (parameter.kind == "Axis")
    parameter.value = "-1";
  else if (parameter.kind == "Flag")
    parameter.value = "false";
  else if (attribute->attr.hasDefaultValue())
    parameter.value = attribute->attr.getDefaultValue().str();
  return parameter;
}

/// The description without the indentation that it has in its file.
std::string unindented(StringRef text) {
  SmallVector<StringRef> lines;
  text.rtrim().split(lines, '\n');
  size_t indentation = StringRef::npos;
  for (StringRef line : lines)
    if (!line.trim().empty())
      indentation = std::min(indentation, line.find_first_not_of(' '));
  std::string result;
  for (StringRef line : lines)
    if (!result.empty() || !line.trim().empty())
      result += line.substr(std::min(indentation, line.size())).rtrim().str() + "\n";
  return result;
}

Operator readOperator(const Record *record, const DagInit *language) {
  tblgen::Operator op(record);
  Operator result{record->getValueAsString("opName").str(),
                  op.getOperationName(),
                  op.getSummary().str(),
                  unindented(op.getDescription()),
                  op.getNumOperands(),
                  {},
                  {},
                  {},
                  op.hasSingleVariadicResult() && !op.getResult(0).isOptional()};
  for (unsigned i = 0; i < language->getNumArgs(); ++i) {
    StringRef argument = language->getArgNameStr(i);
    if (!isa<IntInit>(language->getArg(i))) {
      result.parameters.push_back(readParameter(record, op, language->getArg(i), argument));
      continue;
    }
    int index = indexOfArgument(op, argument);
    auto *attribute = index < 0 ? nullptr : dyn_cast<tblgen::NamedAttribute *>(op.getArg(index));
    if (!attribute || kindOf(record, *attribute) != "Flag")
      fail(record, "only a unit attribute can be set, not '" + argument + "'");
    result.flags.push_back(argument.str());
  }
  const DagInit *shown = record->getValueAsDag("languageResults");
  for (int i = 0; i < op.getNumResults(); ++i)
    if (shown->getNumArgs() == 0 || any_of(seq(shown->getNumArgs()), [&](size_t j) {
          return shown->getArgNameStr(j) == op.getResultName(i);
        }))
      result.results.push_back(static_cast<unsigned>(i));
  return result;
}

std::vector<Operator> readOperators(const RecordKeeper &records) {
  std::vector<Operator> result;
  for (const Record *record : records.getAllDerivedDefinitions("Op"))
    if (const RecordVal *field = record->getValue("language"))
      if (const auto *language = dyn_cast<DagInit>(field->getValue()))
        result.push_back(readOperator(record, language));
  sort(result, [](const Operator &a, const Operator &b) { return a.name < b.name; });
  return result;
}

void emitTable(const RecordKeeper &records, raw_ostream &out) {
  emitSourceFileHeader("The ops that the language offers", out, records);
  std::vector<Operator> operators = readOperators(records);
  for (const Operator &op : operators) {
    out << formatv("static constexpr OperatorParameter {0}Parameters[] = {{\n", op.name);
    for (const Parameter &p : op.parameters)
      out << formatv("    {{{0}, {1}, OperatorParameter::Kind::{2}, {3}, {4}, {5}, {6}, {7}},\n",
                     quoted(p.name), quoted(p.attribute), p.kind, p.operand, p.optional, p.list,
                     quoted(p.other), quoted(p.value));
    out << "};\n";
    if (!op.flags.empty())
      out << formatv("static constexpr llvm::StringRef {0}Flags[] = {{{1}};\n", op.name,
                     join(map_range(op.flags, quoted), ", "));
    out << formatv("static constexpr unsigned {0}Results[] = {{", op.name);
    interleaveComma(op.results, out);
    out << "};\n";
  }
  out << "static constexpr Operator operatorTable[] = {\n";
  for (const Operator &op : operators)
    out << formatv(
        "    {{{0}, {1}, {2},\n     {3},\n     {4}, {5}Parameters, {6}, {5}Results, {7}},\n",
        quoted(op.name), quoted(op.op), quoted(op.summary), quoted(op.description), op.operands,
        op.name, op.flags.empty() ? "{}" : op.name + "Flags", op.listed);
  out << "};\n";
}

/// "linear(x, weight, bias?)", "layernorm(x, weight?, bias?, eps = 1.0e-5)".
std::string signature(const Operator &op) {
  std::vector<std::string> parameters;
  for (const Parameter &p : op.parameters)
    parameters.push_back(p.name + (!p.value.empty() ? " = " + p.value : p.optional ? "?" : ""));
  return op.name + "(" + join(parameters, ", ") + ")";
}

void emitPage(const RecordKeeper &records, raw_ostream &out) {
  out << "<!-- Autogenerated by hybrid-tblgen; don't manually edit -->\n\n"
         "# Operators of the language\n\n"
         "The ops of the dialect that the language offers as `op.NAME`. A question mark means: may "
         "be left out. `hybridc --help-op NAME` says\nmore about one, [ops](ops.md) all.\n\n"
         "| operator | meaning |\n| --- | --- |\n";
  for (const Operator &op : readOperators(records))
    out << "| `" << signature(op) << "` | " << op.summary << " |\n";
}

const TableGen::Emitter::Opt page("gen-operator-doc", emitPage, "Page of the language's operators");
const TableGen::Emitter::Opt table("gen-operators", emitTable, "Table of the language's operators");

} // namespace
