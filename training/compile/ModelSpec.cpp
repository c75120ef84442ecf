//===- ModelSpec.cpp - a model given as .hyx or .hyb --------------------------===//
#include "training/compile/ModelSpec.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Trust.h"
#include "runtime/cuda/Gpu.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "training/compile/CompileCache.h"
#include "training/compile/Process.h"
#include "training/compile/Recompile.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <xxhash.h>

namespace hybrid::rt {
namespace fs = std::filesystem;

bool ModelSpec::isSource() const { return fs::path(path).extension() == ".hyb"; }

std::string findProgram(const std::string &name) {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path program = self.parent_path() / name;
  return !error && access(program.c_str(), X_OK) == 0 ? program.string() : "";
}

std::string findCompiler() { return findProgram("hybridc"); }

namespace {

/// All that the result depends on beside the files that the compiler reads.
Result<std::string> keyOf(const ModelSpec &model, const std::string &compiler,
                          const std::vector<std::string> &options) {
  auto program = MappedFile::open(compiler);
  if (!program)
    return program.error();
  const char *models = std::getenv("HYBRID_MODELS");
  std::vector<std::string> texts{
      fmt::format("{:016x}", XXH3_64bits(program->bytes().data(), program->bytes().size())),
      cpuModelName(), // what --target=cpu means
      models ? models : "", fs::absolute(model.path).lexically_normal().string()};
  // Which toolkit compiles for CUDA.
  for (const char *variable : {"HYBRID_NVRTC", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    texts.emplace_back(std::getenv(variable) ? std::getenv(variable) : "");
  texts.insert(texts.end(), options.begin(), options.end());
  return compileKey(texts);
}

/// The options of the compiler.
Result<std::vector<std::string>> optionsOf(const ModelSpec &spec) {
  std::vector<std::string> options;
  auto add = [&](const char *flag, const auto &value) {
    if (value)
      options.push_back(fmt::format("{}={}", flag, *value));
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
    options.push_back("--target=" + target);
  }
  add("--attention", spec.attention);
  add("--transforms", spec.transforms);
  add("--small-products", spec.smallProducts);
  if (spec.replicas > 1)
    options.push_back("--ensemble=" + std::to_string(spec.replicas));
  add("--model", spec.model);
  add("--memory", spec.memory);
  if (!spec.reduction.empty() && spec.isSource())
    options.push_back("--data-parallel=" + spec.reduction);
  if (spec.sequenceRanks > 1 && spec.isSource())
    options.push_back("--sequence-parallel=" + std::to_string(spec.sequenceRanks));
  if (!spec.shards.empty() && spec.isSource())
    options.push_back("--shard-optimizer=" + spec.shards);
  if (spec.chunked && spec.isSource())
    options.push_back("--chunked");
  if (spec.decode && spec.isSource())
    options.push_back("--decode");
  for (const std::string &setting : spec.settings)
    options.push_back("--set=" + setting);
  for (const std::string &optimizer : spec.optimizers)
    options.push_back("--optimizer=" + optimizer);
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
  auto cache = CompileCache::open();
  if (!cache)
    return cache.error();
  auto key = keyOf(spec, compiler, options);
  if (!key)
    return key.error();
  // A cached file that does not load was damaged, or made for another machine that shares this
  // cache.
  if (auto cached = cache->find(*key))
    if (auto loaded = Executable::load(*cached))
      return loaded;
  auto place = cache->workplace();
  if (!place)
    return place.error();
  std::vector<std::string> arguments{spec.path, "-o", place->executable(), "--dependencies",
                                     place->dependencies()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  Result<ProgramEnd> end = ProgramEnd();
  if (spec.quiet) {
    auto compiled = runForOutput(compiler, arguments);
    if (!compiled)
      return compiled.error();
    end = *compiled;
    if (end->status != 0)
      std::fputs(compiled->err.c_str(), stderr);
  } else {
    end = runProgram(compiler, arguments);
  }
  if (!end)
    return end.error();
  if (end->signal != 0)
    return Error{
        fmt::format("{} did not compile: hybridc was ended by {}", spec.path, end->text())};
  if (end->status != 0)
    return Error{fmt::format("{} did not compile", spec.path)};
  auto kept = cache->keep(*key, *place);
  if (!kept)
    return kept.error();
  return Executable::load(*kept);
}

bool haveSameParameters(const Executable &a, const Executable &b) {
  return std::equal(a.parameters().begin(), a.parameters().end(), b.parameters().begin(),
                    b.parameters().end(), [](const ParameterInfo &x, const ParameterInfo &y) {
                      return x.name == y.name && x.shape == y.shape && x.dtype == y.dtype;
                    });
}

/// What others compiled, made again from the source that it carries.
Result<std::shared_ptr<const Executable>> compileAgain(const Executable &foreign, bool quiet) {
  auto source = sourceOf(foreign);
  if (!source)
    return source.error();
  source->quiet = quiet;
  auto options = optionsOf(*source);
  if (!options)
    return options.error();
  auto compiled = compile(*source, *options);
  if (compiled && !haveSameParameters(foreign, **compiled))
    return Error{"its source makes another model here"};
  return compiled;
}

/// An executable of this user's, or one that may run.
Result<std::shared_ptr<const Executable>> loadCompiled(const ModelSpec &spec) {
  auto loaded = Executable::load(spec.path);
  if (!loaded)
    return loaded;
  auto trusted = (*loaded)->checkTrusted();
  if (trusted)
    return loaded;
  if (spec.trust) {
    if (auto kept = rememberTrust((*loaded)->seal()); !kept)
      say(stderr, "warning: --trust is for this time only: {}\n", kept.error().message);
    return Executable::load(spec.path, Trust::Given);
  }
  auto again = compileAgain(**loaded, spec.quiet);
  if (!again)
    return Error{fmt::format("{}. It cannot be compiled again from the source it carries: {}",
                             trusted.error().message, again.error().message)};
  say(stderr,
      "note: {} was not made by this user's hybridc: its source was compiled again; --trust "
      "runs it as it is\n",
      spec.path);
  return again;
}

} // namespace

Result<std::shared_ptr<const Executable>> ModelSpec::load() const {
  auto options = optionsOf(*this);
  if (!options)
    return options.error();
  if (!isSource() && !options->empty())
    return Error{fmt::format("{} is compiled already: {} applies to a .hyb only", path,
                             options->front().substr(0, options->front().find('=')))};
  auto executable = isSource() ? compile(*this, *options) : loadCompiled(*this);
  if (!executable)
    return executable;
  if (auto done = (*executable)->checkDevice(device); !done)
    return done.error();
  return executable;
}

Toolkit toolkitOf(const std::string &compiler) {
  Toolkit toolkit;
  auto output = runForOutput(compiler, {"--toolkit"});
  const nlohmann::json about = output ? parseJsonOrNull(output->out) : nlohmann::json();
  auto text = [&](const char *key) {
    return about.is_object() && about.contains(key) && about[key].is_string()
               ? about[key].get<std::string>()
               : std::string();
  };
  auto number = [&](const char *key) {
    return about.is_object() && about.contains(key) && about[key].is_number_unsigned()
               ? about[key].get<uint32_t>()
               : 0;
  };
  toolkit.version = number("version"), toolkit.leastDriver = number("least_driver");
  toolkit.file = text("file"), toolkit.missing = text("missing");
  if (!toolkit.version && toolkit.missing.empty())
    toolkit.missing = "hybridc does not say which toolkit it has";
  return toolkit;
}

std::string compilerVersion(const std::string &compiler) {
  auto output = runForOutput(compiler, {"--version"});
  return output && output->status == 0 ? output->out.substr(0, output->out.find('\n')) : "";
}

} // namespace hybrid::rt
