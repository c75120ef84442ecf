//===- CompileForShim.cpp - kernels for the tests' driver -------------------===//
//
// The same text that NVRTC compiles, made a shared object by a C++ compiler: test/cuda/shim.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/CodegenCuda.h"
#include "codegen/cuda/ImageFlags.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace hybrid::cuda {

FailureOr<std::vector<char>> compileForShim(Location loc, StringRef source) {
  auto compiler = llvm::sys::findProgramByName(HYBRID_SHIM_COMPILER);
  if (!compiler)
    return emitError(loc) << "code for the tests' CUDA driver is made by " << HYBRID_SHIM_COMPILER
                          << ", which was not found";
  llvm::SmallString<128> input, output, messages;
  llvm::sys::fs::createTemporaryFile("hybrid-shim", "cu", input);
  llvm::sys::fs::createTemporaryFile("hybrid-shim", "so", output);
  llvm::sys::fs::createTemporaryFile("hybrid-shim", "txt", messages);
  auto remove = llvm::make_scope_exit([&] {
    for (StringRef file : {input, output, messages})
      llvm::sys::fs::remove(file);
  });
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(input, error);
    if (error)
      return emitError(loc) << "cannot write " << input << ": " << error.message();
    stream << source;
  }
  llvm::SmallVector<StringRef> arguments{*compiler};
  arguments.append(std::begin(imageFlags), std::end(imageFlags));
  // Some tests run their kernels for less time than it takes to optimise them.
  std::string optimization;
  if (auto level = llvm::sys::Process::GetEnv("HYBRID_SHIM_OPTIMIZE"))
    arguments.push_back(optimization = "-O" + *level);
  arguments.append({"-I" HYBRID_SHIM_INCLUDE, "-o", output, input});
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(messages), StringRef(messages)};
  std::string failureText;
  int status =
      llvm::sys::ExecuteAndWait(*compiler, arguments, std::nullopt, redirects, 0, 0, &failureText);
  if (status != 0) {
    auto text = llvm::MemoryBuffer::getFile(messages);
    return emitError(loc) << HYBRID_SHIM_COMPILER
                          << " cannot compile the kernels: internal error, please report\n"
                          << failureText << (text ? (*text)->getBuffer().take_front(8000) : "");
  }
  auto image = llvm::MemoryBuffer::getFile(output);
  if (!image)
    return emitError(loc) << "cannot read " << output << ": " << image.getError().message();
  return std::vector<char>((*image)->getBufferStart(), (*image)->getBufferEnd());
}

} // namespace hybrid::cuda
