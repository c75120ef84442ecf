//===- main.cpp - hybrid-run: train, evaluate and inspect compiled models ---------===//
#include "tools/hybrid-run/Program.h"
#include "tools/hybrid-run/Verbs.h"

int main(int argc, char **argv) {
  using namespace hybrid::tools;
  CLI::App app{"hybrid-run trains, evaluates and inspects models compiled by hybridc.\n\n"
               "  hybrid-run train models/mad/striped-hyena-swiglu.hyb --task in-context-recall "
               "--steps 300 --out runs/recall\n"
               "  hybrid-run info model.hyx\n"};
  app.set_version_flag("--version", "hybrid-run " HYBRID_VERSION);
  app.require_subcommand(1);
  addTrain(app);
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
  return runProgram(app, argc, argv);
}
