//===- MergeLaunches.cpp - many small launches become one -------------------===//
//
// A launch costs about as much as a kernel of a few microseconds runs, and a small model has many
// that could run at any time: what depends on parameters alone (their rounding, say) can all run
// first, and the last sums of gradients can all run last. Kernels of one kind side by side in one
// grid are one launch; a block finds its own by its number.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/CudaBackend.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/HybridOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace hybrid::cuda {
namespace {

/// Of the merged launch; an executable allows 64.
constexpr size_t mostBuffers = 60;
/// Beyond this many blocks a launch of its own costs nothing, and its result would be held long.
constexpr int64_t mostBlocks = 512;
/// Partial sums that wait for the end of the program must be small.
constexpr int64_t mostPartialBytes = 4 << 20;

class Merger {
public:
  Merger(ProgramBuilder &program, std::vector<Step> &steps) : program(program), steps(steps) {
    for (const Step &step : steps)
      for (const BufferUse &buffer : step.buffers)
        if (buffer.storage >= 0)
          ++uses[buffer.storage];
  }

  void run() {
    std::vector<Step> first, middle, last;
    for (Step &step : steps) {
      bool ready = isReady(step), wait = canWait(step);
      for (const BufferUse &buffer : step.buffers)
        touched.insert(buffer.storage);
      (ready ? first : wait ? last : middle).push_back(std::move(step));
    }
    steps.clear();
    append(first);
    for (Step &step : middle)
      steps.push_back(std::move(step));
    append(last);
  }

private:
  Space spaceOf(const BufferUse &buffer) { return program.storage(buffer.storage).space; }

  /// Elementwise on parameters and constants.
  bool isReady(const Step &step) {
    if (!step.generated || step.loop >= 0 || step.grid > mostBlocks || step.m > 0)
      return false;
    size_t reads = step.buffers.size() - static_cast<size_t>(step.writes);
    for (auto [i, buffer] : llvm::enumerate(step.buffers)) {
      if (buffer.storage < 0)
        return false;
      Space space = spaceOf(buffer);
      // What it writes, nobody has written a part of before.
      if (i < reads ? space != Space::Parameters && space != Space::Constants
                    : space != Space::Arena || touched.contains(buffer.storage))
        return false;
    }
    return reads > 0;
  }

  /// The last sum of a parameter's gradient, which nothing else in the program reads.
  bool canWait(const Step &step) {
    if (!step.isSum || step.loop >= 0)
      return false;
    const BufferUse &partial = step.buffers[0], &out = step.buffers[1];
    return partial.bytes <= mostPartialBytes && spaceOf(out) == Space::Gradients &&
           uses.lookup(out.storage) == 1;
  }

  /// Adds steps of the same number of threads as few launches.
  void append(std::vector<Step> &parts) {
    std::vector<Step *> group;
    size_t buffers = 0;
    auto flush = [&] {
      if (group.size() == 1)
        steps.push_back(std::move(*group[0]));
      else if (!group.empty())
        steps.push_back(merged(group));
      group.clear();
      buffers = 0;
    };
    for (Step &part : parts) {
      if (!group.empty() && (buffers + part.buffers.size() > mostBuffers ||
                             part.shape.threads != group[0]->shape.threads))
        flush();
      group.push_back(&part);
      buffers += part.buffers.size();
    }
    flush();
  }

  Step merged(ArrayRef<Step *> group) {
    Step result = *group[0];
    result.buffers.clear();
    result.grid = 0;
    result.generated = true;
    result.kernel.clear();
    std::string parameters, body, sources;
    SmallVector<StringRef> called;
    for (Step *step : group) {
      body += result.grid == 0 ? "  " : " else ";
      if (step != group.back())
        body += llvm::formatv("if (item < {0}) ", result.grid + step->grid);
      body += llvm::formatv("{{\n    {0}(item - {1}", step->kernel, result.grid);
      for (const BufferUse &buffer : step->buffers) {
        parameters += llvm::formatv(", Buffer b{0}", result.buffers.size());
        body += llvm::formatv(", b{0}", result.buffers.size());
        result.buffers.push_back(buffer);
      }
      body += ");\n  }";
      result.grid += step->grid;
      result.shape.scratchBytes = std::max(result.shape.scratchBytes, step->shape.scratchBytes);
      StringRef name = StringRef(step->kernel).take_until([](char c) { return c == '<'; });
      if (!llvm::is_contained(called, name))
        called.push_back(name);
      if (step != group[0])
        sources += ", ";
      sources += step->source;
    }
    result.source =
        llvm::formatv("{0} launches in one ({1})", group.size(), StringRef(sources).take_front(160))
            .str();
    result.kernel = add(parameters + ") {\n" + body + "\n}\n", called);
    return result;
  }

  std::string add(const std::string &text, ArrayRef<StringRef> called) {
    auto [entry, inserted] = program.tables.generatedKernels.try_emplace("merged " + text);
    if (!inserted)
      return entry->second;
    entry->second = "merged_" + std::to_string(program.tables.generatedKernels.size() - 1);
    OpBuilder builder = OpBuilder::atBlockEnd(program.tables.module.getBody());
    KernelSourceOp::create(builder, program.function.getLoc(), entry->second,
                           "HYBRID_DEVICE void " + entry->second + "(int64_t item" + text,
                           builder.getStrArrayAttr(called));
    return entry->second;
  }

  ProgramBuilder &program;
  std::vector<Step> &steps;
  llvm::DenseMap<int64_t, int64_t> uses; // of a storage, by all steps
  llvm::DenseSet<int64_t> touched;       // storages of the steps looked at so far
};

} // namespace

void CudaBackend::arrange(ProgramBuilder &program, std::vector<Step> &steps) const {
  StringRef name = program.function.getSymName();
  if (name != "init" && name != "update") // those write parameters
    Merger(program, steps).run();
}

} // namespace hybrid::cuda
