//===- RankSteps.h - steps that all ranks of a job take together -------------===//
#pragma once
#include "executable/Executable_generated.h"

namespace hybrid {

/// Whether a step is one of those: neither a kernel nor a library's call.
inline bool isOverRanks(const fb::Step &step) {
  switch (step.operation_type()) {
  case fb::Operation::AllReduce:
  case fb::Operation::AllGather:
  case fb::Operation::Release:
  case fb::Operation::Await:
  case fb::Operation::Exchange:
    return true;
  default:
    return false;
  }
}

} // namespace hybrid
