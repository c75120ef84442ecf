//===- RankOps.h - steps that all ranks of a job take together ---------------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"

#define GET_OP_CLASSES
#include "dialect/schedule/RankOps.h.inc"
