//===- ProtocolArgument.cpp - how a study trains, as flags -------------------------===//
#include "tools/hybrid-run/ProtocolArgument.h"
#include <algorithm>

namespace hybrid::tools {
namespace lab = rt::lab;

void ProtocolArgument::addTo(CLI::App &verb) {
  const Range count(int64_t{1}, int64_t{1} << 40), positive(1e-12, 1e12);
  auto *group = verb.add_option_group("Protocol");
  group
      ->add_option("--suite", suite,
                   "MAD's: smoke, baselines and one short training each; baseline, by the whole "
                   "protocol; full, all 66 settings. recall: of many pairs. state: tracked beyond "
                   "the lengths of training")
      ->check(CLI::IsMember(lab::suiteNames()))
      ->capture_default_str();
  group
      ->add_option("--convention", convention,
                   "paper or mad-lab (its released code), where they disagree")
      ->check(CLI::IsMember({"paper", "mad-lab"}))
      ->capture_default_str();
  group->add_option("--tasks", tasks, "instead of the suite's: NAME or NAME:key=value,...");
  group->add_option("--lr", learningRates, "learning rates: the best counts")->check(positive);
  group->add_option("--wd", weightDecays, "weight decays: the best counts")->check(Range(0.0, 1e6));
  group->add_option("--seeds", seeds, "seeds of each point")->check(Range(1, 100000));
  group->add_option("--seed", seed, "the first of them");
  group->add_option("--epochs", epochs, "passes over the training set")->check(positive);
  group->add_option("--steps", steps, "updates, instead of epochs")->check(count);
  group->add_option("--warmup", warmup, "share of a run's updates in which the learning rate rises")
      ->check(Range(0.0, 1.0));
  group->add_option("--batch", batch, "sequences in a batch")->check(Range(1, 1 << 20));
  auto *freshFlag = group->add_flag("--fresh", fresh, "training instances never repeat");
  group->add_flag("--sets", sets, "training sets of MAD's sizes, in every suite")
      ->excludes(freshFlag);
  group->add_option("--test-examples", testExamples, "instances of an evaluation")->check(count);
  group->add_option("--evaluations", evaluations, "evaluations of a run; 0: one an epoch")
      ->check(Range(0, 1 << 30));
  group->add_option("--data-seed", dataSeed, "seed of the instances");
  group->add_option("--precision", precision, "f32 or bf16")
      ->check(CLI::IsMember({"f32", "bf16", "f64"}));
  group->add_option("--device", device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
}

lab::Protocol ProtocolArgument::protocol() const {
  lab::Protocol protocol = lab::Protocol::named(
      suite, convention == "mad-lab" ? rt::Convention::MadLab : rt::Convention::Paper);
  if (!tasks.empty())
    protocol.tasks = tasks;
  protocol.device = device;
  auto take = [](const auto &from, auto &to) {
    if (from)
      to = *from;
  };
  if (!learningRates.empty())
    protocol.learningRates = learningRates;
  if (!weightDecays.empty())
    protocol.weightDecays = weightDecays;
  take(seeds, protocol.seeds);
  take(seed, protocol.seed);
  take(batch, protocol.batch);
  take(steps, protocol.steps);
  take(epochs, protocol.epochs);
  take(warmup, protocol.warmup);
  take(evaluations, protocol.evaluations);
  take(testExamples, protocol.testExamples);
  take(dataSeed, protocol.dataSeed);
  take(precision, protocol.precision);
  if (fresh)
    protocol.fresh = true;
  // Epochs are of sets.
  if (sets || (epochs && !fresh))
    protocol.fresh = false;
  return protocol;
}

} // namespace hybrid::tools
