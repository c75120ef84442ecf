//===- ImportOnnx.cpp - hybridc model.onnx ----------------------------------===//
#include "tools/compiler/ImportOnnx.h"
#include "executable/Printable.h"
#include "runtime/files/Safetensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;

namespace hybrid {

OwningOpRef<ModuleOp> importOnnx(MLIRContext &context, StringRef bytes,
                                 const llvm::StringMap<std::string> &settings,
                                 DriverOptions &options,
                                 std::vector<onnx::frontend::Weight> &weights) {
  onnx::frontend::ImportOptions how{options.input, options.batch, options.length, {}};
  for (const auto &setting : settings) {
    double value;
    if (StringRef(setting.second).getAsDouble(value) || !std::isfinite(value)) {
      llvm::errs() << "error: --set " << printable(setting.first().str()) << "="
                   << printable(setting.second)
                   << ": an input of an ONNX model is filled with a number\n";
      return {};
    }
    how.settings[setting.first()] = value;
  }
  if (!options.optimizers.empty()) {
    llvm::errs() << "error: --optimizer: optimizers are layers of the language, which a model of "
                    "another program does not have\n";
    return {};
  }
  onnx::frontend::ImportedModel model = onnx::frontend::importModel(bytes, context, how);
  options.batch = model.batch, options.length = model.length;
  weights = std::move(model.weights);
  return std::move(model.module);
}

/// Whether there is a file with other tensors, as of the library that the model came from: not what
/// was written here before.
static bool holdsOthers(const std::string &path,
                        const std::vector<onnx::frontend::Weight> &weights) {
  if (!llvm::sys::fs::exists(path))
    return false;
  auto there = rt::SafetensorsFile::open(path);
  return !there || there->tensors().size() != weights.size() ||
         !llvm::all_of(weights, [&](const onnx::frontend::Weight &weight) {
           const rt::SafetensorsEntry *entry = there->find(weight.name);
           return entry && llvm::equal(entry->shape, weight.shape);
         });
}

bool writeWeights(const std::vector<onnx::frontend::Weight> &weights,
                  const std::string &executable) {
  llvm::SmallString<256> path(executable);
  llvm::sys::path::replace_extension(path, "safetensors");
  if (holdsOthers(path.str().str(), weights)) {
    llvm::errs() << "error: '" << printable(path.str().str())
                 << "' holds other tensors than the weights of this model, which would take its "
                    "place: expected another name, by -o\n";
    return false;
  }
  std::vector<rt::SafetensorsTensor> tensors;
  for (const onnx::frontend::Weight &weight : weights)
    tensors.push_back({weight.name,
                       weight.isWide ? rt::DType::F64 : rt::DType::F32,
                       {weight.shape.begin(), weight.shape.end()},
                       std::as_bytes(std::span(weight.bytes))});
  rt::Result<void> written = rt::writeSafetensors(path.str().str(), tensors, {});
  if (!written)
    llvm::errs() << "error: " << written.error().message << '\n';
  return static_cast<bool>(written);
}

} // namespace hybrid
