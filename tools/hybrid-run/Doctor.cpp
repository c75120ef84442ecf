//===- Doctor.cpp - hybrid-run doctor: what this machine can run ----------------------===//
#include "runtime/CpuFeatures.h"
#include "runtime/cpu/Parallel.h"
#include "tools/hybrid-run/ModelArgument.h"
#include <dlfcn.h>
#include <dnnl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace hybrid::tools {
namespace {

/// Number of CUDA devices, or nothing without a driver.
std::optional<int> cudaDevices() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    return std::nullopt;
  auto initialize = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto count = reinterpret_cast<int (*)(int *)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  bool works = initialize && count && initialize(0) == 0 && count(&devices) == 0;
  dlclose(driver);
  return works ? std::optional(devices) : std::nullopt;
}

void run(bool json) {
  std::vector<std::string> features = rt::relevantCpuFeatures();
  std::string compiler = findCompiler();
  std::string version = compiler.empty() ? "" : compilerVersion(compiler);
  const dnnl_version_t *dnnl = dnnl_version();
  std::string matrixLibrary = fmt::format("oneDNN {}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch);
  auto has = [](const char *name) { return rt::hasCpuFeature(name); };
  std::string level = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl")
                          ? "x86-64-v4"
                      : has("avx2") && has("fma") && has("bmi2") && has("f16c") ? "x86-64-v3"
                                                                                : "x86-64-v2";
  int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::optional<int> gpus = cudaDevices();
  std::vector<std::string> advice;
  if (compiler.empty())
    advice.push_back("hybridc is not beside hybrid-run: only compiled models (.hyx) run here; "
                     "build it with tools/check --build-only");
  else if (version.empty())
    advice.push_back("the hybridc beside hybrid-run does not run: install LLVM with "
                     "tools/install-dependencies, or build it again");
  if (level == "x86-64-v2")
    advice.push_back("this CPU has no AVX2: models run, but slowly");
  if (json) {
    nlohmann::ordered_json result{
        {"cpu", rt::cpuModelName()},
        {"threads", rt::availableThreads()},
        {"memory_bytes", memory},
        {"features", features},
        {"cpu_level", level},
        {"compiler", version.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(version)},
        {"matrix_library", matrixLibrary},
        {"cuda_devices", gpus ? nlohmann::ordered_json(*gpus) : nlohmann::ordered_json()},
        {"advice", advice}};
    fmt::print("{}\n", result.dump(2));
    return;
  }
  fmt::print("CPU          {}\nthreads      {}\nmemory       {:.1f} GiB\nfeatures     {}\ncode "
             "level   {} (what --target=cpu compiles for here)\n",
             rt::cpuModelName(), rt::availableThreads(), static_cast<double>(memory) / (1 << 30),
             fmt::join(features, " "), level);
  fmt::print("compiler     {}\nmatrices     {}\nCUDA         {}\n",
             compiler.empty()  ? "not found"
             : version.empty() ? "does not run"
                               : version,
             matrixLibrary,
             gpus ? fmt::format("{} device(s); this build runs models on the CPU only", *gpus)
                  : "no driver (not needed for the CPU)");
  for (const std::string &line : advice)
    fmt::print("advice       {}\n", line);
  if (advice.empty())
    fmt::print("all is well\n");
}

} // namespace

void addDoctor(CLI::App &app) {
  auto *verb = app.add_subcommand("doctor", "what this machine can run, and what is missing");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "for scripts");
  verb->callback([json] { run(*json); });
}

} // namespace hybrid::tools
