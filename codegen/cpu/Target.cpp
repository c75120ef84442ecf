//===- Target.cpp - which machine code is made for --------------------------===//
//
// Code is generated for one of the x86-64 levels and only tuned for a CPU: the features an
// executable needs are then known exactly and the loader can refuse a machine that lacks one by
// name.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/CodegenCpu.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace hybrid::cpu {

static CpuTarget level(int number) {
  CpuTarget target;
  target.architecture = "x86-64-v" + std::to_string(number);
  target.tune = target.architecture;
  if (number >= 3)
    target.features = {"avx2", "bmi2", "f16c", "fma"};
  if (number >= 4) {
    for (const char *feature : {"avx512f", "avx512bw", "avx512dq", "avx512vl"})
      target.features.push_back(feature);
    target.wideVectors = true;
  }
  return target;
}

std::optional<CpuTarget> resolveTarget(StringRef name, std::string &complaint) {
  if (name == "x86-64-v2" || name == "x86-64-v3" || name == "x86-64-v4")
    return level(name.back() - '0');
  if (name == "x86-64-v4+bf16") {
    CpuTarget target = level(4);
    target.hasBf16 = true;
    return target;
  }
  if (!name.empty() && name != "native") {
    complaint = "unknown CPU '" + name.str() +
                "': expected native, x86-64-v2, x86-64-v3, x86-64-v4 or x86-64-v4+bf16";
    return std::nullopt;
  }
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  auto has = [&](ArrayRef<StringRef> features) {
    return llvm::all_of(features, [&](StringRef feature) { return host.lookup(feature); });
  };
  CpuTarget target = level(2);
  if (has({"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"}))
    target = level(3);
  if (target.architecture == "x86-64-v3" &&
      has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    target = level(4);
  // Every CPU with AMX for bf16 has this as well; the matrix library picks the faster when it runs.
  target.hasBf16 = target.wideVectors && has({"avx512bf16"});
  target.tune = llvm::sys::getHostCPUName().str();
  return target;
}

} // namespace hybrid::cpu
