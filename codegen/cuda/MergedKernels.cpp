//===- MergedKernels.cpp - kernels that run what several launches did -------===//
#include "codegen/cuda/MergedKernels.h"
#include "dialect/schedule/Memory.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hybrid::cuda {

/// The text of a kernel under construction. Views that begin at one place are one parameter, so
/// that what one call writes and another reads is seen to be the same memory.
class MergedKernels::Text {
public:
  /// What work item `item` of a launch does.
  std::string call(LaunchOp launch, const std::string &item) {
    auto kernel = launch.getKernel();
    called.insert(kernel.take_until([](char c) { return c == '<'; }));
    std::string text = llvm::formatv("{0}({1}", kernel, item);
    const size_t own = launch.getViews().size() - launch.getStoreBuffers();
    for (size_t i = 0; i < own; ++i)
      text += ", " + argument(launch, i);
    if (const StringRef store = launch.getStore(); !store.empty()) {
      called.insert(store);
      text += ", " + store.str() + "{";
      for (size_t i = own; i < launch.getViews().size(); ++i)
        text += (i > own ? ", " : "") + argument(launch, i);
      text += "}";
    }
    return text + ");";
  }

  std::string parameters() const {
    std::string text;
    for (size_t i = 0; i < views.size(); ++i)
      text += ", Buffer b" + std::to_string(i);
    return text;
  }
  SmallVector<Value> operands() const {
    return llvm::map_to_vector(views, [](const auto &entry) { return entry.second.first; });
  }
  SmallVector<int64_t> writes() const {
    SmallVector<int64_t> numbers;
    for (auto [i, entry] : llvm::enumerate(views))
      if (entry.second.second)
        numbers.push_back(static_cast<int64_t>(i));
    return numbers;
  }
  ArrayRef<StringRef> functions() const { return called.getArrayRef(); }

private:
  std::string argument(LaunchOp launch, size_t i) {
    Value view = launch.getViews()[i];
    const View seen = viewOf(view);
    if (!seen.isPresent())
      return "Buffer{nullptr}";
    auto [entry, inserted] = views.insert({{seen.buffer, seen.offset}, {view, false}});
    auto &[widest, written] = entry->second;
    written |= launch.writesOperand(static_cast<unsigned>(i));
    if (seen.extent() > viewOf(widest).extent())
      widest = view;
    std::string name = "b" + std::to_string(entry - views.begin());
    const bool rounded = llvm::is_contained(launch.getRounded(), static_cast<int64_t>(i));
    return rounded ? "RoundedBuffer{" + name + "}" : name;
  }

  /// By where they begin: the widest, and whether one is written.
  llvm::MapVector<std::pair<Value, int64_t>, std::pair<Value, bool>> views;
  llvm::SetVector<StringRef> called;
};

MergedKernels::MergedKernels(ModuleOp module)
    : module(module),
      sources(static_cast<size_t>(llvm::range_size(module.getOps<KernelSourceOp>()))) {}

LaunchOp MergedKernels::sideBySide(ArrayRef<LaunchOp> group) {
  Text text;
  std::string body = "  ";
  int64_t grid = 0;
  for (LaunchOp launch : group) {
    body += grid == 0 ? "" : " else ";
    if (launch != group.back())
      body += llvm::formatv("if (item < {0}) ", grid + launch.getGrid());
    body += "{\n    " + text.call(launch, llvm::formatv("item - {0}", grid)) + "\n  }";
    grid += static_cast<int64_t>(launch.getGrid());
  }
  return finish(group, group.front(), text, body + "\n", grid, "launches in one");
}

LaunchOp MergedKernels::oneAfterAnother(ArrayRef<LaunchOp> group) {
  Text text;
  std::string body;
  SmallVector<Access> unseen; // by threads other than those that did it
  bool usesShared = false;
  for (LaunchOp launch : group) {
    const SmallVector<Access> own = accessesOf(launch);
    for (uint64_t item = 0; item < launch.getGrid(); ++item) {
      const bool needsShared = launch.getScratchBytes() > 0;
      if ((item == 0 && conflict(own, unseen)) || (usesShared && needsShared)) {
        body += "  blockBarrier();\n";
        unseen.clear(), usesShared = false;
      }
      body += "  " + text.call(launch, std::to_string(item)) + "\n";
      usesShared |= needsShared;
    }
    llvm::append_range(unseen, own);
  }
  return finish(group, group.back(), text, body, 1, "launches in one block");
}

LaunchOp MergedKernels::finish(ArrayRef<LaunchOp> group, LaunchOp place, const Text &text,
                               const std::string &body, int64_t grid, StringRef how) {
  LaunchOp head = group.front();
  LaunchConfiguration configuration{static_cast<int64_t>(head.getThreads()), 0};
  std::string names;
  for (LaunchOp launch : group) {
    configuration.scratchBytes =
        std::max(configuration.scratchBytes, static_cast<int64_t>(launch.getScratchBytes()));
    names += (launch == head ? "" : ", ") + launch.getSource().str();
  }
  OpBuilder builder(place);
  auto result = LaunchOp::create(
      builder, head.getLoc(), add(text.parameters() + ") {\n" + body + "}\n", text.functions()),
      grid, text.operands(),
      llvm::formatv("{0} {1} ({2})", group.size(), how, StringRef(names).take_front(160)).str(),
      /*constants=*/{}, configuration, text.writes());
  result.setGenerated(true);
  for (LaunchOp launch : group)
    launch.erase();
  return result;
}

std::string MergedKernels::add(const std::string &text, ArrayRef<StringRef> called) {
  auto [entry, inserted] = kernels.try_emplace(text);
  if (!inserted)
    return entry->second;
  entry->second = "merged_" + std::to_string(sources++);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  KernelSourceOp::create(builder, module.getLoc(), entry->second,
                         "HYBRID_DEVICE void " + entry->second + "(int64_t item" + text,
                         builder.getStrArrayAttr(called));
  return entry->second;
}

} // namespace hybrid::cuda
