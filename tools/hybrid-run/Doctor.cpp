//===- Doctor.cpp - hybrid-run doctor: what this machine can run ----------------------===//
#include "laboratory/machine/Machine.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addDoctor(CLI::App &app) {
  auto *verb = app.add_subcommand("doctor", "what this machine can run, and what is missing");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "for scripts");
  verb->callback([json] { rt::lab::printMachine(*json); });
}

} // namespace hybrid::tools
