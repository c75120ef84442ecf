//===- ScheduleOps.h - the schedule dialect in C++ --------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "dialect/schedule/LaunchConfiguration.h"

#include "dialect/schedule/ScheduleDialect.h.inc"
#include "dialect/schedule/ScheduleEnums.h.inc"
#include "dialect/schedule/ScheduleInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/schedule/ScheduleAttributes.h.inc"
#define GET_OP_CLASSES
#include "dialect/schedule/ScheduleOps.h.inc"
