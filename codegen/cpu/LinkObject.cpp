//===- LinkObject.cpp - an object file to a shared object -------------------===//
#include "codegen/cpu/LinkObject.h"
#include "lld/Common/Driver.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace mlir;

namespace hybrid::cpu {

FailureOr<std::vector<char>> linkSharedObject(Location loc, StringRef object) {
  SmallString<128> objectPath, sharedPath;
  int descriptor = -1;
  std::error_code error = llvm::sys::fs::createTemporaryFile("hybrid", "o", descriptor, objectPath);
  if (error)
    return emitError(loc) << "cannot create a temporary file: " << error.message();
  llvm::scope_exit removeObject([&] { llvm::sys::fs::remove(objectPath); });
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << object;
    stream.close();
    if (stream.has_error()) {
      auto message = stream.error().message();
      stream.clear_error();
      return emitError(loc) << "cannot write '" << objectPath << "': " << message;
    }
  }
  if (std::error_code failed = llvm::sys::fs::createTemporaryFile("hybrid", "so", sharedPath))
    return emitError(loc) << "cannot create a temporary file: " << failed.message();
  llvm::scope_exit removeShared([&] { llvm::sys::fs::remove(sharedPath); });

  std::string talk;
  llvm::raw_string_ostream talkStream(talk);
  std::string output = sharedPath.str().str(), input = objectPath.str().str();
  const char *arguments[] = {
      "ld.lld", "-shared", "--hash-style=gnu", "-z",         "now", "--build-id=none",
      "-s",     "-o",      output.c_str(),     input.c_str()};
  lld::Result result =
      lld::lldMain(arguments, talkStream, talkStream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return emitError(loc) << "internal error: linking kernels failed, please report: " << talk;
  auto buffer =
      llvm::MemoryBuffer::getFile(sharedPath, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot read '" << sharedPath << "': " << buffer.getError().message();
  return std::vector<char>((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
}

} // namespace hybrid::cpu
