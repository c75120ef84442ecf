//===- hybrid-lsp.cpp - the language server's command line ------------------===//
#include "frontends/dsl/Library.h"
#include "frontends/editor/Server.h"
#include "tools/commandline/CommandLine.h"
#include "llvm/Support/Program.h"

static int run(int argc, char **argv) {
  hybrid::editor::ServerOptions options{HYBRID_VERSION, {}};
  CLI::App app{"hybrid-lsp answers editors on texts of the Hybrid language, by the Language Server "
               "Protocol on standard input and output.\n"};
  app.set_version_flag("--version", std::string("hybrid-lsp ") + HYBRID_VERSION);
  app.add_option("-I,--models-dir", options.importPaths,
                 "folder that holds std/ (default: the library that came with hybrid-lsp)")
      ->allow_extra_args(false);
  bool delimited = false;
  app.add_flag("--lit-test", delimited,
               "messages are separated by lines of '// -----', answers are indented: for tests");
  bool stdio = true;
  app.add_flag("--stdio", stdio, "does nothing: what some editors give to every server");
  int status = 0;
  if (!hybrid::tools::parseCommandLine(app, argc, argv, status))
    return status;
  options.importPaths = hybrid::dsl::libraryFolders(
      options.importPaths, reinterpret_cast<void *>(&run), HYBRID_MODELS_DIR);
  llvm::sys::ChangeStdinToBinary();
  llvm::lsp::Logger::setLogLevel(llvm::lsp::Logger::Level::Error);
  llvm::lsp::JSONTransport transport(stdin, llvm::outs(),
                                     delimited ? llvm::lsp::JSONStreamStyle::Delimited
                                               : llvm::lsp::JSONStreamStyle::Standard,
                                     delimited);
  return hybrid::editor::serve(options, transport);
}

int main(int argc, char **argv) { return run(argc, argv); }
