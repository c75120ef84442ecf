//===- CountProgram.h - counts of the launches of an executable -------------===//
#pragma once
#include "runtime/Executable.h"
#include <nlohmann/json_fwd.hpp>

namespace hybrid::counts {

struct ProgramOptions {
  std::vector<std::string> programs; ///< names; none: all that there are
  uint64_t blocks = 4;               ///< of a launch that are run
};

/// The PTX of the kernels whose names contain `kernel`, each line with how many warps executed it
/// in the counted blocks of its first launch, on which pipe, and for how many wavefronts of shared
/// memory.
rt::Result<std::string> profileKernels(const rt::Executable &executable,
                                       const ProgramOptions &options, const std::string &kernel);

/// Steps of programs with grids, buffers, counts and what machine code takes, as test/cuda/counts/
/// README.md has it. An executable of `--target=cuda:sm_80,sm_90a,compute_80`: it needs PTX.
rt::Result<nlohmann::json> countPrograms(const rt::Executable &executable,
                                         const ProgramOptions &options);

} // namespace hybrid::counts
