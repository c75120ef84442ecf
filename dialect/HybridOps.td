//===- HybridOps.td - all groups of ops -------------------------*- tablegen -*-===//
#ifndef HYBRID_OPS_TD
#define HYBRID_OPS_TD
include "dialect/ParameterOps.td"
include "dialect/ChannelOps.td"
include "dialect/SequenceOps.td"
include "dialect/LinearScanOps.td"
include "dialect/SelectiveScanOps.td"
include "dialect/SoftmaxScanOps.td"
include "dialect/SpectralOps.td"
include "dialect/ExpertOps.td"
include "dialect/ElementwiseOps.td"
include "dialect/ShapeOps.td"
include "dialect/TrainingOps.td"
include "dialect/ProgramOps.td"
#endif
