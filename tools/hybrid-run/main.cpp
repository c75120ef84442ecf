//===- main.cpp - hybrid-run: train, evaluate and inspect compiled models ---------===//
#include "executable/Printable.h"
#include "tools/hybrid-run/Program.h"
#include "tools/hybrid-run/RecordedArguments.h"
#include "tools/hybrid-run/Verbs.h"
#include <cstdio>

int main(int argc, char **argv) {
  using namespace hybrid::tools;
  CLI::App app{"hybrid-run trains, evaluates and inspects models compiled by hybridc.\n\n"
               "  hybrid-run train models/mad/striped-hyena-swiglu.hyb --task in-context-recall "
               "--steps 300 --out runs/recall\n"
               "  hybrid-run info model.hyx\n"};
  app.set_version_flag("--version", "hybrid-run " HYBRID_VERSION);
  app.require_subcommand(1);
  addTrain(app);
  addRuns(app);
  addEval(app);
  addGenerate(app);
  addServe(app);
  addDistill(app);
  addTask(app);
  addData(app);
  addMad(app);
  addPaper(app);
  addSearch(app);
  addScale(app);
  addForward(app);
  addReplay(app);
  addExchange(app);
  addBench(app);
  addCompile(app);
  addInfo(app);
  addDoctor(app);
  addSelftest(app);
  auto words = withKeptArguments({argv, argv + argc});
  if (!words) {
    std::fprintf(stderr, "error: %s\n", hybrid::printable(words.error().message).c_str());
    return 1;
  }
  std::vector<char *> pointers;
  for (std::string &word : *words)
    pointers.push_back(word.data());
  return runProgram(app, static_cast<int>(pointers.size()), pointers.data());
}
