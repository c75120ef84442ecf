//===- main.cpp - hybrid-run: train, evaluate and inspect compiled models ---------===//
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
  addEval(app);
  addGenerate(app);
  addTask(app);
  addData(app);
  addMad(app);
  addSearch(app);
  addForward(app);
  addReplay(app);
  addBench(app);
  addInfo(app);
  addDoctor(app);
  addSelftest(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "error: %s\n", failure.what());
    return 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
