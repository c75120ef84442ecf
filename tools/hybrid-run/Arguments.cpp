//===- Arguments.cpp - flags that several verbs have -------------------------------===//
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addModel(CLI::App &verb, rt::ModelSpec &spec) {
  verb.add_option("model", spec.path, "compiled model (.hyx) or its text (.hyb)")->required();
  verb.add_option("--device", spec.device, "cpu or cuda: where it must run")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  verb.add_flag(
      "--trust", spec.trust,
      "run the machine code of this .hyx though another user compiled it, now and from now "
      "on");
  auto *group = verb.add_option_group("Compiling (for a .hyb)");
  group->add_option("--batch", spec.batch, "sequences in a batch")->check(Range(1, 1 << 24));
  group->add_option("--length", spec.length, "positions in a sequence")->check(Range(1, 1 << 24));
  group->add_option("--precision", spec.precision, "f32, bf16 or f64");
  group->add_option("--target", spec.target,
                    "cpu, cpu:x86-64-v3, cuda, cuda:sm_80, ... (default: --device)");
  group->add_option("--attention", spec.attention,
                    "who computes attention in bf16 on a GPU: auto, cudnn or own");
  group->add_option("--transforms", spec.transforms,
                    "who computes Fourier transforms on a GPU: auto, cufft or own");
  group->add_option("--small-products", spec.smallProducts,
                    "who multiplies small matrices on a GPU: auto or cublaslt");
  group->add_option("--model", spec.model, "which model of the file");
  group->add_option("--memory", spec.memory,
                    "what training may allocate, such as 2GiB, with all threads of this machine");
  group->add_option("--set", spec.settings, "NAME=VALUE: a model parameter; may be repeated")
      ->allow_extra_args(false);
  group
      ->add_option("--optimizer", spec.optimizers,
                   "[PATTERN=]LAYER: what updates the parameters of such names (default: AdamW); "
                   "may be repeated")
      ->allow_extra_args(false);
  group
      ->add_option_function<std::vector<std::string>>(
          "--freeze",
          [&spec](const std::vector<std::string> &patterns) {
            for (const std::string &pattern : patterns)
              spec.optimizers.push_back(pattern + "=none");
          },
          "PATTERN (* ? [ab] {a,b}; ! in front: all others) of parameters that are not trained: "
          "they take neither gradients nor moments; may be repeated")
      ->allow_extra_args(false);
}

void addCheckpoint(CLI::App &verb, std::string &checkpoint, bool &average) {
  verb.add_option("--checkpoint", checkpoint, "parameters (.safetensors)")->required();
  verb.add_flag("--ema", average, "with the average of the parameters that `train --ema` has kept");
}

std::vector<CLI::Option *> addReading(CLI::App &verb, rt::LanguageModelChoice &choice) {
  return {
      verb.add_option("--tokenizer", choice.tokenizer,
                      "what tokens are, where the checkpoint does not say: bytes, dna, numbers (of "
                      "tokens, as text), or a tokenizer's file or folder"),
      verb.add_option("--context", choice.context,
                      "positions that attention and long filters reach back to; 0: the length "
                      "that the model was compiled for")
          ->check(Range(int64_t{0}, int64_t{1} << 24))};
}

void addLanguageModel(CLI::App &verb, rt::LanguageModelChoice &choice) {
  addModel(verb, choice.model);
  addCheckpoint(verb, choice.checkpoint, choice.average);
  addReading(verb, choice);
  verb.add_option("--threads", choice.threads, "threads; 0: all")->check(Range(0, 4096));
}

void addArrays(CLI::App &verb, std::string &parameters, std::optional<uint64_t> &seed,
               std::vector<std::string> &inputs, const std::string &often) {
  verb.add_option("--params", parameters, "parameters (.safetensors)");
  verb.add_option("--init-seed", seed, "draw the parameters from this seed instead");
  verb.add_option("--input", inputs,
                  "NAME=FILE.npy or NAME=2x3xf32=1,2,..." + often + "; may be repeated")
      ->allow_extra_args(false);
}

void addWorkers(CLI::App &verb, int &jobs, int &threads) {
  verb.add_option("--jobs", jobs, "processes that train")
      ->check(Range(1, 4096))
      ->capture_default_str();
  verb.add_option("--threads", threads, "threads of each; 0: an equal share")
      ->check(Range(0, 4096));
}

void addConvention(CLI::App &verb, rt::Convention &convention) {
  verb.add_option_function<std::string>(
          "--convention",
          [&convention](const std::string &name) {
            convention = name == "mad-lab" ? rt::Convention::MadLab : rt::Convention::Paper;
          },
          "where a paper and its code disagree: paper or mad-lab")
      ->check(CLI::IsMember({"paper", "mad-lab"}))
      ->default_str("paper");
}

CLI::Option_group *addData(CLI::App &verb, rt::DataChoice &spec, bool training) {
  auto *group = verb.add_option_group("Data", "one of");
  group->add_option("--task", spec.task, "synthetic task, NAME[:key=value,...]");
  group
      ->add_option("--data", spec.data,
                   "KIND:PATH[,option=value]: text, jsonl, fasta, tokens, idx or png; text:PATH "
                   "alone is the bytes of a file; again for a mixture by weight=W")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  group->require_option(1);
  verb.add_option("--data-seed", spec.dataSeed,
                  "seed of the task's instances or of the text's split")
      ->capture_default_str();
  addConvention(verb, spec.convention);
  if (training)
    verb.add_option("--train-examples", spec.trainExamples,
                    "train a task on a set of this many instances (default: fresh ones for ever)");
  return group;
}

void addOptimizer(CLI::App &verb, rt::OptimizerOptions &options) {
  const Range positive(1e-12, 1e12), nonNegative(0.0, 1e12);
  auto number = [&](const char *name, auto &value, const char *text) {
    return verb.add_option(name, value, text)->capture_default_str();
  };
  // A rate that is an error where no optimizer takes it.
  auto rate = [&](const char *name, double &value, const char *text) {
    return number(name, value, text)->each([&options, name](const std::string &) {
      options.given.emplace_back(name);
    });
  };
  rate("--lr", options.schedule.base, "learning rate")->check(positive);
  number("--min-lr", options.schedule.least, "learning rate at the end")->check(nonNegative);
  number("--warmup", options.schedule.warmup, "steps of warm-up")
      ->check(Range(int64_t{0}, int64_t{1} << 40));
  number("--warmup-lr", options.schedule.warmupStart, "learning rate of timm-cosine's first step")
      ->check(nonNegative);
  verb.add_option_function<std::string>(
          "--schedule",
          [&options](const std::string &name) {
            options.schedule.kind = valueOf(rt::scheduleKind(name));
          },
          "cosine, constant, linear, timm-cosine, inverse-sqrt, trapezoid or wsd")
      ->default_str(std::string(rt::nameOf(options.schedule.kind)));
  number("--decay-steps", options.schedule.decay,
         "wsd, trapezoid: the last steps, over which the rate falls")
      ->check(Range(int64_t{0}, int64_t{1} << 40));
  auto shape = [&](const char *name, rt::RampShape &value, const char *text) {
    verb.add_option_function<std::string>(
            name, [&value](const std::string &given) { value = valueOf(rt::rampShape(given)); },
            text)
        ->default_str(std::string(rt::nameOf(value)));
  };
  shape("--warmup-shape", options.schedule.rise, "wsd: linear, cosine or 1-sqrt");
  shape("--decay-shape", options.schedule.fall, "wsd: linear, cosine or 1-sqrt");
  rate("--weight-decay", options.weightDecay, "AdamW's decay of the parameters that take it")
      ->check(nonNegative);
  rate("--beta1", options.beta1, "AdamW's first decay rate")->check(Range(0.0, 0.999999));
  rate("--beta2", options.beta2, "AdamW's second decay rate")->check(Range(0.0, 0.99999999));
  rate("--eps", options.epsilon, "AdamW's epsilon")->check(nonNegative);
  number("--clip", options.clip, "largest gradient norm; 0: any")->check(nonNegative);
}

std::string papersFolder() {
  const char *folder = std::getenv("HYBRID_PAPERS");
  return folder ? folder : HYBRID_PAPERS_DIR;
}

} // namespace hybrid::tools
