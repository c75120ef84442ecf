//===- ModelArgument.cpp - a model given as .hyx or .hyb --------------------------===//
#include "tools/hybrid-run/ModelArgument.h"
#include "executable/Executable_generated.h"
#include "runtime/cuda/Gpu.h"
#include "tools/hybrid-run/Process.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace hybrid::tools {
namespace fs = std::filesystem;

void ModelArgument::addTo(CLI::App &verb) {
  verb.add_option("model", path, "compiled model (.hyx) or its text (.hyb)")->required();
  verb.add_option("--device", device, "cpu or cuda: where it must run")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  auto *group = verb.add_option_group("Compiling (for a .hyb)");
  group->add_option("--batch", batch, "sequences in a batch")->check(CLI::PositiveNumber);
  group->add_option("--length", length, "positions in a sequence")->check(CLI::PositiveNumber);
  group->add_option("--precision", precision, "f32, bf16 or f64");
  group->add_option("--target", target,
                    "cpu, cpu:x86-64-v3, cuda, cuda:sm_80, ... (default: --device)");
  group->add_option("--attention", attention,
                    "who computes attention in bf16 on a GPU: auto, cudnn or own");
  group->add_option("--model", model, "which model of the file");
  group->add_option("--memory", memory,
                    "what training may allocate, such as 2GiB, with all threads of this machine");
  group->add_option("--set", settings, "NAME=VALUE: a model parameter; may be repeated")
      ->allow_extra_args(false);
}

bool ModelArgument::isSource() const { return fs::path(path).extension() == ".hyb"; }

std::string findCompiler() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path compiler = self.parent_path() / "hybridc";
  return !error && access(compiler.c_str(), X_OK) == 0 ? compiler.string() : "";
}

namespace {

std::string readText(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Failure(fmt::format("cannot read '{}': {}", path.string(), std::strerror(errno)));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Everything the result depends on: the compiler, the model, every model text it could import, the
/// options.
uint64_t contentHash(const ModelArgument &model, const std::string &compiler,
                     const std::vector<std::string> &arguments) {
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset(state);
  auto add = [&](const std::string &text) {
    XXH3_64bits_update(state, text.c_str(), text.size() + 1);
  };
  struct stat status{};
  if (stat(compiler.c_str(), &status) == 0)
    add(fmt::format("{} {} {}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
  add(readText(model.path));
  std::vector<fs::path> folders{fs::absolute(model.path).parent_path(),
                                fs::absolute(model.path).parent_path().parent_path() / "std",
                                fs::path(compiler).parent_path() / ".." / "share" / "hybrid" /
                                    "models" / "std",
                                fs::path(compiler).parent_path() / ".." / ".." / "models" / "std"};
  if (const char *extra = std::getenv("HYBRID_MODELS"))
    folders.push_back(fs::path(extra) / "std");
  for (const fs::path &folder : folders) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().extension() == ".hyb")
        files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    for (const fs::path &file : files)
      add(readText(file));
  }
  for (const std::string &argument : arguments)
    add(argument);
  uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return hash;
}

fs::path cacheFolder() {
  const char *base = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  fs::path folder = base && *base   ? fs::path(base)
                    : home && *home ? fs::path(home) / ".cache"
                                    : fs::temp_directory_path();
  folder /= "hybrid";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Failure(
        fmt::format("cannot make the cache folder '{}': {}", folder.string(), error.message()));
  return folder;
}

/// `--target` for the device of this machine.
std::string targetFor(const std::string &device) {
  if (device != "cuda")
    return "cpu";
  return valueOf(rt::cuda::firstGpu()).target();
}

} // namespace

std::shared_ptr<const rt::Executable> ModelArgument::load() const {
  auto executable = loadAny();
  require(executable->checkDevice(device));
  return executable;
}

std::shared_ptr<const rt::Executable> ModelArgument::loadAny() const {
  std::vector<std::string> options;
  if (batch)
    options.insert(options.end(), {"--batch", std::to_string(*batch)});
  if (length)
    options.insert(options.end(), {"--length", std::to_string(*length)});
  if (precision)
    options.insert(options.end(), {"--precision", *precision});
  if (target)
    options.insert(options.end(), {"--target", *target});
  else if (!device.empty() && isSource())
    options.insert(options.end(), {"--target", targetFor(device)});
  if (attention)
    options.insert(options.end(), {"--attention", *attention});
  if (replicas > 1)
    options.insert(options.end(), {"--ensemble", std::to_string(replicas)});
  if (model)
    options.insert(options.end(), {"--model", *model});
  if (memory)
    options.insert(options.end(), {"--memory", *memory});
  if (chunked && isSource())
    options.push_back("--chunked");
  for (const std::string &setting : settings)
    options.insert(options.end(), {"--set", setting});
  if (!isSource()) {
    if (!options.empty())
      throw Failure(
          fmt::format("{} is compiled already: {} applies to a .hyb only", path, options[0]));
    return valueOf(rt::Executable::load(path));
  }
  std::string compiler = findCompiler();
  if (compiler.empty())
    throw Failure(fmt::format("{} must be compiled first, but hybridc is not beside hybrid-run: "
                              "build it (tools/check --build-only), or give a .hyx",
                              path));
  fs::path cached =
      cacheFolder() / fmt::format("{:016x}.hyx", contentHash(*this, compiler, options));
  // A cached file that does not load was damaged, or made for another machine that shares this
  // cache.
  if (fs::exists(cached))
    if (auto loaded = rt::Executable::load(cached.string()))
      return std::move(*loaded);
  // hybridc writes its output whole or not at all, so two runs at once do no harm.
  std::vector<std::string> arguments{path, "-o", cached.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  int status = 0;
  if (quiet) {
    ProgramOutput compiled = runForOutput(compiler, arguments);
    status = compiled.status;
    if (status != 0)
      std::fputs(compiled.err.c_str(), stderr);
  } else {
    status = runProgram(compiler, arguments);
  }
  if (status != 0)
    throw Failure(fmt::format("{} did not compile", path));
  return valueOf(rt::Executable::load(cached.string()));
}

std::string compilerVersion(const std::string &compiler) {
  try {
    ProgramOutput output = runForOutput(compiler, {"--version"});
    return output.status == 0 ? output.out.substr(0, output.out.find('\n')) : "";
  } catch (const Failure &) {
    return "";
  }
}

} // namespace hybrid::tools
