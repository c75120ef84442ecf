//===- Describe.cpp - what hybridc says of itself and of the language -------===//
#include "tools/compiler/Describe.h"
#include "codegen/cuda/CodegenCuda.h"
#include "executable/CudaVersion.h"
#include "frontends/dsl/Frontend.h"
#include "frontends/dsl/LayerHelp.h"
#include "frontends/dsl/Library.h"
#include "tools/compiler/Messages.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace hybrid {

std::vector<std::string> libraryFolders(const std::vector<std::string> &given) {
  return dsl::libraryFolders(given, reinterpret_cast<void *>(&libraryFolders), HYBRID_MODELS_DIR);
}

const std::vector<std::string> &emitStages() {
  static const std::vector<std::string> stages{"hybrid",
                                               "specialized",
                                               "grad",
                                               "fused",
                                               "lower-ops",
                                               "shard-optimizer",
                                               "gather-parameters",
                                               "fuse-stores",
                                               "sum-products",
                                               "join-gradients",
                                               "fuse-reductions",
                                               "fuse-rows",
                                               "round-buffers",
                                               "weigh-ranks",
                                               "emit-kernels",
                                               "merge-launches",
                                               "chain-launches",
                                               "plan-tiles",
                                               "reduce-gradients",
                                               "assign-branches",
                                               "schedule",
                                               "llvm",
                                               "asm",
                                               "cuda",
                                               "ptx",
                                               "resources",
                                               "exe",
                                               "onnx",
                                               "onnx-text"};
  return stages;
}

std::string compilerVersion() {
  return "hybridc " HYBRID_VERSION " (LLVM " LLVM_VERSION_STRING ")";
}

/// Prints what `describe` writes: an answer, or what is wrong with the question.
static int printHelp(llvm::function_ref<bool(llvm::raw_ostream &)> describe) {
  std::string text;
  llvm::raw_string_ostream out(text);
  const bool known = describe(out);
  (known ? llvm::outs() : llvm::errs()) << text;
  return flushed(known ? 0 : 2);
}

int describeOperator(const std::string &name) {
  return printHelp([&](llvm::raw_ostream &out) { return dsl::describeOperator(name, out); });
}

int describeLayer(const std::string &name, const std::vector<std::string> &importPaths) {
  const std::vector<std::string> folders = libraryFolders(importPaths);
  return printHelp([&](llvm::raw_ostream &out) {
    if (name != "all")
      return dsl::describeLayer(name, folders, out);
    return llvm::any_of(folders, [&](const std::string &folder) {
      return !dsl::libraryFiles(folder).empty() && dsl::describeLibrary(folder, out);
    });
  });
}

int describeToolkit() {
  const cuda::NvrtcInfo nvrtc = cuda::findNvrtc();
  const bool isThere = nvrtc.complaint.empty();
  llvm::json::Object about;
  if (isThere) {
    about["nvrtc"] = cudaVersionText(nvrtc.version);
    about["version"] = nvrtc.version;
    about["file"] = nvrtc.file;
    about["architectures"] = llvm::json::Array(nvrtc.architectures);
    about["least_driver"] = leastDriver(nvrtc.version, /*isPtx=*/false);
  } else {
    about["missing"] = nvrtc.complaint;
  }
  llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(about)));
  return flushed(isThere ? 0 : 1);
}

} // namespace hybrid
