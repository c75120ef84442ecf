//===- Manual.h - manual pages and completion of command lines ------------------===//
//
// Made of what the parser of the command line knows, when a program is called with
// --manual=man, bash or zsh, which the build does (cmake/Manuals.cmake).
//
//===----------------------------------------------------------------------===//
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace hybrid::tools {

/// A page of section 1 for man.
std::string manualPage(const CLI::App &app);
/// A script that completes verbs and options, and files behind them.
std::string bashCompletion(const CLI::App &app);
std::string zshCompletion(const CLI::App &app);

/// Adds --manual, which --help does not show.
void addManual(CLI::App &app);

} // namespace hybrid::tools
