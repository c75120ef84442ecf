//===- ModelSpec.cpp - a model given as .hyx or .hyb --------------------------===//
#include "training/compile/ModelSpec.h"
#include "runtime/cuda/Gpu.h"
#include "runtime/files/File.h"
#include "training/compile/Process.h"
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

namespace hybrid::rt {
namespace fs = std::filesystem;

bool ModelSpec::isSource() const { return fs::path(path).extension() == ".hyb"; }

std::string findCompiler() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path compiler = self.parent_path() / "hybridc";
  return !error && access(compiler.c_str(), X_OK) == 0 ? compiler.string() : "";
}

namespace {

/// Everything the result depends on: the compiler, the model, every model text it could import, the
/// options.
Result<uint64_t> contentHash(const ModelSpec &model, const std::string &compiler,
                             const std::vector<std::string> &arguments) {
  std::vector<std::string> texts;
  struct stat status{};
  if (stat(compiler.c_str(), &status) == 0)
    texts.push_back(
        fmt::format("{} {} {}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
  const fs::path besideModel = fs::absolute(model.path).parent_path(),
                 besideCompiler = fs::path(compiler).parent_path() / "..";
  std::vector<fs::path> files{model.path};
  std::vector<fs::path> folders{besideModel, besideModel.parent_path() / "std",
                                besideCompiler / "share" / "hybrid" / "models" / "std",
                                besideCompiler / ".." / "models" / "std"};
  if (const char *extra = std::getenv("HYBRID_MODELS"))
    folders.push_back(fs::path(extra) / "std");
  for (const fs::path &folder : folders) {
    std::error_code error;
    const size_t first = files.size();
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().extension() == ".hyb")
        files.push_back(entry->path());
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  for (const fs::path &file : files) {
    auto text = readText(file.string());
    if (!text)
      return text.error();
    texts.push_back(std::move(*text));
  }
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset(state);
  for (const std::string &text : texts)
    XXH3_64bits_update(state, text.c_str(), text.size() + 1);
  uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return hash;
}

Result<fs::path> cacheFolder() {
  const char *base = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  fs::path folder = base && *base   ? fs::path(base)
                    : home && *home ? fs::path(home) / ".cache"
                                    : fs::temp_directory_path();
  folder /= "hybrid";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Error{
        fmt::format("cannot make the cache folder '{}': {}", folder.string(), error.message())};
  return folder;
}

/// The options of the compiler.
Result<std::vector<std::string>> optionsOf(const ModelSpec &spec) {
  std::vector<std::string> options;
  auto add = [&](const char *flag, const auto &value) {
    if (value)
      options.insert(options.end(), {flag, fmt::format("{}", *value)});
  };
  add("--batch", spec.batch);
  add("--length", spec.length);
  add("--precision", spec.precision);
  add("--target", spec.target);
  if (!spec.target && !spec.device.empty() && spec.isSource()) {
    std::string target = "cpu";
    if (spec.device == "cuda") {
      auto gpu = cuda::firstGpu();
      if (!gpu)
        return gpu.error();
      target = gpu->target();
    }
    options.insert(options.end(), {"--target", target});
  }
  add("--attention", spec.attention);
  if (spec.replicas > 1)
    options.insert(options.end(), {"--ensemble", std::to_string(spec.replicas)});
  add("--model", spec.model);
  add("--memory", spec.memory);
  if (spec.chunked && spec.isSource())
    options.push_back("--chunked");
  for (const std::string &setting : spec.settings)
    options.insert(options.end(), {"--set", setting});
  return options;
}

/// Compiles, unless the cache has the result.
Result<std::shared_ptr<const Executable>> compile(const ModelSpec &spec,
                                                  const std::vector<std::string> &options) {
  const std::string compiler = findCompiler();
  if (compiler.empty())
    return Error{fmt::format("{} must be compiled first, but hybridc is not beside hybrid-run: "
                             "build it (tools/check --build-only), or give a .hyx",
                             spec.path)};
  auto folder = cacheFolder();
  if (!folder)
    return folder.error();
  auto hash = contentHash(spec, compiler, options);
  if (!hash)
    return hash.error();
  const std::string cached = (*folder / fmt::format("{:016x}.hyx", *hash)).string();
  // A cached file that does not load was damaged, or made for another machine that shares this
  // cache.
  if (fs::exists(cached))
    if (auto loaded = Executable::load(cached))
      return loaded;
  // hybridc writes its output whole or not at all, so two runs at once do no harm.
  std::vector<std::string> arguments{spec.path, "-o", cached};
  arguments.insert(arguments.end(), options.begin(), options.end());
  Result<int> status = 0;
  if (spec.quiet) {
    auto compiled = runForOutput(compiler, arguments);
    if (!compiled)
      return compiled.error();
    status = compiled->status;
    if (*status != 0)
      std::fputs(compiled->err.c_str(), stderr);
  } else {
    status = runProgram(compiler, arguments);
  }
  if (!status)
    return status.error();
  if (*status != 0)
    return Error{fmt::format("{} did not compile", spec.path)};
  return Executable::load(cached);
}

} // namespace

Result<std::shared_ptr<const Executable>> ModelSpec::load() const {
  auto options = optionsOf(*this);
  if (!options)
    return options.error();
  if (!isSource() && !options->empty())
    return Error{
        fmt::format("{} is compiled already: {} applies to a .hyb only", path, options->front())};
  auto executable = isSource() ? compile(*this, *options) : Executable::load(path);
  if (!executable)
    return executable;
  if (auto done = (*executable)->checkDevice(device); !done)
    return done.error();
  return executable;
}

std::string compilerVersion(const std::string &compiler) {
  auto output = runForOutput(compiler, {"--version"});
  return output && output->status == 0 ? output->out.substr(0, output->out.find('\n')) : "";
}

} // namespace hybrid::rt
