//===- ModuleTables.cpp - what the programs of a module share ----------------===//
#include "codegen/program/ModuleTables.h"
#include "dialect/CarriedState.h"
#include "dialect/schedule/Memory.h"
#include "passes/ParameterSlots.h"
#include "passes/StateNames.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hybrid {

static int64_t aligned(int64_t bytes) { return static_cast<int64_t>(llvm::alignTo(bytes, 64)); }

void ModuleTables::collectParameters(func::FuncOp forward) {
  llvm::SetVector<StringAttr> order; // in memory: stretches first, what is not trained last
  if (auto update = forward->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>("update"))
    for (auto op : update.getOps<ParameterOp>())
      if (ArrayAttr names = stretchOf(op))
        for (auto name : names.getAsRange<StringAttr>())
          order.insert(name);
  for (auto op : forward.getOps<ParameterOp>()) {
    auto type = cast<RankedTensorType>(op.getType());
    Parameter parameter{0, type, op.getTrainable(), op.getDecay(), op.getLrScaleAttr()};
    parameters.insert({op.getNameAttr(), parameter});
  }
  for (const bool trainable : {true, false})
    for (auto &[name, parameter] : parameters)
      if (parameter.trainable == trainable)
        order.insert(name);
  for (StringAttr name : order)
    if (auto found = parameters.find(name); found != parameters.end()) {
      RankedTensorType type = found->second.type;
      found->second.offset = parameterBytes;
      parameterBytes += parameterStride(type.getNumElements() * bytesOf(type.getElementType()));
    }
}

void ModuleTables::collectStates(func::FuncOp function) {
  auto add = [&](Operation *op, StringAttr name, Type type) {
    auto tensor = cast<RankedTensorType>(type);
    Parameter state{parameterBytes,
                    tensor,
                    false,
                    false,
                    FloatAttr::get(Float64Type::get(op->getContext()), 1),
                    true};
    if (isState(op) && parameters.insert({name, state}).second)
      parameterBytes += aligned(tensor.getNumElements() * bytesOf(tensor.getElementType()));
  };
  for (auto op : function.getOps<ParameterOp>())
    add(op, op.getNameAttr(), op.getType());
  for (auto op : function.getOps<AssignOp>())
    add(op, op.getNameAttr(), op.getValue().getType());
}

LogicalResult ModuleTables::checkParameter(Operation *op, StringAttr name, Type type) const {
  auto found = parameters.find(name);
  if (found == parameters.end())
    return op->emitError() << "names the parameter " << name << ", which @forward does not have";
  if (type && type != found->second.type)
    return op->emitError() << "takes the parameter " << name << " for " << type
                           << ", in @forward it is " << found->second.type;
  return success();
}

/// Of several parameters: that they lie one behind the other and are `type` together.
static LogicalResult checkStretch(const ModuleTables &tables, Operation *op, ArrayAttr names,
                                  RankedTensorType type) {
  const int64_t bytes = bytesOf(type.getElementType());
  int64_t start = 0, end = 0, next = 0;
  for (auto [i, name] : llvm::enumerate(names.getAsRange<StringAttr>())) {
    if (failed(tables.checkParameter(op, name)))
      return failure();
    const ModuleTables::Parameter &parameter = tables.parameters.find(name)->second;
    if (i == 0)
      start = parameter.offset;
    else if (parameter.offset != next)
      return op->emitError() << "takes the parameter " << name
                             << " as one stretch with others, beside which it does not lie";
    end = parameter.offset + parameter.type.getNumElements() * bytes;
    next = parameter.offset + parameterStride(end - parameter.offset);
  }
  if (type.getRank() != 1 || (end - start) / bytes != type.getNumElements())
    return op->emitError() << "takes a stretch of parameters for " << type << ", it has "
                           << (end - start) / bytes << " elements";
  return success();
}

LogicalResult ModuleTables::checkParameters(func::FuncOp function) const {
  auto each = [&](Operation *op) -> WalkResult {
    if (ArrayAttr names = stretchOf(op)) {
      auto assign = dyn_cast<AssignOp>(op);
      Type type = assign ? assign.getValue().getType() : cast<ParameterOp>(op).getType();
      return checkStretch(*this, op, names, cast<RankedTensorType>(type));
    }
    if (auto parameter = dyn_cast<ParameterOp>(op))
      return checkParameter(op, parameter.getNameAttr(), parameter.getType());
    if (auto assign = dyn_cast<AssignOp>(op))
      return checkParameter(op, assign.getNameAttr(),
                            op->hasAttr(ringAttribute) ? Type() // rows of it
                                                       : Type(assign.getValue().getType()));
    return success();
  };
  if (function.walk(each).wasInterrupted())
    return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, "hybrid.name");
    if (!name || !name.getValue().starts_with("grad."))
      continue;
    auto parameter = StringAttr::get(name.getContext(), name.getValue().drop_front(5));
    if (parameters.count(parameter) && // else it is the gradient of an input
        failed(checkParameter(function, parameter, function.getResultTypes()[i])))
      return failure();
  }
  return success();
}

int64_t ModuleTables::addConstant(ArrayRef<char> bytes) {
  int64_t offset = aligned(static_cast<int64_t>(constants.size()));
  constants.resize(offset);
  constants.insert(constants.end(), bytes.begin(), bytes.end());
  return offset;
}

SetupTable &ModuleTables::addTable(KernelName kernel, LaunchConfiguration configuration,
                                   int64_t grid, View view) {
  std::string key = kernel.name;
  for (int64_t word : kernel.constants)
    key += "," + std::to_string(word);
  auto [entry, inserted] = tableIndex.try_emplace(key, tables.size());
  if (inserted)
    tables.push_back({std::move(kernel), configuration, grid, std::move(view)});
  return tables[entry->second];
}

void ModuleTables::placeTables() {
  constantsBytes = aligned(static_cast<int64_t>(constants.size()));
  for (SetupTable &table : tables) {
    for (BufferOp buffer : table.buffers)
      buffer.setAt(constantsBytes);
    constantsBytes += aligned(table.view.elements() * bytesOf(table.view.element));
  }
}

void ModuleTables::createSetup(OpBuilder &builder, Location loc) {
  auto setup = ProgramOp::create(builder, loc, "setup");
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&setup.getBody());
  for (SetupTable &table : tables) {
    auto buffer = BufferOp::create(builder, loc, typeOf(table.view), Space::Constants, StringAttr(),
                                   table.buffers.front().getAtAttr(), IdsAttr());
    LaunchOp::create(builder, loc, table.kernel.name, table.grid, buffer.getResult(), "table",
                     table.kernel.constants, table.configuration, /*writes=*/{0});
  }
}

void ModuleTables::describe(ModuleOp module) const {
  Builder b(module.getContext());
  SmallVector<Attribute> entries;
  for (auto &[name, parameter] : parameters)
    entries.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", name), b.getNamedAttr("type", TypeAttr::get(parameter.type)),
         b.getNamedAttr("offset", b.getI64IntegerAttr(parameter.offset)),
         b.getNamedAttr("trainable", b.getBoolAttr(parameter.trainable)),
         b.getNamedAttr("decay", b.getBoolAttr(parameter.decay)),
         b.getNamedAttr("lr_scale", parameter.lrScale),
         b.getNamedAttr("state", b.getBoolAttr(parameter.isState))}));
  module->setAttr("schedule.parameters", b.getArrayAttr(entries));
  module->setAttr("schedule.parameter_bytes", b.getI64IntegerAttr(parameterBytes));
  auto bytes = RankedTensorType::get({static_cast<int64_t>(constants.size())}, b.getI8Type());
  module->setAttr("schedule.constants", DenseElementsAttr::getFromRawBuffer(bytes, constants));
  module->setAttr("schedule.constants_bytes", b.getI64IntegerAttr(constantsBytes));
  if (backend.device.kind == Device::Cuda) { // their texts are compiled with the programs
    SmallVector<NamedAttribute> files;
    for (const auto &[kernel, file] : kernelFiles)
      files.push_back(b.getNamedAttr(kernel, b.getStringAttr(file)));
    module->setAttr("schedule.kernel_files", b.getDictionaryAttr(files));
  }
}

} // namespace hybrid
