//===- main.cpp - hybrid-run: train, evaluate and inspect compiled models ---------===//
#include "executable/OutputFile.h"
#include "executable/Printable.h"
#include "tools/hybrid-run/Verbs.h"
#include <cstdio>

namespace {

/// The exit status: 0 done, 1 an error, 2 wrong usage.
int run(int argc, char **argv) {
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
  addInfo(app);
  addDoctor(app);
  addSelftest(app);
  try {
    int status = 0;
    parseCommandLine(app, argc, argv, status);
    return status;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "error: %s\n", hybrid::printable(failure.what()).c_str());
    return 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", hybrid::printable(error.what()).c_str());
    return 1;
  }
}

} // namespace

int main(int argc, char **argv) {
  hybrid::letFullFilesBeErrors();
  // Results that nobody can read are an error, as is a file that could not be written.
  return hybrid::finishStandardOutput(run(argc, argv));
}
