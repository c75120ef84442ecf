//===- Serve.cpp - hybrid-run serve: the program beside this one -------------------===//
//
// HTTP brings libraries for encryption and compression along, which nothing else needs and which a
// machine that only trains may lack: serving is a program of its own.
//
//===----------------------------------------------------------------------===//
#include "tools/hybrid-run/Verbs.h"
#include "training/compile/ModelSpec.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>
#include <vector>

namespace hybrid::tools {

void addServe(CLI::App &app) {
  auto *verb = app.add_subcommand("serve", "complete texts for clients over HTTP");
  verb->set_help_flag(); // the other program's
  verb->prefix_command();
  verb->callback([verb] {
    const std::string program = rt::findProgram("hybrid-serve");
    if (program.empty())
      throw Failure("hybrid-serve is not beside hybrid-run: build it (tools/check --build-only), "
                    "or install it");
    std::vector<std::string> words = verb->remaining();
    std::vector<char *> arguments{const_cast<char *>(program.c_str())};
    for (std::string &word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(program.c_str(), arguments.data());
    throw Failure(fmt::format("cannot run '{}': {}", program, std::strerror(errno)));
  });
}

} // namespace hybrid::tools
