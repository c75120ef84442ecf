//===- EmitSource.cpp - the CUDA C++ of a module ----------------------------===//
#include "codegen/cuda/CodegenCuda.h"
#include "codegen/cuda/ResidentBlocks.h"
#include "dialect/schedule/LocationText.h"
#include "dialect/schedule/ScheduleOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace hybrid::cuda {

/// The file of the library that defines a kernel, by the schedule's word; empty for generated ones.
static StringRef fileOf(ModuleOp module, StringRef kernel) {
  auto files = module->getAttrOfType<DictionaryAttr>("schedule.kernel_files");
  auto file = files ? files.getAs<StringAttr>(kernel) : StringAttr();
  return file ? file.getValue() : "";
}

/// A kernel without its template arguments.
static StringRef nameOf(StringRef kernel) {
  return kernel.take_until([](char c) { return c == '<'; });
}

FailureOr<std::string> emitSource(ModuleOp module, Code &code) {
  llvm::StringMap<std::string> &symbols = code.symbols;
  bool complete = true;
  llvm::MapVector<StringRef, LaunchOp> generated; // first use of each
  std::vector<LaunchOp> launches;
  llvm::SetVector<StringRef> files;
  files.insert("Prelude");
  module.walk([&](LaunchOp launch) {
    auto [entry, inserted] = symbols.try_emplace(launchKey(launch));
    if (!inserted)
      return;
    StringRef name = nameOf(launch.getKernel());
    entry->second = llvm::formatv("k{0}_{1}", launches.size(), name);
    launches.push_back(launch);
    generated.insert({launch.getStore(), launch});
    if (!launch.getRowFunction().empty())
      files.insert(fileOf(module, nameOf(launch.getRowFunction())));
    for (auto function : launch.getFunctions().getAsRange<StringAttr>())
      generated.insert({function.getValue(), launch});
    if (launch.getGenerated())
      generated.insert({name, launch});
    else if (StringRef file = fileOf(module, name); !file.empty())
      files.insert(file);
    else
      complete = succeeded(launch.emitOpError()
                           << "internal error: there is no kernel '" << name << "', please report");
  });
  // What generated texts call in turn.
  for (bool more = true; more;) {
    more = false;
    for (auto source : module.getOps<KernelSourceOp>()) {
      auto use = generated.find(source.getSymName());
      if (use == generated.end())
        continue;
      LaunchOp launch = use->second;
      for (auto name : source.getUses().getAsRange<StringAttr>()) {
        if (StringRef file = fileOf(module, name); !file.empty())
          files.insert(file);
        else
          more |= generated.insert({name.getValue(), launch}).second;
      }
    }
  }
  if (!complete)
    return failure();
  code.examples = gatherExamplesOf(module);
  if (code.examples) {
    code.examples->symbol = llvm::formatv("k{0}_gatherExamples", launches.size());
    files.insert("GatherExamples");
  }

  std::string text;
  llvm::raw_string_ostream stream(text);
  auto comment = [&](LaunchOp launch) {
    stream << "\n// " << launch.getSource();
    if (std::string location = locationText(launch.getLoc()); !location.empty())
      stream << " at " << location;
    if (launch.getScratchBytes())
      stream << ", " << launch.getScratchBytes() << " bytes of shared memory";
    stream << '\n';
  };
  for (StringRef file : files)
    stream << "#include \"codegen/kernels/cuda/" << file << ".cuh\"\n";
  stream << "\nusing namespace hybrid;\nusing namespace hybrid::cuda;\n";
  for (auto source : module.getOps<KernelSourceOp>())
    if (auto use = generated.find(source.getSymName()); use != generated.end()) {
      comment(use->second);
      stream << source.getText();
    }
  ReplicasAttr replicas = ReplicasAttr::of(module);
  auto operand = [&](LaunchOp launch, size_t i) {
    auto buffer = cast<BufferAttr>(launch.getBuffers()[i]);
    int64_t stride = replicas && buffer.getBytes() ? replicas.strideOf(buffer.getSpace()) : 0;
    const bool rounded = llvm::is_contained(launch.getRounded(), static_cast<int64_t>(i));
    if (rounded)
      stream << "RoundedBuffer{";
    if (stride == 0) // shared by replicas, or absent
      stream << "Buffer{b" << i << '}';
    else
      stream << "ofReplica<" << stride << ">(b" << i << ')';
    if (rounded)
      stream << '}';
  };
  for (LaunchOp launch : launches) {
    comment(launch);
    stream << "HYBRID_KERNEL(" << symbols.lookup(launchKey(launch)) << ", " << launch.getThreads()
           << ", " << residentBlocks(launch) << ", (";
    for (size_t i = 0; i < launch.getBuffers().size(); ++i)
      stream << (i ? ", " : "") << "void *__restrict__ b" << i;
    stream << "),\n              " << launch.getKernel() << "(item";
    const size_t count = launch.getBuffers().size(), stored = count - launch.getStoreBuffers(),
                 plain = stored - launch.getRowFunctionBuffers();
    auto operands = [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        stream << (i > begin ? ", " : "");
        operand(launch, i);
      }
    };
    stream << (plain > 0 ? ", " : "");
    operands(0, plain);
    StringRef rows = launch.getRowFunction();
    if (!rows.empty()) {
      stream << ", " << nameOf(rows) << "Rows" << rows.drop_front(nameOf(rows).size()) << '(';
      operands(plain, stored);
    }
    if (!launch.getStore().empty()) {
      stream << ", " << launch.getStore() << '{';
      operands(stored, count);
      stream << '}';
    }
    stream << (rows.empty() ? "" : ")") << ");)\n";
  }
  if (code.examples)
    stream << "\n// batches of " << code.examples->program << "\nHYBRID_KERNEL("
           << code.examples->symbol << ", " << code.examples->threads
           << ", 1, (void *__restrict__ b0, void *__restrict__ b1, void *__restrict__ b2),\n"
           << "              " << code.examples->kernel
           << "(item, ofReplica<sizeof(BatchOrder)>(b0), Buffer{b1}, Buffer{b2});)\n";
  return text;
}

} // namespace hybrid::cuda
