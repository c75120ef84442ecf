//===- hybridc.cpp - the compiler's command line ----------------------------===//
//
// Flags only; the work is in Driver.cpp. This file alone is built with exceptions, which CLI11
// uses.
//
//===----------------------------------------------------------------------===//
#include "executable/OutputFile.h"
#include "executable/ReplicaStride.h"
#include "tools/commandline/CommandLine.h"
#include "tools/compiler/ByteSize.h"
#include "tools/compiler/Describe.h"
#include "tools/compiler/Driver.h"
#include "tools/compiler/FormatFiles.h"
#include <cstdio>
#include <string>

using hybrid::tools::Range;

static int run(int argc, char **argv) {
  hybrid::DriverOptions options;
  CLI::App app{
      "hybridc compiles a model written in the Hybrid language (.hyb) to an executable (.hyx).\n\n"
      "  hybridc models/mad/striped-hyena-swiglu.hyb -o striped.hyx --batch 32 --length 128\n"
      "  hybridc models/mad/hyena-swiglu.hyb --set width=256 --cost\n"};
  app.set_version_flag("--version", hybrid::compilerVersion());
  hybrid::FormatOptions format;
  app.add_option("input", format.files,
                 "model file (.hyb), ONNX model (.onnx), IR of any stage (.mlir), or - for stdin; "
                 "--format takes several")
      ->required();
  app.add_option("-o,--output", options.output,
                 "output file (default: the input's name with .hyx; text stages go to stdout)");
  app.add_option(
         "--target", options.target,
         "cpu (this machine), cpu:x86-64-v2, cpu:x86-64-v3, cpu:x86-64-v4, cpu:x86-64-v4+bf16; "
         "cuda "
         "(sm_80, sm_90a, sm_100a if the toolkit knows it, and PTX for later GPUs), or cuda: with "
         "a list such as sm_80,sm_90a,compute_90")
      ->capture_default_str();
  app.add_option("--batch", options.batch, "sequences in a batch: the free dimension B")
      ->check(Range(int64_t(1), int64_t(1) << 24))
      ->capture_default_str();
  app.add_option("--length", options.length, "positions in a sequence: the free dimension L")
      ->check(Range(int64_t(1), int64_t(1) << 24))
      ->capture_default_str();
  app.add_flag(
      "--chunked", options.chunked,
      "add a program that takes a sequence in chunks of --length, each from the state that "
      "the one before has left");
  app.add_flag("--decode", options.decode,
               "make programs that take a sequence token by token and keep --length positions of "
               "what grows with it, in place of those that train")
      ->excludes(app.get_option("--chunked"));
  app.add_option("--modal-filters", options.modalFilters,
                 "only write the model's text with modal filters of so many states in the place of "
                 "its free ones (hybrid-run distill finds their parameters)")
      ->check(Range(int64_t(1), int64_t(1) << 16));
  app.add_option("--ensemble", options.replicas,
                 "independent trainings of the model that run as one program: each has its own "
                 "parameters, data, learning rate and weight decay")
      ->check(Range(int64_t(1), hybrid::mostReplicas))
      ->capture_default_str();
  std::string reduction;
  auto *dataParallel =
      app.add_option("--data-parallel", reduction,
                     "a training step is one of several ranks, each with a batch of its own, which "
                     "reduce their gradients as they are computed; sent as they are (f32), or with "
                     "--data-parallel=bf16 rounded")
          ->expected(0, 1)
          ->check(CLI::IsMember({"f32", "bf16"}))
          ->excludes(app.get_option("--decode"))
          ->excludes(app.get_option("--ensemble"));
  app.add_option(
         "--sequence-parallel", options.sequenceRanks,
         "every sequence is cut into parts, one for each of so many ranks: a program is that "
         "of a part, with its share of the memory; ranks hand states on and swap positions "
         "for heads. Implies --data-parallel")
      ->check(Range(int64_t(1), int64_t(1) << 16))
      ->excludes(app.get_option("--decode"))
      ->excludes(app.get_option("--chunked"))
      ->excludes(app.get_option("--ensemble"));
  app.add_flag("--shard-optimizer{state}", options.shards,
               "ranks share the optimizer's work: each has the state of a part of the parameters, "
               "and updates that (state); with --shard-optimizer=parameters that part is all it "
               "keeps, and parameters are gathered where they are used. Implies --data-parallel")
      ->check(CLI::IsMember({"state", "parameters"}))
      ->excludes(app.get_option("--decode"))
      ->excludes(app.get_option("--ensemble"));
  app.add_option("--precision", options.precision,
                 "f32; bf16: f32 with matrix products of bf16 operands, where the target has such "
                 "instructions; f64: to check gradients")
      ->check(CLI::IsMember({"f32", "bf16", "f64"}))
      ->capture_default_str();
  app.add_option("--attention", options.attention,
                 "who computes attention with --target=cuda --precision=bf16: cudnn, where it can; "
                 "own kernels, which need no cuDNN to run; auto: cudnn for heads of 64 and more "
                 "over more than 256 keys")
      ->check(CLI::IsMember({"auto", "cudnn", "own"}))
      ->capture_default_str();
  app.add_option("--transforms", options.transforms,
                 "who computes Fourier transforms with --target=cuda: cufft, also for long "
                 "convolutions; own kernels, which need no cuFFT to run; auto: cufft for rfft and "
                 "irfft of more than 256 points, and for convolutions that own kernels do not "
                 "reach")
      ->check(CLI::IsMember({"auto", "cufft", "own"}))
      ->capture_default_str();
  app.add_option("--small-products", options.products,
                 "who multiplies matrices of f32 with --target=cuda: cublaslt; auto: cublaslt but "
                 "for products of up to 2^18 terms, which own kernels compute")
      ->check(CLI::IsMember({"auto", "cublaslt"}))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--memory",
         [&](const std::string &text) {
           std::optional<int64_t> bytes = hybrid::parseByteSize(text);
           if (!bytes)
             throw CLI::ValidationError("--memory",
                                        "'" + text +
                                            "' is no size: expected a number and B, KiB, MiB, GiB, "
                                            "TiB, kB, MB, GB or TB, as in 2GiB");
           options.memory = *bytes;
         },
         "SIZE, such as 2GiB: what training may allocate; as much is computed again in the "
         "backward "
         "pass as that takes")
      ->type_name("SIZE");
  app.add_option("--threads", options.threads,
                 "threads that will run the model, each of which takes scratch memory; 0: this "
                 "machine's. Only --memory and --cost ask for it")
      ->check(Range(int64_t(0), int64_t(1024)))
      ->capture_default_str();
  app.add_option("--set", options.settings, "NAME=VALUE: a model parameter; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--optimizer", options.optimizers,
                 "[PATTERN=]LAYER: what updates the parameters of such names, a layer of the file "
                 "or of std.optimizers; the last one that takes a parameter has it, AdamW the "
                 "rest; may be repeated")
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "--freeze",
         [&](const std::vector<std::string> &patterns) {
           for (const std::string &pattern : patterns)
             options.optimizers.push_back(pattern + "=none");
         },
         "PATTERN (* ? [ab] {a,b}; ! in front: all others) of parameters that are not trained, as "
         "--optimizer PATTERN=none: they take neither gradients nor moments; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--model", options.model, "which model, when the file has several");
  app.add_option("-I,--models-dir", options.importPaths,
                 "folder that holds std/ (default: the library that came with hybridc)")
      ->allow_extra_args(false);
  app.add_option(
         "--dependencies", options.dependencies,
         "also write FILE: as JSON, every file that was read, with its hash, and those looked "
         "for in vain")
      ->type_name("FILE");
  app.add_option(
         "--emit", options.emit,
         "stop after a stage and print it; onnx: write the model for other programs, as ONNX")
      ->check(CLI::IsMember(hybrid::emitStages()))
      ->capture_default_str();
  app.add_option("--checkpoint", options.checkpoint,
                 "FILE: parameters (.safetensors) that --emit=onnx stores in the model; without it "
                 "they are inputs")
      ->type_name("FILE");
  app.add_flag(
      "--external-data", options.externalData,
      "put the weights of --emit=onnx into a file beside the model, FILE.data: needed from "
      "2 GiB on");
  app.add_option("--opset", options.operatorSet,
                 "version of ONNX's operators for --emit=onnx: 20, which every runtime has, or 27, "
                 "with operators for whole layers")
      ->check(CLI::IsMember({20, 27}))
      ->capture_default_str();
  /// What is printed instead of compiling, for people where no `format` is given.
  auto addReport = [&](const std::string &name, std::string &format, const char *forPeople,
                       const std::string &what) {
    return app.add_option(name, format, what + "; " + name + "=json for scripts")
        ->expected(0, 1)
        ->check(CLI::IsMember({forPeople, "json"}));
  };
  std::string cost;
  auto *costOption = addReport("--cost", cost, "table",
                               "print parameters, FLOPs, state and memory instead of compiling");
  app.add_option("--cost-method", options.costMethod,
                 "whose FLOPs --cost lists: true (as computed), or a paper's that the model's "
                 "layers publish, such as mad or hyena")
      ->capture_default_str();
  app.add_flag("--strict", options.strict,
               "fail where a layer publishes no terms of the --cost-method");
  std::string causality;
  auto *causalityOption =
      addReport("--causality", causality, "text",
                "print whether an output can depend on later positions of the input, then stop");
  std::string description;
  app.add_flag("--help-model", description,
               "print what the model is and its parameters, then stop; --help-model=json for "
               "scripts")
      ->check(CLI::IsMember({"true", "json"}));
  app.add_option_function<std::string>(
         "--help-op",
         [](const std::string &name) { throw CLI::RuntimeError(hybrid::describeOperator(name)); },
         "print how an operator of the language is called and what it means, then stop")
      ->type_name("NAME")
      ->trigger_on_parse();
  app.add_option_function<std::string>(
         "--help-layer",
         [&](const std::string &name) {
           // Parsed so far: this does not wait for the rest.
           throw CLI::RuntimeError(
               hybrid::describeLayer(name, app.get_option("--models-dir")->results()));
         },
         "print how a layer of the library is called and what it means, then stop; all: every "
         "layer, as Markdown")
      ->type_name("NAME")
      ->trigger_on_parse();
  app.add_flag_callback(
         "--toolkit", [] { throw CLI::RuntimeError(hybrid::describeToolkit()); },
         "print which CUDA toolkit compiles for GPUs here, and which drivers load its code, as "
         "JSON, then stop")
      ->trigger_on_parse();
  std::string choices;
  auto *choicesOption =
      addReport("--choices", choices, "table",
                "print the choices of the model and how many points they make, then stop");
  bool asFormatter = false;
  auto *formatFlag =
      app.add_flag("--format", asFormatter,
                   "write the files (.hyb) as the formatter lays them out, instead of compiling");
  auto *inPlace = app.add_flag("-i,--in-place", format.inPlace,
                               "with --format: over the files, not to standard output")
                      ->needs(formatFlag);
  app.add_flag("--check", format.check,
               "with --format: write nothing, and fail naming the files that would change")
      ->needs(formatFlag)
      ->excludes(inPlace);
  app.add_flag("-v,--verbose", options.verbose, "say what is done and how long it takes");
  int status = 0;
  if (!hybrid::tools::parseCommandLine(app, argc, argv, status))
    return status;
  if (asFormatter)
    return hybrid::formatFiles(format);
  if (format.files.size() > 1) {
    std::fprintf(stderr, "error: %zu files: only --format takes more than one\n",
                 format.files.size());
    return 2;
  }
  options.input = format.files.front();
  const bool overRanks =
      dataParallel->count() > 0 || options.sequenceRanks > 1 || !options.shards.empty();
  options.reduction = overRanks && reduction.empty() ? "f32" : reduction;
  options.describe = !description.empty();
  options.describeJson = description == "json";
  options.costJson = cost == "json";
  options.cost = costOption->count() > 0 && !options.costJson;
  options.causalityJson = causality == "json";
  options.causality = causalityOption->count() > 0 && !options.causalityJson;
  options.choicesJson = choices == "json";
  options.choices = choicesOption->count() > 0 && !options.choicesJson;
  return hybrid::runDriver(options);
}

int main(int argc, char **argv) {
  hybrid::letFullFilesBeErrors();
  // --help and --version; the driver flushes what it printed itself.
  return hybrid::finishStandardOutput(run(argc, argv));
}
