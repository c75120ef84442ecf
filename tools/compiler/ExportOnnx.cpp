//===- ExportOnnx.cpp - --emit=onnx -----------------------------------------===//
#include "tools/compiler/ExportOnnx.h"
#include "codegen/onnx/Export.h"
#include "dialect/CarriedState.h"
#include "dialect/Shapes.h"
#include "executable/OutputFile.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/files/Safetensors.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace hybrid {
namespace {

using Entry = rt::SafetensorsEntry;

template <typename From, typename To> std::string converted(StringRef from) {
  std::string to;
  for (size_t at = 0; at < from.size(); at += sizeof(From)) {
    From value;
    std::memcpy(&value, from.data() + at, sizeof(From));
    const auto number = static_cast<To>(value);
    to.append(reinterpret_cast<const char *>(&number), sizeof(To));
  }
  return to;
}

/// The numbers of a parameter, in its type.
FailureOr<std::string> numbersOf(ParameterOp op, const rt::SafetensorsFile &file,
                                 const std::string &path) {
  auto refuse = [&]() -> InFlightDiagnostic {
    return op.emitError() << path << " does not fit the model: parameter '" << op.getName() << "' ";
  };
  const Entry *tensor = file.find(op.getName().str());
  if (!tensor)
    return refuse() << "is missing";
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  if (ArrayRef<int64_t>(tensor->shape) != shape)
    return refuse() << "is " << shapeText(tensor->shape) << ", but the model has "
                    << shapeText(shape);
  const bool wideFrom = tensor->type == Entry::Type::F64,
             wideTo = elementOf(op.getResult()).isF64();
  if (tensor->type != Entry::Type::F32 && !wideFrom)
    return refuse() << "holds " << StringRef(rt::nameOf(tensor->type))
                    << " numbers, expected F32 or F64";
  StringRef bytes(reinterpret_cast<const char *>(tensor->data.data()), tensor->data.size());
  return wideFrom == wideTo ? bytes.str()
         : wideFrom         ? converted<double, float>(bytes)
                            : converted<float, double>(bytes);
}

} // namespace

FailureOr<std::string> exportOnnx(ModuleOp module, const CompileOptions &options,
                                  const OnnxRequest &request) {
  module->setAttr(wholeStatesAttribute, UnitAttr::get(module.getContext()));
  PassManager manager(module.getContext());
  manager.addPass(createSpecialize({options.batch, options.length, options.precision}));
  if (options.chunked)
    manager.addPass(createCarryState());
  if (options.decode)
    manager.addPass(createCarryState({/*decode=*/true, options.prefill}));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  if (failed(manager.run(module)))
    return failure();
  const char *name = options.decode ? "step" : options.chunked ? "chunk" : "forward";
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return module.emitError()
           << "has no program '" << name
           << "' to write as ONNX: give the .hyb, or its IR before it is scheduled";
  onnx::ExportOptions how;
  how.operatorSet = request.operatorSet;
  how.producerVersion = request.compilerVersion;
  how.metadata = {{"program", name}};
  if (request.checkpoint.empty())
    return onnx::exportModel(function, how, request.asText);
  rt::Result<rt::SafetensorsFile> file = rt::SafetensorsFile::open(request.checkpoint);
  if (!file)
    return emitError(UnknownLoc::get(module.getContext())) << file.error().message;
  how.parameter = [&](ParameterOp op) { return numbersOf(op, *file, request.checkpoint); };
  if (request.weights.empty())
    return onnx::exportModel(function, how, request.asText);
  OutputFile weights(request.weights);
  how.weights = {llvm::sys::path::filename(request.weights).str(),
                 [&](StringRef bytes) { weights.write(std::string_view(bytes)); }};
  FailureOr<std::string> model = onnx::exportModel(function, how, request.asText);
  if (failed(model))
    return failure();
  if (const std::string &error = weights.commit(); !error.empty())
    return emitError(UnknownLoc::get(module.getContext())) << error;
  return model;
}

} // namespace hybrid
