//===- CompileKernels.cpp - specialise, optimise and emit all kernels -------===//
//
// A wrapper `void kN(lo, hi, buffers, scratch)` for each distinct (kernel, constants): for a
// library kernel it calls the bitcode function with a constant parameter struct, which inlining
// turns into compile-time constants; for a generated kernel it loads the buffer pointers. Functions
// that a library kernel calls are among its constants, so that they are inlined as well.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/CodegenCpu.h"
#include "codegen/cpu/LinkObject.h"
#include "codegen/cpu/LowerToLLVM.h"
#include "dialect/schedule/ScheduleOps.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"

extern "C" {
extern const char hybridKernelsBitcodeBegin[];
extern const char hybridKernelsBitcodeEnd[];
}

using namespace mlir;

namespace hybrid::cpu {

namespace {

class KernelModule {
public:
  KernelModule(Location loc, const CpuTarget &target, llvm::LLVMContext &context)
      : loc(loc), target(target), context(context) {}

  /// Beside the generated kernels there is the library, of which `optimize` reads what is called.
  LogicalResult open(std::unique_ptr<llvm::Module> generated) {
    llvm::StringRef bytes(hybridKernelsBitcodeBegin,
                          hybridKernelsBitcodeEnd - hybridKernelsBitcodeBegin);
    auto read = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "kernels.bc"), context);
    if (!read)
      return emitError(loc) << "internal error: the kernel library is unreadable: "
                            << llvm::toString(read.takeError());
    library = std::move(*read);
    llvmModule = std::move(generated);
    llvmModule->setTargetTriple(library->getTargetTriple());
    llvmModule->setDataLayout(library->getDataLayout());
    return success();
  }

  /// A generated kernel, or the declaration of one of the library; null if neither has it.
  llvm::Function *kernel(llvm::StringRef name) {
    llvm::Function *known = llvmModule->getFunction(name), *inLibrary = library->getFunction(name);
    if (known && !known->isDeclaration())
      return known;
    if (!inLibrary || inLibrary->isDeclaration())
      return nullptr;
    return known ? known
                 : llvm::Function::Create(inLibrary->getFunctionType(),
                                          llvm::GlobalValue::ExternalLinkage, name, *llvmModule);
  }

  /// The wrapper of one specialisation; the symbol it is exported under.
  FailureOr<std::string> addWrapper(LaunchOp launch) {
    llvm::StringRef kernelName(launch.getKernel());
    llvm::Function *callee = kernel(kernelName);
    if (!callee)
      return launch.emitOpError() << "internal error: there is no kernel '" << launch.getKernel()
                                  << "', please report";
    std::string symbol =
        ("k" + llvm::Twine(count++) + "_" +
         (kernelName.starts_with("hybrid_") ? kernelName.drop_front(7) : kernelName))
            .str();
    llvm::Type *i64 = llvm::Type::getInt64Ty(context),
               *pointer = llvm::PointerType::get(context, 0);
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                         {i64, i64, pointer, pointer}, false);
    auto *wrapper =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, *llvmModule);
    exported.insert(symbol);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", wrapper));
    llvm::SmallVector<llvm::Value *> arguments{wrapper->getArg(0), wrapper->getArg(1)};
    if (launch.getGenerated()) {
      for (size_t i = 0; i < launch.getBuffers().size(); ++i) {
        // Results never overlap operands (the arena planner sees to it): the vectoriser need not
        // check.
        callee->addParamAttr(2 + 5 * i + 1, llvm::Attribute::NoAlias);
        appendMemref(builder,
                     builder.CreateLoad(pointer, builder.CreateConstInBoundsGEP1_64(
                                                     pointer, wrapper->getArg(2), i)),
                     arguments);
      }
    } else {
      llvm::SmallVector<llvm::Constant *> fields;
      for (int64_t word : launch.getConstants())
        fields.push_back(builder.getInt64(static_cast<uint64_t>(word)));
      for (auto [i, name] : llvm::enumerate(launch.getFunctions().getAsRange<StringAttr>())) {
        llvm::Function *function = llvmModule->getFunction(name.getValue());
        function->addFnAttr(llvm::Attribute::AlwaysInline);
        fields[fields.size() - 1 - i] = llvm::ConstantExpr::getPtrToInt(function, i64);
      }
      auto *words = llvm::ConstantArray::get(llvm::ArrayType::get(i64, fields.size()), fields);
      auto *constants =
          new llvm::GlobalVariable(*llvmModule, words->getType(), true,
                                   llvm::GlobalValue::PrivateLinkage, words, symbol + ".constants");
      constants->setAlignment(llvm::Align(8));
      uint64_t rounded = 0; // buffers that lie in memory as bf16
      for (int64_t buffer : launch.getRounded())
        rounded |= uint64_t(1) << buffer;
      arguments.append(
          {wrapper->getArg(2), wrapper->getArg(3), constants, builder.getInt64(rounded)});
    }
    llvm::CallInst *call = builder.CreateCall(callee, arguments);
    call->addFnAttr(llvm::Attribute::AlwaysInline);
    builder.CreateRetVoid();
    return symbol;
  }

  /// A generated kernel takes a memref of unknown size: base, aligned base, offset, size, stride.
  void appendMemref(llvm::IRBuilder<> &builder, llvm::Value *base,
                    llvm::SmallVectorImpl<llvm::Value *> &arguments) {
    arguments.append({base, base, builder.getInt64(0), builder.getInt64(0), builder.getInt64(1)});
  }

  LogicalResult optimize() {
    if (llvm::Linker::linkModules(*llvmModule, std::move(library),
                                  llvm::Linker::Flags::LinkOnlyNeeded))
      return emitError(loc) << "internal error: generated kernels do not link with the kernel "
                               "library, please report";
    for (llvm::Function &function : *llvmModule) {
      if (function.isDeclaration())
        continue;
      // Attributes of the library's own compilation would keep its code for the machine it was
      // built on.
      for (const char *name : {"target-cpu", "target-features", "tune-cpu"})
        function.removeFnAttr(name);
      function.addFnAttr("target-cpu", target.architecture);
      function.addFnAttr("tune-cpu", target.tune);
      if (target.usesBf16)
        function.addFnAttr("target-features", "+avx512bf16");
      function.addFnAttr("prefer-vector-width", target.wideVectors ? "512" : "256");
      function.addFnAttr("no-trapping-math", "true");
      function.setUWTableKind(llvm::UWTableKind::None);
      function.addFnAttr(llvm::Attribute::NoUnwind);
    }
    std::string error;
    const llvm::Target *backend =
        llvm::TargetRegistry::lookupTarget(llvmModule->getTargetTriple(), error);
    if (!backend)
      return emitError(loc) << "no code generator for this machine: " << error;
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
    machine.reset(backend->createTargetMachine(
        llvmModule->getTargetTriple(), target.architecture, target.usesBf16 ? "+avx512bf16" : "",
        options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
    llvmModule->setDataLayout(machine->createDataLayout());

    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graph;
    llvm::ModuleAnalysisManager modules;
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = true;
    llvm::PassBuilder passes(machine.get(), tuning);
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(graph);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, graph, modules);
    llvm::ModulePassManager pipeline;
    pipeline.addPass(llvm::InternalizePass(
        [&](const llvm::GlobalValue &value) { return exported.contains(value.getName()); }));
    pipeline.addPass(llvm::GlobalDCEPass());
    pipeline.addPass(passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
    pipeline.run(*llvmModule, modules);
    return success();
  }

  FailureOr<std::string> emit(llvm::CodeGenFileType type) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager emitter;
    if (machine->addPassesToEmitFile(emitter, stream, nullptr, type))
      return emitError(loc)
             << "internal error: this machine's code generator emits no object files";
    emitter.run(*llvmModule);
    return std::string(bytes.begin(), bytes.end());
  }

  Location loc;
  const CpuTarget &target;
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::Module> library; // functions are read when they are linked
  std::unique_ptr<llvm::Module> llvmModule;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::StringSet<> exported;
  int64_t count = 0;
};

} // namespace

FailureOr<Code> compileKernels(ModuleOp module, const CpuTarget &target, CodeStage stage) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> generated = lowerGeneratedKernels(module, target.usesBf16, context);
  if (!generated)
    return failure();
  KernelModule kernels(module.getLoc(), target, context);
  if (failed(kernels.open(std::move(generated))))
    return failure();

  Code code;
  WalkResult walked = module.walk([&](LaunchOp launch) {
    std::string key = launchKey(launch);
    if (code.symbols.contains(key))
      return WalkResult::advance();
    FailureOr<std::string> symbol = kernels.addWrapper(launch);
    if (failed(symbol))
      return WalkResult::interrupt();
    code.symbols[key] = *symbol;
    return WalkResult::advance();
  });
  if (walked.wasInterrupted() || failed(kernels.optimize()))
    return failure();
  if (stage == CodeStage::LLVM) {
    llvm::raw_string_ostream stream(code.text);
    kernels.llvmModule->print(stream, nullptr);
    return code;
  }
  FailureOr<std::string> emitted =
      kernels.emit(stage == CodeStage::Assembly ? llvm::CodeGenFileType::AssemblyFile
                                                : llvm::CodeGenFileType::ObjectFile);
  if (failed(emitted))
    return failure();
  if (stage == CodeStage::Assembly) {
    code.text = std::move(*emitted);
    return code;
  }
  FailureOr<std::vector<char>> shared = linkSharedObject(module.getLoc(), *emitted);
  if (failed(shared))
    return failure();
  code.sharedObject = std::move(*shared);
  return code;
}

} // namespace hybrid::cpu
