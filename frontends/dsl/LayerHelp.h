//===- LayerHelp.h - what a layer or model is, for people ----------------------===//
#pragma once
#include "frontends/dsl/AST.h"

namespace hybrid::dsl {

/// Documentation: the text of the `///` lines that stand right above a definition.
std::string documentationOf(const SourceFiles &sources, const Definition &definition);
/// "inner: int = 4 * D".
std::string text(const ParameterSyntax &parameter);
/// "layer mlp(x: [B, L, D], inner: int = 4 * D) -> [B, L, D]".
std::string signatureOf(const Definition &definition);

/// What `hybridc --help-layer` prints of a layer of the library, "mlp" or "std.channel.mlp". False
/// with a message in `out` for a name that there is not.
bool describeLayer(llvm::StringRef name, const std::vector<std::string> &importPaths,
                   llvm::raw_ostream &out);
/// A page, in Markdown, of every layer of the library in `folder`/std.
bool describeLibrary(const std::string &folder, llvm::raw_ostream &out);

} // namespace hybrid::dsl
