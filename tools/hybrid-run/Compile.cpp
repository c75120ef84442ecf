//===- Compile.cpp - hybrid-run compile: where the executable of a model lies -----===//
#include "tools/hybrid-run/Arguments.h"
#include "tools/hybrid-run/Verbs.h"
#include <cstdio>

namespace hybrid::tools {

void addCompile(CLI::App &app) {
  auto *verb = app.add_subcommand("compile", "compile a model, or find what was compiled before, "
                                             "and print where the executable lies");
  auto model = std::make_shared<rt::ModelSpec>();
  addModel(*verb, *model);
  verb->add_flag("--decode", model->decode,
                 "with programs that take a sequence token by token, in place of those that train");
  verb->callback([model] {
    model->quiet = true;
    std::puts(valueOf(model->load())->name().c_str());
  });
}

} // namespace hybrid::tools
