//===- CostReport.cpp - parameters, FLOPs, state and memory of a model ------===//
#include "codegen/CostReport.h"
#include "dialect/Shapes.h"
#include "dialect/schedule/ScheduleOps.h"
#include "passes/SequenceAxes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace hybrid {
namespace {

double ratio(int64_t a, int64_t b) {
  return b ? static_cast<double>(a) / static_cast<double>(b) : 0.0;
}

/// The part of a parameter that one token meets: the largest that an op asks for.
int64_t activeElements(ParameterOp parameter) {
  int64_t all = elementCount(shapeOf(parameter)), active = 0;
  for (OpOperand &use : parameter->getUses()) {
    auto cost = dyn_cast<CostOp>(use.getOwner());
    active = std::max(active, cost ? cost.getActiveElements(use) : all);
  }
  return parameter->use_empty() ? all : active;
}

struct OpCost {
  int64_t count = 0, flops = 0, bytes = 0;
  StringRef formula;
};

struct ForwardCost {
  int64_t parameters = 0, trainable = 0, active = 0;
  int64_t flops = 0, bytes = 0, tokens = 0;
  llvm::MapVector<StringRef, OpCost> ops;

  void add(Operation *op);
};

void ForwardCost::add(Operation *op) {
  if (auto parameter = dyn_cast<ParameterOp>(op)) {
    int64_t size = elementCount(shapeOf(parameter));
    parameters += size;
    trainable += parameter.getTrainable() ? size : 0;
    active += activeElements(parameter);
  }
  if (auto cost = dyn_cast<CostOp>(op)) {
    OpCost &entry = ops[op->getName().stripDialect()];
    ++entry.count;
    entry.flops += cost.getFlops();
    entry.bytes += cost.getBytesMoved();
    entry.formula = cost.getFlopsFormula();
    flops += cost.getFlops();
    bytes += cost.getBytesMoved();
  }
}

} // namespace

llvm::json::Object costOf(ModuleOp module) {
  ForwardCost total;
  if (auto forward = module.lookupSymbol<func::FuncOp>("forward")) {
    if (forward.getNumArguments()) {
      ArrayRef<int64_t> input = shapeOf(forward.getArgument(0));
      total.tokens = input.size() >= 2 ? input[0] * input[1] : elementCount(input);
    }
    forward.walk([&](Operation *op) { total.add(op); });
  }
  llvm::json::Array perOp;
  for (auto &[name, cost] : total.ops)
    perOp.push_back(llvm::json::Object{{"op", name},
                                       {"count", cost.count},
                                       {"flops", cost.flops},
                                       {"formula", cost.formula},
                                       {"flops_per_token", ratio(cost.flops, total.tokens)},
                                       {"bytes", cost.bytes},
                                       {"flops_per_byte", ratio(cost.flops, cost.bytes)}});
  double perToken = ratio(total.flops, total.tokens);
  return llvm::json::Object{{"parameters", total.parameters},
                            {"trainable_parameters", total.trainable},
                            {"active_parameters", total.active},
                            {"forward_flops", total.flops},
                            {"tokens", total.tokens},
                            {"forward_flops_per_token", perToken},
                            {"training_flops_per_token", 3.0 * perToken},
                            {"forward_bytes", total.bytes},
                            {"flops_per_byte", ratio(total.flops, total.bytes)},
                            {"ops", std::move(perOp)}};
}

void addMemory(ModuleOp scheduled, const MemoryPlan &plan, llvm::json::Object &cost) {
  const SessionMemory &memory = plan.training;
  llvm::json::Object arenas;
  for (auto program : scheduled.getOps<ProgramOp>())
    arenas[program.getSymName()] = static_cast<int64_t>(program.getArenaBytes().value_or(0));
  // What programs need by themselves. A model with a loss of its own is trained through its vjp.
  int64_t copies = memory.onGpu ? static_cast<int64_t>(plan.replicas) : 1;
  int64_t inference = copies * arenas.getInteger("forward").value_or(0);
  int64_t training = copies * arenas.getInteger(arenas.get("train") ? "train" : "vjp").value_or(0);
  auto weights = static_cast<int64_t>(memory.parameters + memory.constants),
       optimizer = static_cast<int64_t>(memory.gradients + memory.moments);
  llvm::json::Array largest;
  for (const MemoryPlan::Part &part : plan.largest)
    largest.push_back(
        llvm::json::Object{{"op", part.op}, {"location", part.location}, {"bytes", part.bytes}});
  llvm::json::Object session{{"optimizer_bytes", optimizer},
                             {"scratch_bytes_per_thread", memory.scratchPerThread},
                             {"threads", memory.threads},
                             {"replicas", plan.replicas},
                             {"burst_steps", memory.steps},
                             {"inference_activation_bytes", inference},
                             {"training_activation_bytes", training},
                             {"inference_peak_bytes", weights + inference},
                             {"training_peak_bytes", weights + optimizer + training},
                             {"arena_program", plan.program},
                             {"largest", std::move(largest)},
                             {"evaluation_bytes", plan.evaluation.total()},
                             {"total_bytes", memory.total()}};
  memory.visitParts([&](StringRef name, uint64_t bytes) { session[name] = bytes; });
  cost["arena_bytes"] = std::move(arenas);
  cost["memory"] = std::move(session);
}

StepTraffic trafficOf(ModuleOp module) {
  StepTraffic traffic;
  auto step = module.lookupSymbol<func::FuncOp>("train");
  if (!step)
    step = module.lookupSymbol<func::FuncOp>("vjp");
  if (!step)
    return traffic;
  for (Operation &op : step.getBody().front()) {
    int64_t flops = 0;
    op.walk([&](CostOp cost) { flops += cost.getFlops(); });
    traffic.flops += flops;
    if (op.hasAttr("hybrid.recomputed"))
      traffic.recomputedFlops += flops;
    // A fused region moves what it is given and what it gives, not what is inside.
    if (auto cost = dyn_cast<CostOp>(op))
      traffic.bytes += cost.getBytesMoved();
    else if (isa<BodyOp>(op))
      traffic.bytes += bytesOfTensors(&op);
  }
  return traffic;
}

void addTraffic(const StepTraffic &before, const StepTraffic &after, llvm::json::Object &cost) {
  cost["training_step"] = llvm::json::Object{{"bytes_as_written", before.bytes},
                                             {"bytes_fused", after.bytes},
                                             {"flops", after.flops},
                                             {"recomputed_flops", after.recomputedFlops}};
}

/// Where something is, for people: "model.hyb:12:17".
static std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location part) {
    auto line = dyn_cast<FileLineColLoc>(part);
    if (!line)
      return WalkResult::advance();
    place = llvm::formatv("{0}:{1}:{2}", line.getFilename().getValue(), line.getLine(),
                          line.getColumn());
    return WalkResult::interrupt();
  });
  return place;
}

/// The state that an op counts for as a paper counts it: of a long convolution that of its filter.
static std::optional<double> publishedStateOf(StatefulOp op, StringRef method) {
  auto numbersOf = [&](Operation *maker) -> std::optional<double> {
    auto counts = maker->getAttrOfType<DictionaryAttr>("hybrid.published_state");
    auto numbers = counts ? counts.getAs<FloatAttr>(method) : FloatAttr();
    return numbers ? std::optional<double>(numbers.getValueAsDouble()) : std::nullopt;
  };
  const auto channels = static_cast<double>(lastSize(op->getResult(0)));
  if (auto numbers = numbersOf(op))
    return *numbers * channels;
  for (Value operand : op->getOperands())
    for (Operation *maker = operand.getDefiningOp(); maker;
         maker = maker->getOperand(0).getDefiningOp()) {
      if (auto numbers = isa<StatefulOp>(maker) ? std::nullopt : numbersOf(maker))
        return *numbers * channels;
      if (!maker->hasTrait<ViewOfOperand>())
        break;
    }
  return std::nullopt;
}

void addState(func::FuncOp forward, ArrayRef<int64_t> sequence, llvm::json::Object &cost) {
  // What papers count: methods in the order in which they appear.
  llvm::MapVector<StringRef, std::pair<double, double>> methods; // fixed, growing
  forward.walk([&](Operation *op) {
    if (auto counts = op->getAttrOfType<DictionaryAttr>("hybrid.published_state"))
      for (NamedAttribute method : counts)
        methods.insert({method.getName().getValue(), {0, 0}});
  });
  SequenceState state = sequenceStateOf(forward, sequence, [&](StatefulOp op, int64_t times) {
    for (auto &[method, counted] : methods) {
      std::optional<double> numbers = publishedStateOf(op, method);
      const auto runs = static_cast<double>(times);
      if (numbers)
        counted.first += runs * *numbers;
      else if (!op.isShortBuffer())
        counted.first += runs * static_cast<double>(op.getFixedStateElements());
      if (!numbers)
        counted.second += runs * static_cast<double>(op.getDynamicStateElements());
    }
  });
  const bool known = state.unknown.empty();
  auto orNull = [&](auto count) { return known ? llvm::json::Value(count) : nullptr; };
  cost["fixed_state_elements"] = orNull(state.fixed);
  cost["dynamic_state_elements"] = orNull(state.dynamic);
  cost["short_buffer_elements"] = orNull(state.shortBuffers);
  if (!known)
    cost["state_unknown"] =
        llvm::json::Object{{"why", state.unknown}, {"location", placeOf(state.where)}};
  llvm::json::Array published;
  for (auto &[method, counted] : methods)
    if (known)
      published.push_back(
          llvm::json::Object{{"method", method},
                             {"fixed_state_elements", std::llround(counted.first)},
                             {"dynamic_state_elements", std::llround(counted.second)}});
  cost["published_states"] = std::move(published);
}

llvm::json::Object describeCausality(func::FuncOp forward, ArrayRef<int64_t> sequence) {
  const Causality causality = causalityOf(forward, sequence);
  llvm::json::Object described{{"causal", nullptr}};
  if (causality.answer != Causality::Answer::Unknown)
    described["causal"] = causality.answer == Causality::Answer::Causal;
  if (!causality.output.empty())
    described["output"] = causality.output;
  described["along"] = llvm::json::Array(causality.along);
  if (causality.answer == Causality::Answer::Causal)
    return described;
  described["location"] = placeOf(causality.where);
  if (causality.answer == Causality::Answer::SeesLater)
    described["sees_ahead"] =
        causality.all ? llvm::json::Value("all") : llvm::json::Value(causality.ahead);
  return described;
}

std::string causalityText(const llvm::json::Object &described) {
  auto field = [&](StringRef name) { return described.getString(name).value_or(""); };
  const std::string output = "output '" + field("output").str() + "'";
  if (described.getBoolean("causal").value_or(false))
    return field("output").empty()
               ? "causal: no output has positions"
               : "causal: " + output + " sees no position of the input behind its own";
  const std::string by = field("location").empty() ? "" : ", by " + field("location").str();
  if (!described.getBoolean("causal"))
    return "unknown: " + output + " may see later positions of the input" + by;
  const std::optional<int64_t> ahead = described.getInteger("sees_ahead");
  return "not causal: " + output + " sees " +
         (!ahead
              ? "all later positions"
              : std::to_string(*ahead) + (*ahead == 1 ? " later position" : " later positions")) +
         " of the input" + by;
}

LogicalResult addPublished(ModuleOp module, StringRef method, int64_t length,
                           llvm::json::Object &cost) {
  auto terms = module->getAttrOfType<ArrayAttr>("hybrid.published");
  llvm::SetVector<StringRef> known;
  llvm::json::Array listed;
  double total = 0, positions = static_cast<double>(length);
  for (Attribute attribute : terms ? terms.getValue() : ArrayRef<Attribute>()) {
    auto term = cast<DictionaryAttr>(attribute);
    auto text = [&](StringRef name) { return term.getAs<StringAttr>(name).getValue(); };
    known.insert(text("method"));
    if (text("method") != method)
      continue;
    double coefficient = term.getAs<FloatAttr>("coefficient").getValueAsDouble();
    int64_t power = term.getAs<IntegerAttr>("length").getInt(),
            logarithm = term.getAs<IntegerAttr>("log_length").getInt();
    double flops = coefficient * std::pow(positions, power) *
                   std::pow(std::log2(positions), static_cast<double>(logarithm));
    total += flops;
    listed.push_back(llvm::json::Object{{"layer", text("layer")},
                                        {"term", text("term")},
                                        {"coefficient", coefficient},
                                        {"length", power},
                                        {"log_length", logarithm},
                                        {"flops_per_sequence", flops}});
  }
  llvm::json::Array without;
  auto unpublished = module->getAttrOfType<ArrayAttr>("hybrid.unpublished");
  for (Attribute attribute : unpublished ? unpublished.getValue() : ArrayRef<Attribute>()) {
    auto layer = cast<DictionaryAttr>(attribute);
    if (layer.getAs<StringAttr>("method").getValue() == method)
      without.push_back(layer.getAs<StringAttr>("layer").getValue());
  }
  if (listed.empty())
    return module.emitError() << "--cost-method=" << method
                              << ": no layer of this model publishes terms of '" << method
                              << "'; expected true"
                              << (known.empty() ? "" : " or " + llvm::join(known, " or "));
  cost["published"] = llvm::json::Object{{"method", method},
                                         {"length", length},
                                         {"flops_per_sequence", total},
                                         {"flops_per_token", total / positions},
                                         {"training_flops_per_token", 3 * total / positions},
                                         {"layers_without_terms", std::move(without)},
                                         {"terms", std::move(listed)}};
  return success();
}

} // namespace hybrid
