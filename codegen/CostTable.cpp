//===- CostTable.cpp - the cost report for people -----------------------------===//
#include "codegen/CostReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace hybrid {
namespace {

using llvm::StringRef;

class Table {
public:
  Table(const llvm::json::Object &cost, llvm::raw_ostream &stream) : cost(cost), stream(stream) {}
  void print();

private:
  static int64_t integer(const llvm::json::Object &object, StringRef name) {
    return object.getInteger(name).value_or(0);
  }
  static double number(const llvm::json::Object &object, StringRef name) {
    return object.getNumber(name).value_or(0);
  }
  llvm::raw_ostream &row(StringRef name) { return stream << llvm::left_justify(name, 23); }
  void state();
  void memory(const llvm::json::Object &memory);
  void session(const llvm::json::Object &memory);
  void step(const llvm::json::Object &step);
  void ops(const llvm::json::Array &ops);
  void published(const llvm::json::Object &published);
  static std::string power(const llvm::json::Object &term);

  const llvm::json::Object &cost;
  llvm::raw_ostream &stream;
};

void Table::state() {
  if (const llvm::json::Object *unknown = cost.getObject("state_unknown")) {
    row("state a sequence") << "unknown: " << unknown->getString("why").value_or("");
    if (StringRef place = unknown->getString("location").value_or(""); !place.empty())
      stream << ", " << place;
    stream << '\n';
    return;
  }
  row("state a sequence") << integer(cost, "fixed_state_elements") << " fixed, "
                          << integer(cost, "dynamic_state_elements") << " growing with the length, "
                          << integer(cost, "short_buffer_elements")
                          << " in buffers of short convolutions (scalars)\n";
  for (const llvm::json::Value &value : *cost.getArray("published_states")) {
    const llvm::json::Object &state = *value.getAsObject();
    row(("  as '" + state.getString("method").value_or("") + "' counts").str())
        << integer(state, "fixed_state_elements") << " fixed, "
        << integer(state, "dynamic_state_elements") << " growing with the length\n";
  }
}

void Table::memory(const llvm::json::Object &memory) {
  row("memory of weights") << integer(memory, "parameter_bytes") << " bytes, "
                           << integer(memory, "optimizer_bytes")
                           << " more of gradients and moments\n";
  row("memory of activations") << integer(memory, "inference_activation_bytes")
                               << " bytes forward, " << integer(memory, "training_activation_bytes")
                               << " training\n";
  row("peak memory") << integer(memory, "inference_peak_bytes") << " bytes forward, "
                     << integer(memory, "training_peak_bytes") << " training\n";
}

void Table::session(const llvm::json::Object &memory) {
  auto line = [&](StringRef name, int64_t bytes) -> llvm::raw_ostream & {
    return stream << llvm::left_justify(name, 16)
                  << llvm::format("%16lld", static_cast<long long>(bytes));
  };
  int64_t replicas = integer(memory, "replicas");
  stream << "\nmemory that a training session allocates, in bytes";
  if (replicas > 1)
    stream << ", for " << replicas << " replicas";
  stream << '\n';
  line("parameters", integer(memory, "parameter_bytes")) << '\n';
  line("gradients", integer(memory, "gradient_bytes")) << '\n';
  line("moments", integer(memory, "moment_bytes")) << '\n';
  line("constants", integer(memory, "constant_bytes")) << '\n';
  line("arena", integer(memory, "arena_bytes"))
      << "  of " << memory.getString("arena_program").value_or("") << ", where it is fullest\n";
  auto lineOf = [&](StringRef name, StringRef key, const llvm::Twine &more = "") {
    if (int64_t bytes = integer(memory, key))
      line(name, bytes) << more << '\n';
  };
  lineOf("ports", "port_bytes",
         llvm::Twine("  inputs and outputs") + (replicas > 1 ? " of every replica" : ""));
  int64_t threads = integer(memory, "threads");
  lineOf("scratch", "scratch_bytes",
         "  " + llvm::Twine(integer(memory, "scratch_bytes_per_thread")) + " a thread, " +
             llvm::Twine(threads) + (threads == 1 ? " thread" : " threads"));
  lineOf("tiles", "tile_bytes");
  lineOf("cuBLASLt", "library_bytes", "  workspaces of matrix products");
  lineOf("cuDNN", "attention_bytes", "  workspace of attention");
  lineOf("cuFFT", "transform_bytes", "  workspace of transforms, at most");
  lineOf("tables", "table_bytes",
         "  inputs and outputs of " + llvm::Twine(integer(memory, "burst_steps")) + " steps");
  line("total", integer(memory, "total_bytes")) << '\n';
  line("evaluation", integer(memory, "evaluation_bytes")) << "  of a session that does no more\n";
  for (const llvm::json::Value &value : *memory.getArray("largest")) {
    const llvm::json::Object &part = *value.getAsObject();
    line("  in the arena", integer(part, "bytes"))
        << "  " << part.getString("op").value_or("") << "  "
        << part.getString("location").value_or("") << '\n';
  }
}

void Table::step(const llvm::json::Object &step) {
  double flops = number(step, "flops"), again = number(step, "recomputed_flops");
  row("bytes a training step") << integer(step, "bytes_as_written") << " moved as written, "
                               << integer(step, "bytes_fused") << " after fusion\n";
  if (again > 0)
    row("recomputed") << llvm::format("%.3g", 100 * again / (flops - again))
                      << " % more FLOPs a training step, to stay in memory\n";
}

void Table::ops(const llvm::json::Array &ops) {
  stream << '\n'
         << llvm::left_justify("op", 16) << llvm::right_justify("count", 7)
         << llvm::right_justify("FLOPs a token", 16) << llvm::right_justify("FLOPs a byte", 15)
         << "  formula (all tokens)\n";
  for (const llvm::json::Value &value : ops) {
    const llvm::json::Object &op = *value.getAsObject();
    stream << llvm::left_justify(op.getString("op").value_or(""), 16)
           << llvm::format("%7lld", static_cast<long long>(integer(op, "count")))
           << llvm::format("%16.5g", number(op, "flops_per_token"))
           << llvm::format("%15.4g", number(op, "flops_per_byte")) << "  "
           << op.getString("formula").value_or("") << '\n';
  }
}

std::string Table::power(const llvm::json::Object &term) {
  std::string text;
  auto factor = [&](StringRef base, int64_t exponent) {
    if (exponent)
      text += ("·" + base + (exponent > 1 ? "^" + llvm::Twine(exponent) : llvm::Twine())).str();
  };
  factor("L", integer(term, "length"));
  factor("log2(L)", integer(term, "log_length"));
  return text;
}

void Table::published(const llvm::json::Object &published) {
  stream << "\nas '" << published.getString("method").value_or("")
         << "' counts, L = " << integer(published, "length") << ": "
         << llvm::format("%.5g", number(published, "flops_per_token")) << " forward FLOPs a token, "
         << llvm::format("%.5g", number(published, "training_flops_per_token"))
         << " training (3 times forward)\n";
  for (const llvm::json::Value &layer : *published.getArray("layers_without_terms"))
    stream << "not counted: " << layer.getAsString().value_or("")
           << ", which publishes no term of '" << published.getString("method").value_or("")
           << "'\n";
  stream << '\n'
         << llvm::left_justify("layer", 32) << llvm::left_justify("term", 24)
         << llvm::right_justify("FLOPs", 12) << "  formula (a sequence)\n";
  for (const llvm::json::Value &value : *published.getArray("terms")) {
    const llvm::json::Object &term = *value.getAsObject();
    stream << llvm::left_justify(term.getString("layer").value_or(""), 31) << ' '
           << llvm::left_justify(term.getString("term").value_or(""), 23) << ' '
           << llvm::format("%12.5g", number(term, "flops_per_sequence")) << "  "
           << llvm::format("%.12g", number(term, "coefficient")) << power(term) << '\n';
  }
}

void Table::print() {
  if (const llvm::json::Object *object = cost.getObject("memory");
      object && integer(*object, "replicas") > 1)
    row("replicas") << integer(*object, "replicas")
                    << "; memory is that of all, the rest that of one\n";
  row("parameters") << integer(cost, "parameters") << " (" << integer(cost, "trainable_parameters")
                    << " trained, " << integer(cost, "active_parameters") << " active a token)\n";
  row("forward FLOPs") << integer(cost, "forward_flops") << " for " << integer(cost, "tokens")
                       << " tokens, " << llvm::format("%.4g", number(cost, "flops_per_byte"))
                       << " a byte moved\n";
  row("FLOPs a token") << llvm::format("%.4g", number(cost, "forward_flops_per_token"))
                       << " forward, "
                       << llvm::format("%.4g", number(cost, "training_flops_per_token"))
                       << " training (3 times forward)\n";
  state();
  if (const llvm::json::Object *object = cost.getObject("memory"))
    memory(*object);
  if (const llvm::json::Object *object = cost.getObject("training_step"))
    step(*object);
  if (const llvm::json::Object *object = cost.getObject("published"))
    return published(*object);
  ops(*cost.getArray("ops"));
  if (const llvm::json::Object *object = cost.getObject("memory"))
    session(*object);
}

} // namespace

void printCost(const llvm::json::Object &cost, llvm::raw_ostream &stream) {
  Table(cost, stream).print();
}

} // namespace hybrid
