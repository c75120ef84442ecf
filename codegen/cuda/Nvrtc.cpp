//===- Nvrtc.cpp - CUDA C++ to cubins and PTX -------------------------------===//
//
// NVRTC belongs to the CUDA toolkit. It is opened only when something is compiled for a GPU, so
// that hybridc builds and runs where there is no toolkit. HYBRID_NVRTC names a file of another
// toolkit: drivers do not load what a later major version than theirs has made.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/CodegenCuda.h"
#include "executable/CudaVersion.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include <dlfcn.h>

using namespace mlir;

namespace hybrid::cuda {
namespace {

/// The functions of NVRTC that are called; 0 is success.
struct Nvrtc {
  using Program = void *;
  int (*createProgram)(Program *, const char *source, const char *name, int headers,
                       const char *const *texts, const char *const *names) = nullptr;
  int (*destroyProgram)(Program *) = nullptr;
  int (*compileProgram)(Program, int count, const char *const *options) = nullptr;
  int (*getProgramLogSize)(Program, size_t *) = nullptr;
  int (*getProgramLog)(Program, char *) = nullptr;
  int (*getCubinSize)(Program, size_t *) = nullptr;
  int (*getCubin)(Program, char *) = nullptr;
  int (*getPtxSize)(Program, size_t *) = nullptr;
  int (*getPtx)(Program, char *) = nullptr;
  const char *(*getErrorString)(int) = nullptr;
  int (*version)(int *major, int *minor) = nullptr;
  int (*getArchitectureCount)(int *) = nullptr;
  int (*getArchitectures)(int *) = nullptr;
  std::string file;
  std::string complaint; // not empty: there is no NVRTC

  static const Nvrtc &get() {
    static const Nvrtc library;
    return library;
  }

private:
  Nvrtc() {
    void *handle = open();
    if (!handle)
      return;
    bool all = true;
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      all &= function != nullptr;
    };
    find(createProgram, "nvrtcCreateProgram");
    find(destroyProgram, "nvrtcDestroyProgram");
    find(compileProgram, "nvrtcCompileProgram");
    find(getProgramLogSize, "nvrtcGetProgramLogSize");
    find(getProgramLog, "nvrtcGetProgramLog");
    find(getCubinSize, "nvrtcGetCUBINSize");
    find(getCubin, "nvrtcGetCUBIN");
    find(getPtxSize, "nvrtcGetPTXSize");
    find(getPtx, "nvrtcGetPTX");
    find(getErrorString, "nvrtcGetErrorString");
    find(version, "nvrtcVersion");
    find(getArchitectureCount, "nvrtcGetNumSupportedArchs");
    find(getArchitectures, "nvrtcGetSupportedArchs");
    int major = 0, minor = 0;
    if (all && (version(&major, &minor) || major < 12))
      all = false;
    if (!all)
      complaint = file + ": this NVRTC is too old: 12.0 or later is needed";
  }

  void *open() {
    if (auto chosen = llvm::sys::Process::GetEnv("HYBRID_NVRTC"); chosen && !chosen->empty()) {
      file = *chosen;
      void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle)
        complaint = std::string("HYBRID_NVRTC: ") + dlerror();
      return handle;
    }
    std::vector<std::string> folders{""};
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
      if (auto value = llvm::sys::Process::GetEnv(variable))
        folders.push_back(*value + "/lib64/");
    if (auto nvcc = llvm::sys::findProgramByName("nvcc")) {
      llvm::SmallString<128> real;
      llvm::sys::fs::real_path(*nvcc, real);
      folders.push_back(
          (llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)) + "/lib64/").str());
    }
    for (const std::string &folder : folders)
      for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
        if (void *handle = dlopen((file = folder + name).c_str(), RTLD_NOW | RTLD_LOCAL))
          return handle;
    file.clear();
    complaint =
        "code for CUDA is made by NVRTC, which was not found: install the CUDA toolkit (12.0 "
        "or later), and put its nvcc on the PATH, or say where it is with CUDA_HOME=DIR "
        "(DIR/lib64/libnvrtc.so) or HYBRID_NVRTC=FILE";
    return nullptr;
  }
};

/// A text of a program, without what ends it.
std::string textOf(Nvrtc::Program program, int (*getSize)(Nvrtc::Program, size_t *),
                   int (*get)(Nvrtc::Program, char *)) {
  size_t size = 0;
  getSize(program, &size);
  std::string text(size, '\0');
  if (size)
    get(program, text.data());
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n'))
    text.pop_back();
  return text;
}

/// The accesses of each kernel in a PTX text that do not say which memory they go to.
llvm::StringMap<int64_t> genericAccesses(StringRef ptx) {
  llvm::StringMap<int64_t> counts;
  std::string kernel;
  llvm::SmallVector<StringRef> lines, parts;
  ptx.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    if (line.contains(".entry "))
      kernel = line.split(".entry ").second.take_until([](char c) { return c == '('; }).str();
    StringRef operation = line.ltrim();
    if (operation.consume_front("@"))
      operation = operation.split(' ').second;
    parts.clear();
    operation.take_until([](char c) { return c == ' ' || c == '\t'; }).split(parts, '.');
    if (!llvm::is_contained({"ld", "ldu", "st", "atom", "red"}, parts.front()))
      continue;
    counts[kernel] += llvm::none_of(parts, [](StringRef part) {
      return llvm::is_contained({"global", "shared", "local", "param", "const"},
                                part.split(':').first);
    });
  }
  return counts;
}

} // namespace

NvrtcInfo findNvrtc() {
  const Nvrtc &nvrtc = Nvrtc::get();
  NvrtcInfo info;
  info.file = nvrtc.file, info.complaint = nvrtc.complaint;
  if (!info.complaint.empty())
    return info;
  int major = 0, minor = 0, count = 0;
  nvrtc.version(&major, &minor);
  info.version = cudaVersion(static_cast<uint32_t>(major), static_cast<uint32_t>(minor));
  nvrtc.getArchitectureCount(&count);
  std::vector<int> numbers(static_cast<size_t>(std::max(count, 0)));
  if (!numbers.empty() && !nvrtc.getArchitectures(numbers.data()))
    for (int number : numbers)
      info.architectures.push_back("sm_" + std::to_string(number));
  return info;
}

FailureOr<NvrtcResult> compileWithNvrtc(Location loc, StringRef source, StringRef architecture) {
  const Nvrtc &nvrtc = Nvrtc::get();
  if (!nvrtc.complaint.empty())
    return emitError(loc) << nvrtc.complaint;
  std::vector<std::string> texts, names;
  for (const KernelHeader &header : kernelHeaders()) {
    texts.push_back(header.text.str());
    names.push_back(header.name.str());
  }
  std::vector<const char *> textPointers, namePointers;
  for (size_t i = 0; i < texts.size(); ++i) {
    textPointers.push_back(texts[i].c_str());
    namePointers.push_back(names[i].c_str());
  }
  Nvrtc::Program program = nullptr;
  std::string text = source.str();
  if (int error =
          nvrtc.createProgram(&program, text.c_str(), "model.cu", static_cast<int>(texts.size()),
                              textPointers.data(), namePointers.data()))
    return emitError(loc) << "NVRTC cannot start: " << nvrtc.getErrorString(error);
  auto destroy = llvm::make_scope_exit([&] { nvrtc.destroyProgram(&program); });
  std::string target = "--gpu-architecture=" + architecture.str();
  // Functions of the parameter headers have no execution space: they are constants.
  std::vector<const char *> options{target.c_str(), "--std=c++20",
                                    "--device-as-default-execution-space",
                                    "--extra-device-vectorization"};
  bool ptx = architecture.starts_with("compute_");
  if (!ptx)
    options.push_back("--ptxas-options=-v");
  int error = nvrtc.compileProgram(program, static_cast<int>(options.size()), options.data());
  NvrtcResult result;
  result.toolkit = findNvrtc().version;
  result.log = textOf(program, nvrtc.getProgramLogSize, nvrtc.getProgramLog);
  if (error)
    return emitError(loc) << "NVRTC " << nvrtc.getErrorString(error) << " for " << architecture
                          << (StringRef(result.log).contains("invalid value for --gpu-architecture")
                                  ? ": this toolkit does not know the architecture"
                                  : ": internal error, please report")
                          << "\n"
                          << result.log;
  size_t size = 0;
  if ((ptx ? nvrtc.getPtxSize : nvrtc.getCubinSize)(program, &size))
    return emitError(loc) << "NVRTC made no code for " << architecture;
  result.image.resize(size);
  (ptx ? nvrtc.getPtx : nvrtc.getCubin)(program, result.image.data());
  if (!ptx)
    result.ptx = textOf(program, nvrtc.getPtxSize, nvrtc.getPtx);
  return result;
}

std::vector<KernelResources> parseResources(const NvrtcResult &made) {
  std::vector<KernelResources> kernels;
  const llvm::StringMap<int64_t> generic = genericAccesses(made.ptx);
  auto numberBefore = [](StringRef line, StringRef unit) {
    size_t at = line.find(unit);
    int64_t value = 0;
    if (at != StringRef::npos)
      line.take_front(at).rtrim().rsplit(' ').second.getAsInteger(10, value);
    return value;
  };
  llvm::SmallVector<StringRef> lines;
  StringRef(made.log).split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function")) {
      kernels.emplace_back();
      kernels.back().kernel = line.split('\'').second.split('\'').first.str();
      kernels.back().genericAccesses = generic.lookup(kernels.back().kernel);
    }
    if (kernels.empty())
      continue;
    KernelResources &kernel = kernels.back();
    if (line.contains("bytes stack frame")) {
      kernel.stackBytes = numberBefore(line, "bytes stack frame");
      kernel.spillBytes =
          numberBefore(line, "bytes spill stores") + numberBefore(line, "bytes spill loads");
    }
    if (line.contains("Used ")) {
      StringRef(line.split("Used ").second).split(' ').first.getAsInteger(10, kernel.registers);
      kernel.staticSharedBytes = numberBefore(line, "bytes smem");
    }
  }
  return kernels;
}

} // namespace hybrid::cuda
