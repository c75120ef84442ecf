//===- Export.cpp - a program of the graph dialect as an ONNX model ---------------===//
#include "codegen/onnx/Export.h"
#include "codegen/onnx/Conversion.h"
#include "dialect/Shapes.h"
#include "formats/onnx/Onnx.pb.h"
#include "passes/StateNames.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <google/protobuf/text_format.h>

using namespace mlir;

namespace hybrid::onnx {
namespace {

/// Of the format: as opset 20 came with it; for newer ones, what ONNX Runtime takes at most.
constexpr int64_t fileVersion = 9, newestFileVersion = 13;
/// Protobuf reads and writes no larger message.
constexpr uint64_t mostFileBytes = INT32_MAX;
/// Of tensors in a file beside the model: a page, so that runtimes can map them.
constexpr uint64_t besideAlignment = 4096;
/// Characters of data in the text.
constexpr int mostTextBytes = 48;

class Export {
public:
  Export(func::FuncOp function, const ExportOptions &options)
      : function(function), options(options),
        to(nameOf(function), numberOf(function), options.operatorSet) {}

  FailureOr<std::unique_ptr<GraphProto>> run() {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      BlockArgument argument = function.getArgument(i);
      define(argument, nameOf(function.getArgAttrOfType<StringAttr>(i, "hybrid.name"), "input", i));
    }
    // States stand before weights, as far as those are inputs.
    auto eachParameter = [&](bool states) {
      bool whole = true;
      for (auto op : function.getOps<ParameterOp>())
        if (isState(op) == states)
          whole &= succeeded(parameter(op));
      return whole;
    };
    bool whole = eachParameter(true);
    whole &= eachParameter(false);
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (isa<ParameterOp>(op))
        continue;
      if (auto assign = dyn_cast<AssignOp>(op); assign && isState(assign)) {
        nextStates.emplace_back(stateName(assign.getName()), to.of(assign.getValue()));
        continue;
      }
      whole &= succeeded(to.convert(&op)) && succeeded(hasShapes(&op));
    }
    if (!whole)
      return failure();
    Operation *end = function.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      output(nameOf(function.getResultAttrOfType<StringAttr>(i, "hybrid.name"), "output", i),
             to.of(value));
    for (const auto &[name, value] : nextStates)
      output(name, value);
    return to.graph.take();
  }

private:
  static std::string nameOf(func::FuncOp function) {
    auto name = function->getParentOp()->getAttrOfType<StringAttr>("hybrid.model");
    return name ? name.getValue().str() : function.getSymName().str();
  }
  static std::string nameOf(StringAttr name, const char *otherwise, size_t number) {
    return name ? name.getValue().str() : otherwise + std::to_string(number);
  }
  /// "state.3" of "state:3", as states are called that are inputs of a program.
  static std::string stateName(StringRef name) {
    std::string text = name.str();
    std::replace(text.begin(), text.end(), ':', '.');
    return text;
  }

  static Element numberOf(func::FuncOp function) {
    Element number = Element::F32;
    function.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tensor = dyn_cast<RankedTensorType>(type);
            tensor && tensor.getElementType().isF64())
          number = Element::F64;
    });
    return number;
  }

  void define(Value value, const std::string &name) {
    taken.insert(name);
    to.define(value, to.graph.input(name, shapeOf(value), elementFor(elementOf(value))));
  }

  LogicalResult parameter(ParameterOp op) {
    const std::string name = isState(op) ? stateName(op.getName()) : op.getName().str();
    auto known = parameters.find(name);
    if (known != parameters.end()) {
      to.define(op.getResult(), known->second);
      return success();
    }
    if (isState(op) || !options.parameter) {
      define(op.getResult(), name);
    } else {
      const Element element = elementFor(elementOf(op.getResult()));
      const bool isBeside = options.weights && op.getTrainable();
      if (!isBeside)
        weightBytes += static_cast<uint64_t>(elementCount(op.getResult()) * bytesOf(element));
      if (weightBytes > mostFileBytes)
        return op.emitError() << "with this parameter the weights have more than 2 GiB, which no "
                                 "ONNX file holds: "
                              << (options.weights
                                      ? "this one is not trained, and stays in the model"
                                      : "--external-data puts them beside it");
      FailureOr<std::string> data = options.parameter(op);
      to.define(op.getResult(), weight(op, name, element, isBeside,
                                       succeeded(data) ? std::move(*data) : std::string()));
      if (failed(data))
        return failure();
    }
    parameters[name] = to.of(op.getResult());
    return success();
  }

  Tensor weight(ParameterOp op, const std::string &name, Element element, bool isBeside,
                std::string bytes) {
    ArrayRef<int64_t> shape = shapeOf(op.getResult());
    if (!isBeside)
      return op.getTrainable() ? to.graph.stored(name, shape, element, std::move(bytes))
                               : to.graph.held(name, shape, element, std::move(bytes));
    const uint64_t offset = llvm::alignTo(besideBytes, besideAlignment);
    options.weights->append(std::string(offset - besideBytes, '\0'));
    options.weights->append(bytes);
    besideBytes = offset + bytes.size();
    return to.graph.storedBeside(name, shape, element, options.weights->name, offset);
  }

  /// A conversion that gives another shape than the op has is a fault of ours.
  LogicalResult hasShapes(Operation *op) {
    for (Value result : op->getResults())
      if (!result.use_empty() && ArrayRef<int64_t>(to.of(result).shape) != shapeOf(result))
        return op->emitError() << "internal error: the form in ONNX is "
                               << shapeText(to.of(result).shape) << ", expected "
                               << shapeText(shapeOf(result)) << ", please report";
    return success();
  }

  /// No name stands twice in a graph: the next value of a state is called so.
  void output(const std::string &name, const Tensor &value) {
    to.graph.output(taken.contains(name) ? "next." + name : name, value);
  }

  func::FuncOp function;
  const ExportOptions &options;
  Conversion to;
  llvm::StringMap<Tensor> parameters; // by name: some are read in several places
  llvm::StringSet<> taken;            // names of inputs
  SmallVector<std::pair<std::string, Tensor>> nextStates;
  uint64_t weightBytes = 0, besideBytes = 0; // in the model and in the file beside it
};

} // namespace

FailureOr<std::string> exportModel(func::FuncOp function, const ExportOptions &options,
                                   bool asText) {
  FailureOr<std::unique_ptr<GraphProto>> graph = Export(function, options).run();
  if (failed(graph))
    return failure();
  ModelProto model;
  model.set_ir_version(options.operatorSet > standardOperators ? newestFileVersion : fileVersion);
  model.set_producer_name("hybridc");
  model.set_producer_version(options.producerVersion);
  OperatorSetIdProto *operators = model.add_opset_import();
  operators->set_domain("");
  operators->set_version(options.operatorSet);
  for (const auto &[key, value] : options.metadata) {
    StringStringEntryProto *entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  model.set_allocated_graph(graph->release());
  std::string text;
  if (asText) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetTruncateStringFieldLongerThan(mostTextBytes);
    printer.SetUseShortRepeatedPrimitives(true);
    printer.PrintToString(model, &text);
    return text;
  }
  if (model.ByteSizeLong() > mostFileBytes) {
    function.emitError() << "the model has more than 2 GiB, which no ONNX file holds: compile with "
                            "a smaller --length";
    return failure();
  }
  if (!model.SerializeToString(&text)) {
    function.emitError() << "the model cannot be written as ONNX";
    return failure();
  }
  return text;
}

} // namespace hybrid::onnx
