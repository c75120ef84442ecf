//===- StaticLLVM.cpp - what a hybridc with LLVM inside leaves out ----------===//
//
// With HYBRID_STATIC_LLVM alone. LLD starts up every target that LLVM was built with, and its LTO
// names Polly: definitions here, which do nothing, keep both out of the program. Code for this
// machine's CPU is all that is made with LLVM; GPUs get theirs from the CUDA toolkit.
//
//===----------------------------------------------------------------------===//
#include "llvm/Plugins/PassPlugin.h"

// Objects are linked, never bitcode.
llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "", [](llvm::PassBuilder &) {}};
}

// X86 is there: its names are replaced by others, which nobody calls.
#define LLVMInitializeX86TargetInfo hybridNoX86TargetInfo
#define LLVMInitializeX86Target hybridNoX86Target
#define LLVMInitializeX86TargetMC hybridNoX86TargetMC
#define LLVMInitializeX86AsmPrinter hybridNoX86AsmPrinter
#define LLVMInitializeX86AsmParser hybridNoX86AsmParser
extern "C" {
#define LLVM_TARGET(TARGET)                                                                        \
  void LLVMInitialize##TARGET##TargetInfo();                                                       \
  void LLVMInitialize##TARGET##TargetInfo() {}                                                     \
  void LLVMInitialize##TARGET##Target();                                                           \
  void LLVMInitialize##TARGET##Target() {}                                                         \
  void LLVMInitialize##TARGET##TargetMC();                                                         \
  void LLVMInitialize##TARGET##TargetMC() {}
#include "llvm/Config/Targets.def"
#define LLVM_ASM_PRINTER(TARGET)                                                                   \
  void LLVMInitialize##TARGET##AsmPrinter();                                                       \
  void LLVMInitialize##TARGET##AsmPrinter() {}
#include "llvm/Config/AsmPrinters.def"
#define LLVM_ASM_PARSER(TARGET)                                                                    \
  void LLVMInitialize##TARGET##AsmParser();                                                        \
  void LLVMInitialize##TARGET##AsmParser() {}
#include "llvm/Config/AsmParsers.def"
}
