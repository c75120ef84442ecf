//===- CostReport.cpp - parameters, FLOPs, state and memory of a model ------===//
#include "codegen/CostReport.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace hybrid {

llvm::json::Object costOf(ModuleOp module) {
  struct OpCost {
    int64_t count = 0, flops = 0;
    StringRef formula;
  };
  llvm::MapVector<StringRef, OpCost> ops;
  int64_t parameters = 0, trainable = 0, fixedState = 0, dynamicState = 0, flops = 0, tokens = 0;
  if (auto forward = module.lookupSymbol<func::FuncOp>("forward")) {
    if (forward.getNumArguments()) {
      ArrayRef<int64_t> input = shapeOf(forward.getArgument(0));
      tokens = input.size() >= 2 ? input[0] * input[1] : elementCount(input);
    }
    forward.walk([&](Operation *op) {
      if (auto parameter = dyn_cast<ParameterOp>(op)) {
        int64_t size = elementCount(shapeOf(parameter));
        parameters += size;
        trainable += parameter.getTrainable() ? size : 0;
      }
      if (auto cost = dyn_cast<CostOp>(op)) {
        OpCost &entry = ops[op->getName().stripDialect()];
        ++entry.count;
        entry.flops += cost.getFlops();
        entry.formula = cost.getFlopsFormula();
        flops += cost.getFlops();
      }
      if (auto stateful = dyn_cast<StatefulOp>(op)) {
        fixedState += stateful.getFixedStateElements();
        dynamicState += stateful.getDynamicStateElements();
      }
    });
  }
  llvm::json::Array perOp;
  for (auto &[name, cost] : ops)
    perOp.push_back(llvm::json::Object{
        {"op", name},
        {"count", cost.count},
        {"flops", cost.flops},
        {"formula", cost.formula},
        {"flops_per_token",
         tokens ? static_cast<double>(cost.flops) / static_cast<double>(tokens) : 0.0}});
  llvm::json::Object result{
      {"parameters", parameters},
      {"trainable_parameters", trainable},
      {"forward_flops", flops},
      {"tokens", tokens},
      {"forward_flops_per_token",
       tokens ? static_cast<double>(flops) / static_cast<double>(tokens) : 0.0},
      {"training_flops_per_token",
       tokens ? 3.0 * static_cast<double>(flops) / static_cast<double>(tokens) : 0.0},
      {"fixed_state_elements", fixedState},
      {"dynamic_state_elements", dynamicState},
      {"ops", std::move(perOp)}};
  llvm::json::Object arenas;
  for (auto program : module.getOps<ProgramOp>())
    arenas[program.getSymName()] = static_cast<int64_t>(program.getArenaBytes());
  if (!arenas.empty())
    result["arena_bytes"] = std::move(arenas);
  return result;
}

void printCost(const llvm::json::Object &cost, llvm::raw_ostream &stream) {
  auto integer = [&](StringRef name) { return cost.getInteger(name).value_or(0); };
  stream << "parameters             " << integer("parameters") << " ("
         << integer("trainable_parameters") << " trained)\n";
  stream << "forward FLOPs          " << integer("forward_flops") << " for " << integer("tokens")
         << " tokens\n";
  stream << "FLOPs a token          "
         << llvm::format("%.4g", cost.getNumber("forward_flops_per_token").value_or(0))
         << " forward, "
         << llvm::format("%.4g", cost.getNumber("training_flops_per_token").value_or(0))
         << " training (3 times forward)\n";
  stream << "state a sequence       " << integer("fixed_state_elements") << " fixed, "
         << integer("dynamic_state_elements") << " growing with the length (scalars)\n";
  if (const llvm::json::Object *arenas = cost.getObject("arena_bytes"))
    for (const auto &[name, bytes] : *arenas)
      stream << "arena of " << llvm::left_justify(name.str(), 13) << ' '
             << bytes.getAsInteger().value_or(0) << " bytes\n";
  stream << '\n'
         << llvm::left_justify("op", 16) << llvm::right_justify("count", 7)
         << llvm::right_justify("FLOPs a token", 16) << "  formula (all tokens)\n";
  for (const llvm::json::Value &value : *cost.getArray("ops")) {
    const llvm::json::Object &op = *value.getAsObject();
    stream << llvm::left_justify(op.getString("op").value_or(""), 16)
           << llvm::format("%7lld", static_cast<long long>(op.getInteger("count").value_or(0)))
           << llvm::format("%16.5g", op.getNumber("flops_per_token").value_or(0)) << "  "
           << op.getString("formula").value_or("") << '\n';
  }
}

} // namespace hybrid
