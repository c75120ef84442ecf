//===- Inference.cpp - adding ops, whose shapes are theirs --------------------===//
#include "dialect/Shapes.h"
#include "frontends/dsl/Emitter.h"
#include "frontends/dsl/FreeSizes.h"
#include "frontends/dsl/PublishedTerms.h"

using namespace mlir;

namespace hybrid::dsl {

/// What an op says against itself, without its name: "'hybrid.linear' op ...", "linear: ...".
static std::string withoutName(llvm::StringRef fault, llvm::StringRef name) {
  size_t end = fault.find("' op ");
  if (fault.starts_with("'") && end != llvm::StringRef::npos)
    return fault.substr(end + 5).str();
  fault.consume_front((name.rsplit('.').second + ": ").str());
  return fault.str();
}

Emitter::Inferred Emitter::infer(llvm::StringRef name, Location location, ValueRange operands,
                                 const NamedAttrList &attributes) {
  Inferred inferred;
  ScopedDiagnosticHandler handler(builder.getContext(), [&](Diagnostic &diagnostic) {
    if (inferred.fault.empty())
      inferred.fault = withoutName(diagnostic.str(), name);
    return success();
  });
  OperationState state(location, name);
  state.addOperands(operands);
  state.attributes = attributes;
  if (state.name.hasTrait<OpTrait::OneRegion>())
    state.addRegion();
  // Without results yet: it holds the properties, defaults included, that inference asks for.
  Operation *bare = Operation::create(state);
  bool good = succeeded(cast<InferTypeOpInterface>(bare).inferReturnTypes(
      builder.getContext(), location, operands, bare->getRawDictionaryAttrs(),
      bare->getPropertiesStorage(), bare->getRegions(), inferred.types));
  bare->destroy();
  if (!good)
    return inferred;
  state.addTypes(inferred.types);
  inferred.op = Operation::create(state);
  if (failed(inferred.op->getName().verifyInvariants(inferred.op))) {
    inferred.op->destroy();
    inferred.op = nullptr;
  }
  return inferred;
}

Emitter::Inferred Emitter::inferAs(size_t set, llvm::StringRef name, ArrayRef<Value> operands,
                                   const NamedAttrList &attributes) {
  SmallVector<mlir::Value> values;
  for (const Value &operand : operands) {
    SmallVector<int64_t> sizes;
    for (const Dim &dim : operand.shape)
      sizes.push_back(standIn(dim, set));
    Type type = tensorOf(sizes, elementOf(operand.tensor));
    mlir::Value &value = standInOf[type];
    if (!value)
      value = standIns.addArgument(type, builder.getUnknownLoc());
    values.push_back(value);
  }
  NamedAttrList numbers;
  for (NamedAttribute attribute : attributes) {
    auto sizes = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!sizes) {
      numbers.push_back(attribute);
      continue;
    }
    SmallVector<Attribute> elements;
    for (Attribute element : sizes) {
      auto name = dyn_cast<StringAttr>(element);
      elements.push_back(name ? builder.getI64IntegerAttr(standIn(freeSize(name), set)) : element);
    }
    numbers.append(attribute.getName(), builder.getArrayAttr(elements));
  }
  Inferred inferred = infer(name, builder.getUnknownLoc(), values, numbers);
  if (inferred.op)
    inferred.op->destroy();
  inferred.op = nullptr;
  inferred.fault = withNames(inferred.fault, set);
  return inferred;
}

Emitter::Added Emitter::add(llvm::StringRef name, ArrayRef<Value> operands,
                            const NamedAttrList &attributes, Place place) {
  Location location = at(place);
  bool known = llvm::all_of(operands, [](const Value &operand) {
    return llvm::none_of(operand.shape, [](const Dim &dim) { return dim.isFree(); });
  });
  for (NamedAttribute attribute : attributes)
    if (auto sizes = dyn_cast<ArrayAttr>(attribute.getValue()))
      known &= llvm::none_of(sizes, llvm::IsaPred<StringAttr>);
  Inferred asSet[freeSizeSets];
  for (size_t set = 0; set < freeSizeSets && !known; ++set) {
    asSet[set] = inferAs(set, name, operands, attributes);
    if (!asSet[set].fault.empty())
      return {{}, asSet[set].fault};
  }
  SmallVector<mlir::Value> tensors;
  for (const Value &operand : operands)
    tensors.push_back(operand.tensor);
  Inferred inferred = infer(name, location, tensors, attributes);
  if (!inferred.op)
    return {{}, inferred.fault};
  Added added;
  auto sizesOf = [](Type type) { return cast<RankedTensorType>(type).getShape(); };
  for (auto [i, type] : llvm::enumerate(inferred.types)) {
    Shape shape;
    for (auto [d, size] : llvm::enumerate(sizesOf(type))) {
      std::optional<Dim> dim = Dim(size);
      if (!known)
        dim = sizeOf(sizesOf(asSet[0].types[i])[d], sizesOf(asSet[1].types[i])[d]);
      if (dim && dim->isFree() == ShapedType::isDynamic(size))
        shape.push_back(*dim);
      else
        added.fault = ("the size of dimension " + llvm::Twine(d) +
                       " of its result is only known when compiling")
                          .str();
    }
    if (added.fault.empty())
      added.fault = faultOf(shape);
    added.results.push_back(result(inferred.op->getResult(i), std::move(shape), place));
  }
  if (!added.fault.empty()) {
    inferred.op->destroy();
    return {{}, added.fault};
  }
  builder.insert(inferred.op);
  noteLayer(inferred.op, scope);
  return added;
}

} // namespace hybrid::dsl
