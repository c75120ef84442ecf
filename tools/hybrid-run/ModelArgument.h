//===- ModelArgument.h - a model given as .hyx or .hyb ---------------------------===//
#pragma once
#include "runtime/Session.h"
#include "tools/hybrid-run/Verbs.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::tools {

/// MODEL and what it is compiled with when it is a .hyb. For a .hyx the compile options must be
/// absent.
struct ModelArgument {
  std::string path;
  std::optional<int64_t> batch, length;
  int64_t replicas = 1; // trainings that run as one program
  std::optional<std::string> precision, target, attention, model, memory;
  bool chunked = false;              // a source: with a program that takes a sequence in chunks
  std::string device;                // cpu or cuda; empty: what it was compiled for, or the CPU
  std::vector<std::string> settings; // NAME=VALUE
  bool quiet = false;                // the compiler's remarks only when it fails

  /// Adds MODEL and the compile options to a verb.
  void addTo(CLI::App &verb);
  bool isSource() const;
  /// Loads it, and fails when it is for another device than `device`. Compiles first when it is a
  /// source (the result is cached by content).
  std::shared_ptr<const rt::Executable> load() const;

private:
  std::shared_ptr<const rt::Executable> loadAny() const;
};

/// Where hybridc is: beside this program. Empty when it is not there.
std::string findCompiler();
/// The first line of its --version; empty when it does not run.
std::string compilerVersion(const std::string &compiler);

} // namespace hybrid::tools
