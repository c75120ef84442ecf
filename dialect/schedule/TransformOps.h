//===- TransformOps.h - transforms of the runtime's library ------------------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"

#define GET_OP_CLASSES
#include "dialect/schedule/TransformOps.h.inc"
