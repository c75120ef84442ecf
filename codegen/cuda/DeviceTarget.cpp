//===- DeviceTarget.cpp - GPUs of NVIDIA as a target ------------------------===//
#include "codegen/DeviceTarget.h"
#include "codegen/cuda/CodegenCuda.h"
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/ResidentBlocks.h"
#include "codegen/kernels/FFTConvParts.h"
#include "codegen/kernels/ProductChain.h"
#include "dialect/schedule/ScheduleOps.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace hybrid::cuda {
namespace {

/// What `--target=cuda` means: the A100, the H100 and H200, and PTX for whatever comes later; and
/// the B200 where NVRTC knows it.
constexpr StringRef defaultArchitectures = "sm_80,sm_90a,compute_90";
constexpr StringRef latestArchitecture = "sm_100a", latestPlain = "sm_100";

/// Shared memory a block may have (CUDA programming guide, technical specifications).
int64_t sharedBytesOf(StringRef architecture) {
  if (architecture == "shim")
    return 227 * 1024;
  int number = 0;
  StringRef digits = architecture.split('_').second;
  digits.take_while(llvm::isDigit).getAsInteger(10, number);
  if (number == 80 || number == 87)
    return 163 * 1024;
  return number >= 90 && number < 120 ? 227 * 1024 : 99 * 1024;
}

/// Channels of a head up to which cuDNN computes attention and its gradient (its support matrix);
/// PTX also runs on later GPUs, of which not all have as much.
int64_t widestHeadOf(StringRef architecture) {
  int number = 0;
  StringRef digits = architecture;
  bool binary = digits.consume_front("sm_");
  digits.take_while(llvm::isDigit).getAsInteger(10, number);
  return architecture == "shim" || (binary && number / 10 == 9) ? 256 : 128;
}

bool isArchitecture(StringRef name) {
  if (name == "shim")
    return true;
  StringRef digits = name;
  bool binary = digits.consume_front("sm_");
  if (!binary && !digits.consume_front("compute_"))
    return false;
  StringRef number = digits.take_while(llvm::isDigit), rest = digits.drop_front(number.size());
  int value = 0;
  return !number.getAsInteger(10, value) && value >= 80 && value < 1000 &&
         (rest.empty() || rest == "a" || rest == "f");
}

class CudaDeviceTarget final : public DeviceTarget {
public:
  CudaDeviceTarget(std::vector<std::string> architectures, bool isDefault)
      : architectures(std::move(architectures)), isDefault(isDefault) {}

  std::string name() const override { return llvm::join(architectures, ", "); }
  bool hasBf16() const override { return true; }
  std::string describeBf16(bool) const override {
    return "matrix products multiply bf16 and sum f32, activations between kernels are bf16; all "
           "else is f32";
  }
  void addTiling(OpPassManager &manager) const override {
    // Nothing stays in a cache that a GPU would notice, but logits over a large vocabulary are the
    // largest tensor of a model, and go through memory several times.
    TileRowsOptions options;
    options.maxTile = options.maxSequentialTile = 8192;
    options.parallelBytes = options.sequentialBytes = int64_t(256) << 20;
    options.leastBytes = int64_t(1) << 30;
    manager.addNestedPass<func::FuncOp>(createTileRows(options));
  }
  std::vector<ScheduleStage> scheduleStages(bool keepSpectra, bool rounded) const override {
    int64_t widestHead = INT64_MAX;
    for (const std::string &architecture : architectures)
      widestHead = std::min(widestHead, widestHeadOf(architecture));
    return cuda::scheduleStages(
        {keepSpectra, sharedBytes(), rounded, attention, widestHead, transforms, products}, ranks);
  }
  bool chooseAttention(StringRef by) override {
    attention = by;
    return true;
  }
  bool chooseTransforms(StringRef by) override {
    transforms = by;
    return true;
  }
  bool chooseProducts(StringRef by) override {
    products = by;
    return true;
  }
  bool sharesRepeats() const override { return true; }
  bool chainsProducts() const override { return paysProductChains(sharedBytes()); }
  bool joinsProducts() const override { return true; }
  int64_t longestConvolution(bool wide) const override {
    return cuda::longestConvolution(*transformsByName(transforms),
                                    longestInParts(wide ? 8 : 4, sharedBytes()));
  }
  std::string chooseRanks(const RankOptions &chosen) override {
    if (chosen.shards != RankOptions::Shards::None)
      return "only ranks on CPUs have shares, expected --target=cpu";
    if (chosen.wire == "bf16")
      return "GPUs send gradients as they are, expected f32";
    ranks = chosen;
    return "";
  }
  ArrayRef<StringRef> stages() const override {
    static const StringRef names[] = {"cuda", "ptx", "resources", "exe"};
    return names;
  }

  FailureOr<Code> compile(ModuleOp module, StringRef stage) override {
    Code code;
    FailureOr<std::string> source = emitSource(module, code);
    if (failed(source))
      return failure();
    if (stage == "cuda") {
      code.text = std::move(*source);
      return code;
    }
    if (stage == "ptx")
      return compilePtx(module, *source, std::move(code));
    llvm::json::Object resources;
    // Its multiprocessors have what those of sm_90 have: nothing before depends on it.
    if (isDefault && llvm::is_contained(findNvrtc().architectures, latestPlain))
      architectures.push_back(latestArchitecture.str());
    for (const std::string &architecture : architectures) {
      if (architecture == "shim") {
        FailureOr<std::vector<char>> image = compileForShim(module.getLoc(), *source);
        if (failed(image))
          return failure();
        code.images.push_back({architecture, std::move(*image)});
        continue;
      }
      FailureOr<NvrtcResult> made = compileWithNvrtc(module.getLoc(), *source, architecture);
      if (failed(made))
        return failure();
      resources[architecture] = resourcesOf(module, code, *made);
      code.images.push_back({architecture, std::move(made->image), made->toolkit});
    }
    if (stage == "resources")
      code.text = llvm::formatv("{0:2}\n", llvm::json::Value(std::move(resources)));
    return code;
  }
  ExecutableTarget describe() const override { return {"cuda", "", {}}; }
  int64_t sharedBytes() const override {
    int64_t shared = INT64_MAX;
    for (const std::string &architecture : architectures)
      shared = std::min(shared, sharedBytesOf(architecture));
    return shared;
  }

private:
  FailureOr<Code> compilePtx(ModuleOp module, StringRef source, Code code) {
    StringRef architecture = architectures.front();
    if (architecture == "shim")
      return module.emitError() << "--emit=ptx: the tests' driver has no PTX";
    std::string ptx = ("compute_" + architecture.split('_').second).str();
    FailureOr<NvrtcResult> made = compileWithNvrtc(module.getLoc(), source, ptx);
    if (failed(made))
      return failure();
    code.text.assign(made->image.begin(), made->image.end());
    while (!code.text.empty() && code.text.back() == '\0')
      code.text.pop_back();
    return code;
  }

  /// Of each kernel: registers, spills, shared memory of its launches, generic accesses.
  static llvm::json::Array resourcesOf(ModuleOp module, const Code &code, const NvrtcResult &made) {
    llvm::StringMap<LaunchOp> launches;
    module.walk([&](LaunchOp launch) {
      launches.try_emplace(code.symbols.lookup(launchKey(launch)), launch);
    });
    llvm::json::Array table;
    auto add = [&](const KernelResources &kernel, StringRef name, int64_t threads, int64_t blocks,
                   int64_t dynamicBytes) {
      table.push_back(
          llvm::json::Object{{"kernel", name},
                             {"threads", threads},
                             {"blocks", blocks},
                             {"registers", kernel.registers},
                             {"spill_bytes", kernel.spillBytes},
                             {"stack_bytes", kernel.stackBytes},
                             {"generic_accesses", kernel.genericAccesses},
                             {"shared_bytes", kernel.staticSharedBytes + dynamicBytes}});
    };
    for (const KernelResources &kernel : parseResources(made)) {
      if (LaunchOp launch = launches.lookup(kernel.kernel))
        add(kernel, launch.getKernel(), static_cast<int64_t>(launch.getThreads()),
            residentBlocks(launch), static_cast<int64_t>(launch.getScratchBytes()));
      else if (code.examples && code.examples->symbol == kernel.kernel)
        add(kernel, code.examples->kernel, code.examples->threads, 1, 0);
    }
    return table;
  }

  std::vector<std::string> architectures;
  const bool isDefault;
  std::string attention = "auto", transforms = "auto", products = "auto";
  RankOptions ranks;
};

} // namespace

std::unique_ptr<DeviceTarget> createTarget(StringRef names, std::string &complaint) {
  std::vector<std::string> architectures;
  llvm::SmallVector<StringRef> parts;
  (names.empty() ? defaultArchitectures : names).split(parts, ',');
  for (StringRef part : parts) {
    if (!isArchitecture(part)) {
      complaint = "unknown GPU architecture '" + part.str() +
                  "': expected sm_80 or later (code for that GPU: sm_80, sm_90a, ...), or "
                  "compute_80 or later (PTX, which a driver compiles for its GPU)";
      return nullptr;
    }
    architectures.push_back(part.str());
  }
  return std::make_unique<CudaDeviceTarget>(std::move(architectures), names.empty());
}

} // namespace hybrid::cuda
