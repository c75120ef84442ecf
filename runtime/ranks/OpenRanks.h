//===- OpenRanks.h - the ranks that this process was started with ---------------===//
//
// Who was started alone has no MPI in its process: only what mpirun or srun started as one of
// several opens libhybrid-mpi.so, which lies beside the programs' other libraries.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/ranks/Transport.h"
#include <memory>

namespace hybrid::rt {

/// How many processes mpirun or srun started together; 1: this one alone.
int ranksStarted();

/// Joins the others. Fails when there is no MPI here.
Result<std::unique_ptr<Transport>> openRanks();

} // namespace hybrid::rt
