//===- main.cpp - hybrid-serve: what hybrid-run serve runs --------------------------===//
#include "tools/hybrid-run/Program.h"
#include "tools/hybrid-serve/Serve.h"

int main(int argc, char **argv) {
  CLI::App app{"complete texts for clients over HTTP", "hybrid-run serve"};
  hybrid::tools::addServing(app);
  return hybrid::tools::runProgram(app, argc, argv);
}
