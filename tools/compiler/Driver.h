//===- Driver.h - what hybridc does with its command line -------------------===//
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hybrid {

struct DriverOptions {
  std::string input;  // .hyb, .mlir or "-"
  std::string output; // empty: beside the input, or stdout for text stages
  std::string target = "cpu";
  std::string precision = "f32";
  std::string attention = "auto";  // who computes it: own (kernels), cudnn, auto
  std::string transforms = "auto"; // who computes Fourier transforms: own (kernels), cufft, auto
  std::string products = "auto";   // who multiplies small matrices: cublaslt, auto (own kernels)
  std::string emit = "exe";
  std::string model;         // which model of the file
  std::string checkpoint;    // weights for --emit=onnx; empty: they become inputs
  int64_t operatorSet = 20;  // for --emit=onnx
  bool externalData = false; // its weights in a file beside the model
  std::string dependencies;  // file for a list of what the output depends on; empty: none
  int64_t batch = 32, length = 128;
  int64_t replicas = 1;  // independent trainings that run as one program
  int64_t memory = 0;    // bytes that a training session may allocate; 0: what it needs
  std::string reduction; // f32 or bf16: how gradients are reduced over ranks; empty: they are not
  std::string shards;    // what ranks have shares of: state or parameters; empty: of nothing
  int64_t sequenceRanks = 1;           // that have parts of every sequence
  int64_t threads = 0;                 // of that session; 0: this machine's
  std::vector<std::string> settings;   // name=value
  std::vector<std::string> optimizers; // [pattern=]layer
  std::vector<std::string> importPaths;
  std::string costMethod = "true"; // or a paper, by the name that layers publish terms under
  bool strict = false;             // every layer has to publish terms of that paper
  bool causality = false, causalityJson = false;
  bool chunked = false; // a program that takes a sequence in chunks
  bool decode = false;  // programs that take it token by token
  bool cost = false, costJson = false, describe = false, describeJson = false, verbose = false;
  bool choices = false, choicesJson = false;
  int64_t modalFilters = 0; // only prints the text, with such filters of so many states
};

/// Runs the compiler. Exit status: 0 done, 1 the input is at fault (diagnostics are on stderr), 2
/// wrong usage.
int runDriver(const DriverOptions &options);

} // namespace hybrid
