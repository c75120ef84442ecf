//===- Selftest.cpp - hybrid-run selftest: carried cases on this device ------------===//
#include "laboratory/machine/SelfTest.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addSelftest(CLI::App &app) {
  auto *verb = app.add_subcommand(
      "selftest", "run carried cases and compare with the numbers of another implementation");
  auto options = std::make_shared<rt::lab::SelfTestOptions>();
  verb->add_option("--device", options->device, "cpu or cuda: refuse cases of another device")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  verb->add_option("--target", options->target,
                   "what models that are compiled here are compiled for: cpu, cuda:sm_90a, ... "
                   "(default: --device)");
  verb->add_option(
      "--cases", options->cases,
      "folder that test/golden/run --prepare wrote (default: cases that came with this "
      "program, compiled here for --device, or the CPU)");
  verb->add_option("--case", options->only, "run this case only; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--threads", options->threads, "threads on the CPU; 0: all")
      ->check(Range(0, 1024));
  verb->add_flag("--trust", options->trust,
                 "run the machine code of the cases though another user compiled it");
  verb->add_flag("--json", options->json, "for scripts");
  verb->callback([options] { require(rt::lab::runCases(*options)); });
}

} // namespace hybrid::tools
