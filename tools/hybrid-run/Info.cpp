//===- Info.cpp - hybrid-run info: what a file holds ------------------------------===//
#include "laboratory/machine/FileInfo.h"
#include "tools/hybrid-run/Verbs.h"

namespace hybrid::tools {

void addInfo(CLI::App &app) {
  auto *verb = app.add_subcommand("info", "show what an executable, checkpoint or array holds");
  auto options = std::make_shared<rt::lab::InfoOptions>();
  verb->add_option("file", options->file, ".hyx, .safetensors or .npy")->required();
  verb->add_flag("--json", options->json, "for scripts");
  verb->add_flag("--source", options->source, "print the text the executable was compiled from");
  verb->add_flag("--steps", options->steps, "list every launch and product of every program");
  verb->add_option("--threads", options->threads,
                   "threads that would run it, for the memory it takes (default: all)")
      ->check(Range(0, 1024));
  verb->callback([options] { require(rt::lab::printInfo(*options)); });
}

} // namespace hybrid::tools
