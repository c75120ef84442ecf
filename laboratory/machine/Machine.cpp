//===- Machine.cpp - what this machine can run ------------------------------------===//
#include "laboratory/machine/Machine.h"
#include "executable/CudaVersion.h"
#include "runtime/CpuFeatures.h"
#include "runtime/cpu/Matmul.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cuda/CublasLtApi.h"
#include "runtime/cuda/CudnnApi.h"
#include "runtime/cuda/CufftApi.h"
#include "runtime/cuda/Gpu.h"
#include "runtime/cuda/NcclApi.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/compile/ModelSpec.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace hybrid::rt::lab {
namespace {

/// What there is of CUDA. Nothing of it is needed for the CPU.
struct CudaState {
  std::string missing; // why nothing runs; empty: models run on the first device
  uint32_t driverVersion = 0;
  std::vector<cuda::GpuInfo> devices;
  std::string cublasLt; // its version
  std::string cublasLtMissing;
  std::string cudnn; // its version
  std::string cudnnMissing;
  std::string cufft; // its version
  std::string cufftMissing;
  std::string nccl; // its version
  std::string ncclMissing;
};

CudaState lookForCuda() {
  CudaState state;
  auto driver = cuda::openDriver();
  if (!driver) {
    state.missing = driver.error().message;
    return state;
  }
  int version = 0;
  (*driver)->driverVersion(&version);
  state.driverVersion = static_cast<uint32_t>(version);
  auto devices = cuda::listGpus(**driver);
  if (!devices)
    state.missing = devices.error().message;
  else if (devices->empty())
    state.missing = "the driver shows no device (nvidia-smi, CUDA_VISIBLE_DEVICES)";
  else
    state.devices = *devices;
  if (auto library = cuda::openCublasLt()) {
    size_t version = (*library)->version();
    state.cublasLt = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  } else {
    state.cublasLtMissing = library.error().message;
  }
  if (auto library = cuda::openCudnn())
    state.cudnn = cuda::versionText(**library);
  else
    state.cudnnMissing = library.error().message;
  if (auto library = cuda::openCufft())
    state.cufft = cuda::versionText(**library);
  else
    state.cufftMissing = library.error().message;
  if (auto library = cuda::openNccl())
    state.nccl = cuda::versionText(**library);
  else
    state.ncclMissing = library.error().message;
  return state;
}

nlohmann::ordered_json describe(const CudaState &cuda) {
  auto devices = nlohmann::ordered_json::array();
  for (const cuda::GpuInfo &gpu : cuda.devices)
    devices.push_back({{"name", gpu.name},
                       {"memory_bytes", gpu.memoryBytes},
                       {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
                       {"multiprocessors", gpu.multiprocessors},
                       {"shared_bytes_per_block", gpu.sharedBytes},
                       {"target", gpu.target()}});
  auto text = [](const std::string &value) {
    return value.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  };
  return {{"driver_version", text(cuda.driverVersion ? cudaVersionText(cuda.driverVersion) : "")},
          {"devices", devices},
          {"cublaslt_version", text(cuda.cublasLt)},
          {"cudnn_version", text(cuda.cudnn)},
          {"cudnn_missing", text(cuda.cudnnMissing)},
          {"cufft_version", text(cuda.cufft)},
          {"cufft_missing", text(cuda.cufftMissing)},
          {"nccl_version", text(cuda.nccl)},
          {"nccl_missing", text(cuda.ncclMissing)},
          {"missing", text(cuda.missing.empty() ? cuda.cublasLtMissing : cuda.missing)}};
}

void print(const CudaState &cuda) {
  if (!cuda.missing.empty()) {
    say("CUDA         not here: {}\n", cuda.missing);
    return;
  }
  auto orNone = [](const std::string &version) { return version.empty() ? "not here" : version; };
  say("CUDA         driver of {}, cuBLASLt {}, cuDNN {}, cuFFT {}, NCCL {}\n",
      driverText(cuda.driverVersion), orNone(cuda.cublasLt), orNone(cuda.cudnn), orNone(cuda.cufft),
      orNone(cuda.nccl));
  for (const cuda::GpuInfo &gpu : cuda.devices)
    say("  device     {}: {:.1f} GiB, {} multiprocessors, {}.{} (--target={})\n", gpu.name,
        static_cast<double>(gpu.memoryBytes) / (1 << 30), gpu.multiprocessors, gpu.major, gpu.minor,
        gpu.target());
}

/// What can be done here, and what would have to be installed to do the rest.
struct Verdict {
  std::vector<std::string> runs, compiles, install;

  std::string text() const {
    auto listed = [](const std::vector<std::string> &names) {
      return names.empty() ? std::string("nothing") : fmt::format("{}", fmt::join(names, " and "));
    };
    std::string text =
        fmt::format("this machine runs {} and compiles for {}", listed(runs), listed(compiles));
    if (install.empty())
      return text;
    return fmt::format("{}; to do more, install {}", text, fmt::join(install, "; "));
  }
};

Verdict judge(const std::string &level, bool hasCompiler, const CudaState &cuda,
              const Toolkit &toolkit) {
  Verdict verdict{{"cpu:" + level}, {}, {}};
  const std::string least =
      toolkit.version ? ", " + driverText(toolkit.leastDriver) : std::string();
  if (hasCompiler)
    verdict.compiles.push_back("cpu");
  else
    verdict.install.push_back("hybridc (tools/check --build-only), to compile models");
  if (hasCompiler && toolkit.version)
    verdict.compiles.push_back("cuda");
  else if (hasCompiler)
    verdict.install.push_back("the CUDA toolkit (12.0 or later), to compile for cuda");
  if (cuda.devices.empty())
    verdict.install.push_back(
        fmt::format("NVIDIA's driver{} on a machine with a GPU, to run cuda", least));
  else if (cuda.driverVersion < toolkit.leastDriver)
    verdict.install.push_back(fmt::format("a driver of {}, or an NVRTC of CUDA {} "
                                          "(HYBRID_NVRTC=FILE), to run on cuda what is compiled "
                                          "here",
                                          driverText(toolkit.leastDriver),
                                          cuda.driverVersion / 1000));
  else if (!cuda.cublasLtMissing.empty())
    verdict.install.push_back("cuBLASLt, to run matrix products on cuda");
  else
    verdict.runs.push_back(cuda.devices.front().target());
  return verdict;
}

} // namespace

void printMachine(bool json) {
  std::vector<std::string> features = relevantCpuFeatures();
  std::string compiler = findCompiler();
  std::string version = compiler.empty() ? "" : compilerVersion(compiler);
  std::string matrixLibrary = matrixLibraryVersion();
  auto has = [](const char *name) { return hasCpuFeature(name); };
  std::string level = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl")
                          ? "x86-64-v4"
                      : has("avx2") && has("fma") && has("bmi2") && has("f16c") ? "x86-64-v3"
                                                                                : "x86-64-v2";
  int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  CudaState cuda = lookForCuda();
  const Toolkit toolkit = version.empty() ? Toolkit() : toolkitOf(compiler);
  std::vector<std::string> advice;
  if (compiler.empty())
    advice.push_back("hybridc is not beside hybrid-run: only compiled models (.hyx) run here; "
                     "build it with tools/check --build-only");
  else if (version.empty())
    advice.push_back("the hybridc beside hybrid-run does not run: install LLVM with "
                     "tools/install-dependencies, or build it again");
  if (!cuda.devices.empty() && !cuda.cublasLtMissing.empty())
    advice.push_back("models with matrix products do not run on the GPU: " + cuda.cublasLtMissing);
  if (!cuda.devices.empty() && !cuda.cudnnMissing.empty())
    advice.push_back("models compiled with --precision=bf16 whose attention has heads of 64 and "
                     "more do not run on the GPU: " +
                     cuda.cudnnMissing);
  if (!cuda.devices.empty() && !cuda.cufftMissing.empty())
    advice.push_back("models with rfft or irfft of more than 256 points, or with convolutions of "
                     "millions of positions, do not run on the GPU: " +
                     cuda.cufftMissing);
  if (cuda.devices.size() > 1 && !cuda.ncclMissing.empty())
    advice.push_back("the GPUs do not train together: " + cuda.ncclMissing);
  if (!cuda.devices.empty() && cuda.driverVersion < toolkit.leastDriver)
    advice.push_back(fmt::format(
        "what is compiled here for CUDA does not run here: the toolkit of CUDA {} needs a driver "
        "of {}, this one is of CUDA {}: update the driver, or compile with an NVRTC of CUDA {} "
        "(HYBRID_NVRTC=FILE; `pip install nvidia-cuda-nvrtc-cu{}` has one)",
        cudaVersionText(toolkit.version), driverText(toolkit.leastDriver),
        cudaVersionText(cuda.driverVersion), cuda.driverVersion / 1000, cuda.driverVersion / 1000));
  if (level == "x86-64-v2")
    advice.push_back("this CPU has no AVX2: models run, but slowly");
  const Verdict verdict = judge(level, !version.empty(), cuda, toolkit);
  if (json) {
    nlohmann::ordered_json result{
        {"cpu", cpuModelName()},
        {"threads", availableThreads()},
        {"memory_bytes", memory},
        {"features", features},
        {"cpu_level", level},
        {"compiler", version.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(version)},
        {"matrix_library", matrixLibrary},
        {"cuda", describe(cuda)},
        {"toolkit", toolkit.version ? nlohmann::ordered_json(cudaVersionText(toolkit.version))
                                    : nlohmann::ordered_json()},
        {"advice", advice},
        {"runs", verdict.runs},
        {"compiles_for", verdict.compiles},
        {"install", verdict.install}};
    say("{}\n", jsonText(result));
    return;
  }
  say("CPU          {}\nthreads      {}\nmemory       {:.1f} GiB\nfeatures     {}\ncode "
      "level   {} (what --target=cpu compiles for here)\n",
      cpuModelName(), availableThreads(), static_cast<double>(memory) / (1 << 30),
      fmt::join(features, " "), level);
  say("compiler     {}\nmatrices     {}\n",
      compiler.empty()  ? "not found"
      : version.empty() ? "does not run"
                        : version,
      matrixLibrary);
  print(cuda);
  if (toolkit.version)
    say("toolkit      of CUDA {}, for drivers of {}: {}\n", cudaVersionText(toolkit.version),
        driverText(toolkit.leastDriver), toolkit.file);
  else if (!version.empty())
    say("toolkit      not here: {}\n", toolkit.missing);
  for (const std::string &line : advice)
    say("advice       {}\n", line);
  say("{}\n", verdict.text());
}

} // namespace hybrid::rt::lab
