//===- Conversion.cpp - what ops of the graph dialect become in ONNX -----------===//
#include "codegen/onnx/Conversion.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::onnx {

Conversion::Conversion(StringRef name, Element number, int64_t operatorSet)
    : graph(name, number), operatorSet(operatorSet) {
  addElementwise(*this);
  addShapes(*this);
  addRows(*this);
  addExperts(*this);
  addConvolutions(*this);
  addAttention(*this);
  addScans(*this);
  addSoftmaxScan(*this);
}

Element elementFor(Type type) {
  return type.isF64() ? Element::F64 : type.isInteger() ? Element::I32 : Element::F32;
}

LogicalResult Conversion::convert(Operation *op) {
  auto found = table.find(op->getName().getStringRef());
  LogicalResult converted = failure();
  if (found != table.end())
    converted = found->second(op, *this);
  else
    op->emitError() << "'" << op->getName().getStringRef()
                    << "' has no form in ONNX: the model cannot be exported";
  if (failed(converted))
    for (Value result : op->getResults())
      define(result, {"", SmallVector<int64_t>(shapeOf(result)), elementFor(elementOf(result))});
  return converted;
}

FailureOr<SmallVector<Tensor>> Conversion::inlined(Block &body, ArrayRef<Tensor> arguments) {
  for (auto [argument, value] : llvm::zip(body.getArguments(), arguments))
    define(argument, value);
  bool whole = true;
  for (Operation &op : body.without_terminator())
    whole &= succeeded(convert(&op));
  if (!whole)
    return failure();
  SmallVector<Tensor> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(of(value));
  return yielded;
}

Tensor Conversion::segmentStarts(Value segments) {
  const Tensor &ids = of(segments);
  const int64_t length = ids.shape[1];
  Tensor first = graph.slice(ids, 1, 0, 1);
  Tensor before =
      length == 1 ? first : graph.concat({first, graph.slice(ids, 1, 0, length - 1)}, 1);
  return graph.elementwise("Not", graph.compare("Equal", ids, before));
}

} // namespace hybrid::onnx
