//===- ScaleRun.cpp - hybrid-run scale MODEL...: a study trained ----------------------===//
#include "tools/hybrid-run/ScaleRun.h"
#include "laboratory/scale/Rules.h"
#include "laboratory/scale/Run.h"
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"
#include "training/data/DataSpec.h"

namespace hybrid::tools {
namespace {
namespace scale = rt::lab::scale;

struct RunArguments {
  scale::ScaleOptions scale;
  std::vector<std::string> models, settings;
  std::string sizes = "auto", device, data, widthRule = "table";
  std::optional<int64_t> baseWidth;
  bool isDry = false;
};

/// "auto", a number of sizes a budget, or their names.
void setSizes(scale::PlanOptions &plan, const std::string &text) {
  if (text == "auto")
    return;
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    if (text.empty() || text.size() > 2 || std::stoi(text) < 3)
      throw CLI::ValidationError("--sizes",
                                 "a budget needs from 3 to 99 sizes, got '" + text + "'");
    plan.sizesEach = std::stoi(text);
    return;
  }
  plan.sizes = CLI::detail::split(text, ',');
  for (const std::string &size : plan.sizes)
    if (size.empty())
      throw CLI::ValidationError("--sizes", "'" + text + "' has an empty name");
}

/// A file without a kind is a text of bytes.
std::string dataOf(const std::string &data) {
  return data.empty() || rt::DataSpec::parse(data) ? data : "text:" + data;
}

void run(RunArguments &arguments) {
  scale::ScaleOptions &options = arguments.scale;
  scale::PlanOptions &plan = options.plan;
  if (options.worker) {
    if (options.out.empty())
      throw Failure("--worker needs --out, the folder of the study");
    return require(scale::runScale(options));
  }
  if (arguments.models.empty())
    throw Failure("which architectures? Give .hyb files, as those of models/scaling/, or one of "
                  "the verbs fit, predict and join");
  if (plan.budgets.empty())
    throw Failure("--budgets: of how many FLOPs are the trainings? As in 1e12,3e12,1e13");
  if (plan.batchTokens.size() > 1 && plan.batchTokens.size() != plan.budgets.size())
    throw Failure("--batch-tokens: give one for all budgets, or one for each");
  setSizes(plan, arguments.sizes);
  if (arguments.widthRule == "mup")
    plan.baseWidth = arguments.baseWidth.value_or(scale::tableBaseWidth);
  else if (arguments.baseWidth)
    throw Failure("--base-width goes with --width-rule mup");
  plan.architectures = valueOf(rt::lab::chooseModels(arguments.models, arguments.settings, {}));
  plan.data = dataOf(arguments.data);
  if (!arguments.device.empty())
    plan.device = valueOf(scale::deviceModel(arguments.device));
  if (arguments.isDry || options.commands)
    return require(scale::printScalePlan(options));
  if (plan.device)
    throw Failure("--device-model estimates: it goes with --dry-run");
  if (options.out.empty())
    throw Failure("--out: where shall the study be? Or give --dry-run, and nothing is trained");
  require(scale::runScale(options));
}

void addPlan(CLI::App &verb, RunArguments &arguments) {
  scale::PlanOptions &plan = arguments.scale.plan;
  const Range flops(1.0, 1e30);
  verb.add_option("models", arguments.models,
                  "MODEL.hyb or MODEL.hyb:NAME=VALUE,...; those of models/scaling know sizes");
  auto *group = verb.add_option_group("Plan");
  group->add_option("--budgets", plan.budgets, "FLOPs of a training, as in 1e14,3e14")
      ->delimiter(',')
      ->check(flops);
  group
      ->add_option("--sizes", arguments.sizes,
                   "how many a budget, their names (70M,102M, w64), or settings "
                   "(width=64:layers=2)")
      ->capture_default_str();
  group->add_option("--set", arguments.settings, "NAME=VALUE: a parameter of every model")
      ->allow_extra_args(false);
  group->add_option("--length", plan.length, "positions in a sequence")
      ->check(Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str();
  group->add_option("--data", arguments.data,
                    "FILE of text, or KIND:PATH as hybrid-run train takes it; a part is held out");
  group
      ->add_option("--eval-tokens", arguments.scale.evalTokens,
                   "of the held-out part, for the loss at the end")
      ->check(Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  group
      ->add_option("--tokens-per-param", plan.tokensEach,
                   "of the size in the middle, where sizes are not named")
      ->check(Range(1e-3, 1e9))
      ->capture_default_str();
  group
      ->add_option("--batch-tokens", plan.batchTokens,
                   "tokens of a batch, instead of the rule's: for all budgets, or for each")
      ->delimiter(',')
      ->check(Range(1.0, 1e12));
  group->add_option("--lr", plan.rate, "the learning rate, instead of the rule's")
      ->check(Range(1e-12, 1e12));
  group
      ->add_option("--width-rule", arguments.widthRule,
                   "table: rates fall with the parameters as in table D.2; mup: one rate for all "
                   "sizes, of which a matrix takes base width / its inputs")
      ->check(CLI::IsMember({"table", "mup"}))
      ->capture_default_str();
  group
      ->add_option(
          "--base-width", arguments.baseWidth,
          "inputs up to which a matrix has the whole rate, with --width-rule mup (default: "
          "128, the width of the smallest size of table D.2)")
      ->check(Range(int64_t{1}, int64_t{1} << 20));
  group->add_option("--seed", plan.seed, "of parameters and of the order of the data")
      ->capture_default_str();
  group
      ->add_option("--cost-method", plan.method,
                   "whose FLOPs: true (as computed), or a paper's, such as mad")
      ->capture_default_str();
  group->add_option("--precision", plan.precision, "of the trainings")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  group->add_option("--device", plan.processor, "that trains")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
}

/// Each adds trainings at one budget, which are compared with the plan's.
void addSweeps(CLI::App &verb, scale::SweepOptions &sweeps) {
  auto *group = verb.add_option_group("Sweeps");
  auto add = [&](const char *flag, std::vector<double> &factors, const Range &range,
                 const char *text) {
    group->add_option(flag, factors, text)->delimiter(',')->check(range);
  };
  add("--ratios", sweeps.ratios, Range(0.0, 1000.0),
      "also train models that have a parameter `ratio` with these, so many layers to each of "
      "attention");
  add("--overtrain", sweeps.overtrain, Range(1.0, 1e6),
      "also train models so many times smaller than the size in the middle, on as many more "
      "tokens");
  add("--batch-sweep", sweeps.batches, Range(1e-6, 1e6),
      "also train the size in the middle with so many times its batch");
  group
      ->add_option("--sweep-budget", sweeps.budget,
                   "which of --budgets they are at (default: the median)")
      ->check(Range(1.0, 1e30));
}

} // namespace

void addScaleRun(CLI::App &verb) {
  auto arguments = std::make_shared<RunArguments>();
  scale::ScaleOptions &options = arguments->scale;
  options.version = version;
  addPlan(verb, *arguments);
  addSweeps(verb, options.plan.sweeps);
  verb.add_option("--out", options.out,
                  "folder of the study; the same command goes on where it was, and other budgets, "
                  "sizes and models are added");
  addWorkers(verb, options.jobs, options.threads);
  verb.add_flag("--worker", options.worker,
                "only train runs of the study in --out, beside the process that began it");
  auto *dry = verb.add_flag("--dry-run", arguments->isDry,
                            "print every run with its memory and time, and the total; train none");
  verb.add_option("--device-model", arguments->device,
                  "times of the dry run are estimates for a100, h100, h200, or FLOPS:BYTES: FLOPs "
                  "a second that training reaches and bytes of memory");
  auto *json = verb.add_flag("--json", options.json, "for scripts");
  verb.add_flag("--commands", options.commands,
                "print the commands that train each run by itself; train none")
      ->excludes(json)
      ->excludes(dry);
  verb.add_flag("--quiet", options.quiet, "no progress on standard error");
  verb.callback([arguments, &verb] {
    if (verb.get_subcommands().empty())
      run(*arguments);
  });
}

} // namespace hybrid::tools
