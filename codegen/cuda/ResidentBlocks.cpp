//===- ResidentBlocks.cpp - how many blocks share a multiprocessor ----------===//
#include "codegen/cuda/ResidentBlocks.h"

namespace hybrid::cuda {

namespace {
struct Row {
  llvm::StringLiteral kernel, element, fields;
  int64_t threads, sharedBytes, blocks;
};
constexpr Row rows[] = {
#include "codegen/cuda/ResidentBlocks.inc"
};
} // namespace

/// "hasSkip hasGateIn" of "FFTConvParams{.batch = 1, ..., .hasSkip = 1, .hasGateIn = 1}".
static std::string fieldsThatAre(llvm::StringRef arguments) {
  std::string fields;
  for (auto [field, rest] = arguments.split(".has"); !rest.empty();
       std::tie(field, rest) = rest.split(".has"))
    if (auto [name, value] = rest.split(" = ");
        value.take_until([](char c) { return c == ',' || c == '}'; }) == "1")
      fields += (fields.empty() ? "has" : " has") + name.str();
  return fields;
}

int64_t residentBlocks(LaunchOp launch) {
  auto [kernel, arguments] = launch.getKernel().split('<');
  const llvm::StringRef element = arguments.take_until([](char c) { return c == ','; });
  std::string fields = fieldsThatAre(arguments);
  if (!launch.getRounded().empty()) // activations in bf16 are other code
    fields += fields.empty() ? "rounded" : " rounded";
  if (!launch.getRowFunction().empty())
    fields += fields.empty() ? "rows" : " rows";
  for (const Row &row : rows)
    if (row.kernel == kernel && row.element == element && row.fields == fields &&
        row.threads == static_cast<int64_t>(launch.getThreads()) &&
        row.sharedBytes == static_cast<int64_t>(launch.getScratchBytes()))
      return row.blocks;
  return 1;
}

} // namespace hybrid::cuda
