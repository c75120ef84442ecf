//===- Exchange.cpp - hybrid-run import and export: models of other programs -----===//
#include "tools/hybrid-run/Verbs.h"
#include "training/exchange/Import.h"
#include <cstdio>

namespace hybrid::tools {
namespace {

struct ExchangeArguments {
  std::string from, checkpoint, out;
};

} // namespace

void addExchange(CLI::App &app) {
  auto *import = app.add_subcommand("import", "make a model of one that another program has");
  import->require_subcommand(1);
  auto *huggingFace = import->add_subcommand(
      "hf", "a folder in Hugging Face's layout: config.json and safetensors");
  auto in = std::make_shared<ExchangeArguments>();
  huggingFace->add_option("folder", in->from, "the folder")->required();
  huggingFace
      ->add_option("--out", in->out,
                   "folder to make: model.hyb, model.safetensors and what came with them")
      ->required();
  huggingFace->callback([in] {
    std::fputs(valueOf(rt::exchange::importHuggingFace(in->from, in->out)).c_str(), stdout);
  });

  auto *exporting = app.add_subcommand("export", "give a model to another program");
  exporting->require_subcommand(1);
  huggingFace = exporting->add_subcommand("hf", "an imported model, back in Hugging Face's layout");
  auto to = std::make_shared<ExchangeArguments>();
  huggingFace->add_option("folder", to->from, "a folder that `import hf` made")->required();
  huggingFace->add_option("--checkpoint", to->checkpoint,
                          "parameters (.safetensors) in place of the folder's own");
  huggingFace->add_option("--out", to->out, "folder to make: config.json and model.safetensors")
      ->required();
  huggingFace->callback([to] {
    std::fputs(valueOf(rt::exchange::exportHuggingFace(to->from, to->checkpoint, to->out)).c_str(),
               stdout);
  });
}

} // namespace hybrid::tools
