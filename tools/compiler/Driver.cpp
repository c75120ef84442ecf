//===- Driver.cpp - what hybridc does with its command line -----------------===//
#include "tools/compiler/Driver.h"
#include "codegen/CheckLimits.h"
#include "codegen/CostReport.h"
#include "codegen/DeviceTarget.h"
#include "codegen/Dialects.h"
#include "codegen/Writer.h"
#include "dialect/schedule/ScheduleOps.h"
#include "executable/KeyFile.h"
#include "executable/OptimizerShards.h"
#include "executable/OutputFile.h"
#include "executable/Printable.h"
#include "executable/SequenceRanks.h"
#include "frontends/dsl/Frontend.h"
#include "frontends/dsl/ModalFilters.h"
#include "frontends/dsl/Source.h"
#include "frontends/onnx/Import.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "passes/BatchRows.h"
#include "passes/Passes.h"
#include "passes/SequenceAxes.h"
#include "tools/compiler/Describe.h"
#include "tools/compiler/ExportOnnx.h"
#include "tools/compiler/ImportOnnx.h"
#include "tools/compiler/MemoryBudget.h"
#include "tools/compiler/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/xxhash.h"
#include <chrono>

using namespace mlir;

namespace hybrid {
namespace {

/// Most bytes of IR that is read: constants may stand in it.
constexpr uint64_t mostIrBytes = uint64_t(1) << 30;

bool writeFile(const std::string &path, llvm::ArrayRef<char> bytes) {
  if (path == "-") {
    llvm::outs().write(bytes.data(), bytes.size());
    return true;
  }
  std::string error = writeOutputFile(path, llvm::StringRef(bytes.data(), bytes.size()));
  if (error.empty())
    return true;
  complain() << error << '\n';
  return false;
}

class Compilation {
public:
  explicit Compilation(const DriverOptions &options) : options(options) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(false);
    // Compiling one small module: threads cost more than they give.
    context.disableMultithreading();
    dslOptions.importPaths = libraryFolders(options.importPaths);
    dslOptions.model = options.model;
    if (!options.decode) // nothing is trained
      dslOptions.optimizers = options.optimizers;
  }

  int run() {
    std::string complaint;
    deviceTarget = createTarget(options.target, complaint);
    if (!deviceTarget) {
      complain() << "--target=" << options.target << ": " << complaint << '\n';
      return 2;
    }
    for (const std::string &setting : options.settings) {
      size_t equals = setting.find('=');
      if (equals == std::string::npos || equals == 0) {
        complain() << "--set " << setting << ": expected NAME=VALUE\n";
        return 2;
      }
      dslOptions.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
    }
    std::string reason;
    const uint64_t most = isOnnx()   ? onnx::frontend::mostModelBytes
                          : isMlir() ? mostIrBytes
                                     : dsl::mostSourceBytes;
    std::unique_ptr<llvm::MemoryBuffer> file = dsl::readSource(options.input, most, reason);
    if (!file) {
      complain() << "cannot read '" << printable(options.input) << "': " << reason << '\n';
      return 1;
    }
    if (isOnnx()) // no text, of which messages would show lines
      foreign = std::move(file);
    else
      source = file->getBuffer().str();
    if (file)
      sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
    PrintableStream messages(llvm::errs());
    SourceMgrDiagnosticHandler handler(sources, &context, messages);
    if (options.describe)
      return describe();
    if (options.choices || options.choicesJson)
      return describeChoices();
    if (options.modalFilters)
      return printWithModalFilters();
    OwningOpRef<ModuleOp> module = load();
    if (!module || (!options.dependencies.empty() && !writeDependencies()))
      return 1;
    return compile(*module);
  }

private:
  bool isMlir() const { return llvm::StringRef(options.input).ends_with(".mlir"); }
  bool isOnnx() const { return llvm::StringRef(options.input).ends_with(".onnx"); }

  int printWithModalFilters() {
    if (isMlir() || isOnnx()) {
      complain() << "--modal-filters: expected a .hyb, whose text can be changed\n";
      return 2;
    }
    const std::optional<std::string> text =
        dsl::withModalFilters(sources, context, dslOptions, options.modalFilters);
    return text && writeFile(outputPath(""), llvm::ArrayRef(text->data(), text->size())) ? 0 : 1;
  }

  OwningOpRef<ModuleOp> load() {
    if (isOnnx()) {
      files.read.push_back(
          {options.input, llvm::sys::path::filename(options.input).str(), foreign->getBuffer()});
      return importOnnx(context, foreign->getBuffer(), dslOptions.settings, options, weights);
    }
    if (!isMlir())
      return dsl::compileFile(sources, context, dslOptions, files);
    files.read.push_back({options.input, llvm::sys::path::filename(options.input).str(), source});
    return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  }

  /// What the output depends on, for --dependencies.
  bool writeDependencies() {
    llvm::json::Array read, absent;
    for (const dsl::ReadFile &file : files.read)
      read.push_back(llvm::json::Object{
          {"path", file.path},
          {"name", file.name},
          {"hash", llvm::formatv("{0:x-16}", llvm::xxh3_64bits(file.text)).str()}});
    for (const std::string &path : files.absent)
      absent.push_back(path);
    const std::string text =
        llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{
                                     {"read", std::move(read)}, {"absent", std::move(absent)}}));
    return writeFile(options.dependencies, llvm::ArrayRef(text.data(), text.size()));
  }

  int describe() {
    return report("--help-model", "parameters", dsl::describeModel, options.describeJson, jsonOf,
                  print);
  }

  int describeChoices() {
    return report("--choices", "choices", dsl::describeSpace, options.choicesJson, jsonOf, print);
  }

  /// Prints what `describe` says of a model's page, as JSON or for people.
  template <typename About>
  int report(const char *flag, const char *what,
             std::optional<About> (*describe)(llvm::SourceMgr &, MLIRContext &,
                                              const dsl::Options &),
             bool asJson, llvm::json::Value (*toJson)(const About &),
             void (*print)(const About &)) {
    if (isMlir() || isOnnx()) {
      complain() << flag << ": '" << options.input << "' is " << (isOnnx() ? "an ONNX model" : "IR")
                 << ", which has no " << what << " left; expected a .hyb file\n";
      return 2;
    }
    std::optional<About> about = describe(sources, context, dslOptions);
    if (!about)
      return 1;
    if (asJson)
      llvm::outs() << llvm::formatv("{0:2}", toJson(*about)) << '\n';
    else
      print(*about);
    return 0;
  }

  static llvm::json::Value jsonOf(const dsl::ModelDescription &model) {
    llvm::json::Array parameters;
    for (const dsl::ModelParameter &each : model.parameters)
      parameters.push_back(llvm::json::Object{
          {"name", each.name},
          {"type", each.type},
          {"default", each.defaultText ? llvm::json::Value(*each.defaultText) : nullptr}});
    return llvm::json::Object{{"model", model.name},
                              {"documentation", model.documentation},
                              {"parameters", std::move(parameters)}};
  }

  static void print(const dsl::ModelDescription &model) {
    llvm::outs() << "model " << model.name << '\n';
    if (!model.documentation.empty())
      llvm::outs() << model.documentation << '\n';
    for (const dsl::ModelParameter &parameter : model.parameters)
      llvm::outs() << "  --set " << parameter.name << "="
                   << (parameter.defaultText ? *parameter.defaultText : "...") << "  ("
                   << parameter.type << (parameter.defaultText ? ")\n" : ", required)\n");
  }

  static llvm::json::Value jsonOf(const dsl::ModelSpace &space) {
    llvm::json::Array choices;
    for (const dsl::ModelChoice &choice : space.choices) {
      llvm::json::Array entries;
      for (const dsl::ModelOption &option : choice.options)
        entries.push_back(
            llvm::json::Object{{"setting", option.setting}, {"source", option.source}});
      choices.push_back(llvm::json::Object{{"name", choice.name},
                                           {"type", choice.type},
                                           {"offset", choice.offset},
                                           {"bytes", choice.bytes},
                                           {"options", std::move(entries)}});
    }
    return llvm::json::Object{
        {"model", space.model}, {"points", space.points}, {"choices", std::move(choices)}};
  }

  static void print(const dsl::ModelSpace &space) {
    llvm::outs() << "model " << space.model << ": " << space.points
                 << (space.points == 1 ? " point\n" : " points\n");
    for (const dsl::ModelChoice &choice : space.choices) {
      llvm::outs() << "  " << choice.name << ": " << choice.type << ", " << choice.options.size()
                   << (choice.options.size() == 1 ? " option: " : " options: ");
      constexpr size_t shown = 16;
      for (size_t i = 0; i < std::min(choice.options.size(), shown); ++i)
        llvm::outs() << (i ? ", " : "") << choice.options[i].source;
      llvm::outs() << (choice.options.size() > shown ? ", ...\n" : "\n");
    }
  }

  /// Puts the seal behind an executable, with this user's signature.
  static void seal(std::vector<char> &bytes) {
    std::string fault;
    const std::optional<Key> key = signingKey(fault);
    if (!key)
      llvm::errs() << "warning: the executable is not signed, and will run with --trust only: "
                   << fault << '\n';
    const auto seal = makeSeal(std::as_bytes(std::span(bytes)), key);
    const auto *begin = reinterpret_cast<const char *>(seal.data());
    bytes.insert(bytes.end(), begin, begin + seal.size());
  }

  static bool isStage(llvm::StringRef stage, const DeviceTarget &target, bool rounded) {
    static const llvm::StringRef graph[] = {"hybrid", "specialized", "grad",
                                            "fused",  "onnx",        "onnx-text"};
    return llvm::is_contained(graph, stage) || llvm::is_contained(target.stages(), stage) ||
           llvm::any_of(target.scheduleStages(true, rounded),
                        [&](const ScheduleStage &pass) { return pass.name == stage; });
  }

  LogicalResult runPasses(ModuleOp module, llvm::function_ref<void(PassManager &)> build) {
    PassManager manager(&context);
    build(manager);
    return manager.run(module);
  }

  /// The same for two models that compute the same with parameters of the same names.
  static std::string fingerprintOf(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(text)).str();
  }

  int print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    stream << '\n';
    return writeFile(outputPath(""), llvm::ArrayRef(text.data(), text.size())) ? 0 : 1;
  }

  void report(llvm::StringRef what) {
    if (!options.verbose)
      return;
    auto now = std::chrono::steady_clock::now();
    llvm::errs() << llvm::format("%7.1f ms  ",
                                 std::chrono::duration<double, std::milli>(now - last).count())
                 << what << '\n';
    last = now;
  }

  /// The dimensions of each input: sizes, and names of those that are free.
  static llvm::json::Object dimensionsOf(func::FuncOp forward) {
    llvm::json::Object inputs;
    for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
      auto name = forward.getArgAttrOfType<StringAttr>(i, "hybrid.name");
      auto type = dyn_cast<RankedTensorType>(forward.getArgumentTypes()[i]);
      if (!name || !type)
        continue;
      auto names = forward.getArgAttrOfType<ArrayAttr>(i, "hybrid.dims");
      llvm::json::Array dimensions;
      for (auto [dimension, size] : llvm::enumerate(type.getShape()))
        if (ShapedType::isStatic(size))
          dimensions.push_back(size);
        else if (auto free = names ? dyn_cast<StringAttr>(names[dimension]) : StringAttr())
          dimensions.push_back(free.getValue());
      inputs[name.getValue()] = std::move(dimensions);
    }
    return inputs;
  }

  /// Adds the state of a sequence and whether the model is causal.
  LogicalResult addSequence(ModuleOp module, const CompileOptions &bound,
                            llvm::json::Object &cost) {
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward)
      return success();
    const SmallVector<int64_t> sequence = sequenceDimensions(forward);
    llvm::json::Object inputs = dimensionsOf(forward);
    OwningOpRef<ModuleOp> sized(module.clone());
    if (failed(runPasses(*sized, [&](PassManager &manager) {
          manager.addPass(createSpecialize({bound.batch, bound.length, bound.precision}));
        })))
      return failure();
    forward = sized->lookupSymbol<func::FuncOp>("forward");
    addState(forward, sequence, cost);
    llvm::json::Object causality = describeCausality(forward, sequence);
    causality["inputs"] = std::move(inputs);
    cost["causality"] = std::move(causality);
    return success();
  }

  /// For --data-parallel: that no sequence of a batch has a part in another.
  LogicalResult checkRows(ModuleOp module, const CompileOptions &bound) {
    OwningOpRef<ModuleOp> sized(module.clone());
    if (failed(runPasses(*sized, [&](PassManager &manager) {
          manager.addPass(createSpecialize({bound.batch, bound.length, bound.precision}));
        })))
      return failure();
    auto forward = sized->lookupSymbol<func::FuncOp>("forward");
    return forward ? checkRowsAreAlone(forward) : success();
  }

  /// For --strict: whether every layer has terms of the method; it says which have none.
  bool allPublished(const llvm::json::Object &cost) const {
    const llvm::json::Array &without =
        *cost.getObject("published")->getArray("layers_without_terms");
    for (const llvm::json::Value &layer : without)
      complain() << "--strict: " << printable(layer.getAsString().value_or("").str())
                 << " publishes no term of '" << options.costMethod << "'\n";
    return without.empty();
  }

  /// Prints whether an output can depend on later positions of the input.
  int printCausality(ModuleOp module, const CompileOptions &bound) {
    llvm::json::Object cost;
    if (!module.lookupSymbol<func::FuncOp>("forward")) {
      complain() << "--causality: '" << options.input
                 << "' has no graph to look at: give the .hyb\n";
      return 1;
    }
    if (failed(addSequence(module, bound, cost)))
      return 1;
    const llvm::json::Object &causality = *cost.getObject("causality");
    if (options.causalityJson)
      llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object(causality)))
                   << '\n';
    else
      llvm::outs() << causalityText(causality) << '\n';
    return 0;
  }

  int writeOnnx(ModuleOp module, const CompileOptions &bound, bool asText) {
    if (options.precision == "bf16") {
      complain() << "--precision=bf16: products are rounded as a kernel is made, and ONNX is "
                    "written before; expected f32 or f64\n";
      return 2;
    }
    if (options.replicas > 1) {
      complain() << "--ensemble: an ONNX model is of one training, expected 1\n";
      return 2;
    }
    const std::string path = outputPath(asText ? "" : "onnx");
    if (options.externalData && (asText || path == "-" || options.checkpoint.empty())) {
      complain() << "--external-data: puts the weights of a --checkpoint beside the file of "
                    "--emit=onnx; expected both, and no standard output\n";
      return 2;
    }
    if (isInput(path)) {
      complain() << "the model would take the place of its input, '" << printable(path)
                 << "': expected another file, by -o\n";
      return 2;
    }
    FailureOr<std::string> bytes =
        exportOnnx(module, bound,
                   {options.checkpoint, options.operatorSet, compilerVersion(), asText,
                    options.externalData ? path + ".data" : ""});
    if (failed(bytes))
      return 1;
    return writeFile(path, llvm::ArrayRef(bytes->data(), bytes->size())) ? 0 : 1;
  }

  /// Where the result goes: by default beside the input, or to standard output without `extension`.
  std::string outputPath(llvm::StringRef extension) const {
    if (!options.output.empty() || extension.empty())
      return options.output.empty() ? "-" : options.output;
    llvm::SmallString<256> path(options.input == "-" ? "model" : options.input);
    llvm::sys::path::replace_extension(path, extension);
    return path.str().str();
  }

  bool isInput(llvm::StringRef path) const {
    bool same = false;
    return !llvm::sys::fs::equivalent(options.input, path, same) && same;
  }

  int compile(ModuleOp module) {
    DeviceTarget *target = deviceTarget.get();
    report("front end");
    const std::string &stage = options.emit;
    if (options.attention == "cudnn" &&
        (options.precision != "bf16" || !target->chooseAttention("cudnn"))) {
      complain() << "--attention=cudnn: cuDNN computes attention in bf16 on GPUs, expected "
                    "--target=cuda and --precision=bf16\n";
      return 2;
    }
    target->chooseAttention(options.attention);
    if (!target->chooseTransforms(options.transforms) && options.transforms == "cufft") {
      complain() << "--transforms=cufft: cuFFT runs on GPUs, expected --target=cuda\n";
      return 2;
    }
    if (!target->chooseProducts(options.products) && options.products == "cublaslt") {
      complain() << "--small-products=cublaslt: cuBLASLt runs on GPUs, expected --target=cuda\n";
      return 2;
    }
    RankOptions ranks{options.reduction, options.sequenceRanks > 1};
    if (!options.shards.empty())
      ranks.shards = options.shards == "state" ? RankOptions::Shards::OptimizerState
                                               : RankOptions::Shards::Parameters;
    if (std::string refused = target->chooseRanks(ranks); !refused.empty()) {
      complain() << (!options.shards.empty() ? "--shard-optimizer" : "--data-parallel") << ": "
                 << refused << "\n";
      return 2;
    }
    if (!isStage(stage, *target, options.precision == "bf16" && target->hasBf16())) {
      complain() << "--emit=" << stage << ": " << target->name() << " has no such stage\n";
      return 2;
    }
    CompileOptions bound{options.batch, options.length, options.precision};
    bound.sequenceRanks = options.sequenceRanks;
    bound.chunked = options.chunked;
    bound.decode = options.decode;
    bound.longestConvolution = target->longestConvolution(options.precision == "f64");
    bound.shareRepeats = target->sharesRepeats();
    std::string products = options.precision;
    if (options.precision == "bf16") {
      bound.precision = "f32";
      bound.roundProducts = target->hasBf16();
      bound.chainProducts = target->chainsProducts();
      bound.joinProducts = target->joinsProducts();
      bound.fewRows = target->mostRowsOfBf16();
      products = target->hasBf16() ? "bf16" : "f32";
      llvm::errs() << "precision: " << target->describeBf16(options.decode) << '\n';
    }
    if (options.causality || options.causalityJson)
      return printCausality(module, bound);
    auto graph = [&](GraphStage last) {
      return runPasses(module,
                       [&](PassManager &manager) { buildGraphPipeline(manager, bound, last); });
    };
    if (stage == "hybrid")
      return print(module);
    if (llvm::StringRef(stage).starts_with("onnx"))
      return writeOnnx(module, bound, stage == "onnx-text");
    if (!options.checkpoint.empty() || options.externalData) {
      complain() << (options.externalData ? "--external-data" : "--checkpoint")
                 << ": an executable holds no weights, expected --emit=onnx\n";
      return 2;
    }
    bool costOnly = (options.cost || options.costJson);
    if (stage == "specialized" || stage == "grad" || (stage == "fused" && options.memory == 0)) {
      GraphStage last = stage == "grad"    ? GraphStage::Gradient
                        : stage == "fused" ? GraphStage::Fused
                                           : GraphStage::Specialized;
      if (failed(graph(last)) ||
          (stage == "fused" &&
           failed(runPasses(module, [&](PassManager &manager) { target->addTiling(manager); }))))
        return 1;
      return print(module);
    }
    // Costs are counted before fusion changes the ops, on the program as it was written.
    llvm::json::Object cost;
    const uint64_t threads =
        options.threads > 0 ? options.threads : llvm::hardware_concurrency().compute_thread_count();
    Scheduled scheduled;
    if (auto programs = module.getOps<ProgramOp>(); !programs.empty()) {
      if (costOnly) {
        complain() << "--cost: '" << options.input
                   << "' is scheduled already, and what it costs is counted on the model: give "
                      "the .hyb\n";
        return 1;
      }
      if (llvm::any_of(programs, [](ProgramOp op) { return !op.getArenaBytes(); })) {
        complain() << "'" << options.input
                   << "' stopped on its way to a schedule: hybrid-opt runs what is left\n";
        return 1;
      }
      if (options.memory > 0) {
        complain() << "--memory: '" << options.input << "' is scheduled already\n";
        return 1;
      }
      if (failed(runPasses(module, [&](PassManager &manager) {
            manager.addPass(createEnsemble({options.replicas}));
          })))
        return 1;
      report("already scheduled");
    } else {
      std::string fingerprint = options.costJson ? fingerprintOf(module) : "";
      OwningOpRef<ModuleOp> specialized(module.clone());
      if (failed(runPasses(*specialized, [&](PassManager &manager) {
            buildGraphPipeline(manager, bound, GraphStage::Specialized);
          })))
        return 1;
      if (!options.reduction.empty() && failed(checkRows(module, bound)))
        return 1;
      cost = costOf(*specialized);
      if (failed(addSequence(module, bound, cost)))
        return 1;
      if (options.costJson)
        cost["program"] = fingerprint;
      if (costOnly && options.costMethod != "true" &&
          (failed(addPublished(module, options.costMethod, options.length, cost)) ||
           (options.strict && !allPublished(cost))))
        return 1;
      OwningOpRef<ModuleOp> unfused(module.clone());
      CompileOptions asWritten = bound;
      asWritten.fuse = false;
      if (failed(runPasses(*unfused, [&](PassManager &manager) {
            buildGraphPipeline(manager, asWritten, GraphStage::Gradient);
          })))
        return 1;
      if (failed(graph(GraphStage::Fused)))
        return 1;
      report("graph passes");
      std::string refusal;
      FailureOr<Scheduled> within = scheduleWithin(
          module, *target, bound.roundProducts, options.replicas, options.memory, threads, refusal);
      if (failed(within)) {
        if (!refusal.empty())
          complain() << refusal;
        return 1;
      }
      report("schedule");
      scheduled = std::move(*within);
      addTraffic(trafficOf(*unfused), trafficOf(*scheduled.functions), cost);
      module = *scheduled.programs;
      addMemory(module, scheduled.plan, cost);
    }
    if (stage != "schedule" && !llvm::is_contained(target->stages(), stage)) {
      if (!scheduled.functions) {
        complain() << "--emit=" << stage << ": '" << options.input << "' is scheduled already\n";
        return 1;
      }
      auto upTo = [&](PassManager &manager) {
        target->addSchedule(manager, scheduled.keepSpectra, bound.roundProducts, stage);
      };
      if (stage != "fused" && failed(runPasses(*scheduled.functions, upTo)))
        return 1;
      return print(*scheduled.functions);
    }
    if (costOnly) {
      if (options.costJson)
        llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(cost))) << '\n';
      else
        printCost(cost, llvm::outs());
      return 0;
    }
    if (stage == "schedule")
      return print(module);

    if (failed(checkLimits(module, *target)))
      return 1;
    FailureOr<Code> code = target->compile(module, stage);
    if (failed(code))
      return 1;
    report("kernels for " + target->name());
    if (stage != target->stages().back())
      return writeFile(options.output.empty() ? "-" : options.output,
                       llvm::ArrayRef(code->text.data(), code->text.size()))
                 ? 0
                 : 1;

    Provenance provenance;
    provenance.compiler = compilerVersion();
    if (auto name = module->getAttrOfType<StringAttr>("hybrid.model"))
      provenance.model = name.str();
    for (const dsl::ReadFile &file : files.read)
      provenance.sources.push_back({file.path, file.name, file.text.str()});
    auto &said = provenance.options;
    said = {{"batch", std::to_string(options.batch)},
            {"length", std::to_string(options.length)},
            {"precision", options.precision},
            {"products", products}};
    if (options.attention != "auto")
      said.push_back({"attention", options.attention});
    if (options.transforms != "auto")
      said.push_back({"transforms", options.transforms});
    if (options.products != "auto")
      said.push_back({"small-products", options.products});
    provenance.memoryBudget = options.memory;
    if (options.memory > 0)
      said.push_back({"memory", std::to_string(options.memory)});
    if (options.replicas > 1)
      said.push_back({"ensemble", std::to_string(options.replicas)});
    if (!options.reduction.empty())
      said.push_back({"data-parallel", options.reduction});
    if (options.sequenceRanks > 1)
      said.push_back({sequenceRanksSetting, std::to_string(options.sequenceRanks)});
    if (!options.shards.empty())
      said.push_back({optimizerShardsSetting, options.shards});
    if (options.chunked)
      said.push_back({"chunked", "true"});
    if (options.decode)
      said.push_back({"decode", "true"});
    if (!options.optimizers.empty()) // a line each
      said.push_back({"optimizer", llvm::join(options.optimizers, "\n")});
    for (const std::string &setting : options.settings)
      provenance.parameters.push_back(
          {setting.substr(0, setting.find('=')), setting.substr(setting.find('=') + 1)});
    llvm::raw_string_ostream(provenance.cost) << llvm::json::Value(std::move(cost));
    std::vector<char> bytes = writeExecutable(module, *code, target->describe(), provenance);
    seal(bytes);
    bool written = (!isOnnx() || writeWeights(weights, outputPath("hyx"))) &&
                   writeFile(outputPath("hyx"), bytes);
    report("executable");
    return written ? 0 : 1;
  }

  DriverOptions options; // sizes become those of a model that has its own
  MLIRContext context{MLIRContext::Threading::DISABLED};
  llvm::SourceMgr sources;
  std::string source;
  std::unique_ptr<llvm::MemoryBuffer> foreign;
  std::vector<onnx::frontend::Weight> weights;
  dsl::FilesRead files;
  dsl::Options dslOptions;
  std::unique_ptr<DeviceTarget> deviceTarget;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

} // namespace

int runDriver(const DriverOptions &options) { return flushed(Compilation(options).run()); }

} // namespace hybrid
