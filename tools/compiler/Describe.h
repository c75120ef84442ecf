//===- Describe.h - what hybridc says of itself and of the language ---------===//
#pragma once
#include <string>
#include <vector>

namespace hybrid {

/// Names `--emit` knows, in pipeline order.
const std::vector<std::string> &emitStages();
/// "hybridc 0.1.0 (LLVM 22.1.8)".
std::string compilerVersion();
/// Prints how an operator of the language is called and what it means. Exit status: 0, or 2 for a
/// name that there is not.
int describeOperator(const std::string &name);
/// Prints how a layer of the library is called and what it means; 'all': a page of all of them.
/// Exit status as above.
int describeLayer(const std::string &name, const std::vector<std::string> &importPaths);
/// Prints as JSON which toolkit makes code for CUDA here: its version and file, the architectures
/// that it knows, and the oldest driver that loads its machine code; or what is missing. Exit
/// status: 0, or 1 where there is none.
int describeToolkit();
/// Where the language's library is looked for: in the folders given, then beside this program.
std::vector<std::string> libraryFolders(const std::vector<std::string> &given);

} // namespace hybrid
