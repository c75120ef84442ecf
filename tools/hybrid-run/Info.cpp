//===- Info.cpp - hybrid-run info: what a file holds ------------------------------===//
#include "laboratory/TrainingRanks.h"
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
  auto *ranks =
      verb->add_option("--ranks", options->ranks,
                       "what a training step sends where so many ranks train together: the bytes "
                       "of each, without starting them; several numbers, a line each")
          ->check(Range(2, 1 << 16));
  verb->add_option_function<std::string>(
          "--emulate-link",
          [options](const std::string &text) { options->link = valueOf(rt::lab::linkOf(text)); },
          "DELAY,RATE: how long that takes, one after the other, over a link with so many seconds "
          "of delay and bytes per second")
      ->type_name("DELAY,RATE")
      ->needs(ranks);
  verb->callback([options] { require(rt::lab::printInfo(*options)); });
}

} // namespace hybrid::tools
