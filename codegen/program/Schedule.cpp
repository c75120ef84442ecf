//===- Schedule.cpp - a module of functions becomes programs ----------------===//
#include "codegen/program/Schedule.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/Shapes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hybrid {
namespace {

/// Offsets of all parameters, in the order of declaration.
void collectParameters(ModuleTables &tables, func::FuncOp forward) {
  for (auto parameter : forward.getOps<ParameterOp>()) {
    if (tables.parameters.count(parameter.getNameAttr()))
      continue;
    auto type = cast<RankedTensorType>(parameter.getType());
    tables.parameters.insert({parameter.getNameAttr(), {tables.parameterBytes, type, parameter}});
    tables.parameterBytes += static_cast<int64_t>(
        llvm::alignTo(type.getNumElements() * bytesOf(type.getElementType()), 64));
  }
}

void setModuleAttributes(ModuleTables &tables, ModuleOp module) {
  Builder b(module.getContext());
  SmallVector<Attribute> parameters;
  for (auto &[name, parameter] : tables.parameters) {
    ParameterOp op = parameter.op;
    parameters.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", name), b.getNamedAttr("type", TypeAttr::get(parameter.type)),
         b.getNamedAttr("offset", b.getI64IntegerAttr(parameter.offset)),
         b.getNamedAttr("trainable", b.getBoolAttr(op.getTrainable())),
         b.getNamedAttr("decay", b.getBoolAttr(op.getDecay())),
         b.getNamedAttr("lr_scale", op.getLrScaleAttr())}));
  }
  module->setAttr("hybrid.parameters", b.getArrayAttr(parameters));
  module->setAttr("hybrid.parameter_bytes", b.getI64IntegerAttr(tables.parameterBytes));
  auto bytes =
      RankedTensorType::get({static_cast<int64_t>(tables.constants.size())}, b.getI8Type());
  module->setAttr("hybrid.constants", DenseElementsAttr::getFromRawBuffer(bytes, tables.constants));
  if (tables.backend.device.kind == Device::Cuda) { // their texts are compiled with the programs
    SmallVector<NamedAttribute> files;
    for (const auto &[kernel, file] : tables.kernelFiles)
      files.push_back(b.getNamedAttr(kernel, b.getStringAttr(file)));
    module->setAttr("hybrid.kernel_files", b.getDictionaryAttr(files));
  }
  module->setAttr("hybrid.constants_bytes", b.getI64IntegerAttr(tables.constantsBytes));
}

void createSetup(ModuleTables &tables, OpBuilder &builder, Location loc) {
  auto setup =
      ProgramOp::create(builder, loc, builder.getStringAttr("setup"), builder.getI64IntegerAttr(0),
                        builder.getArrayAttr({}), builder.getArrayAttr({}));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&setup.getBody());
  for (const SetupTable &table : tables.tables) {
    Attribute buffer =
        BufferAttr::get(builder.getContext(), Space::Constants, table.offset, table.bytes);
    LaunchOp::create(builder, loc, table.kernel.name, table.grid, builder.getArrayAttr({buffer}),
                     table.kernel.constants, table.shape.scratchBytes, false, "table", 0,
                     ArrayRef<int64_t>(), table.shape.threads, "", 0);
  }
}

} // namespace

LogicalResult schedulePrograms(ModuleOp module, const Backend &backend, bool keepSpectra) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward)
    return module.emitError() << "has no function @forward to schedule";
  ModuleTables tables(module, backend);
  tables.keepSpectra = keepSpectra;
  collectParameters(tables, forward);
  std::vector<std::unique_ptr<ProgramBuilder>> programs;
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    programs.push_back(std::make_unique<ProgramBuilder>(tables, function));
    if (failed(programs.back()->lowerFunction()))
      return failure();
  }
  tables.placeTables();
  OpBuilder builder(forward);
  createSetup(tables, builder, module.getLoc());
  setModuleAttributes(tables, module);
  for (auto &program : programs) {
    builder.setInsertionPoint(program->function);
    program->finish(builder);
  }
  for (auto &program : programs)
    program->function.erase();
  return success();
}

} // namespace hybrid
